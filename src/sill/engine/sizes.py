"""Counts that are taken once: in memory, in the store, and by blocks where a large text was edited."""

import contextlib
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, field

from ..core.certificate import Counts, Kind, weakest
from ..core.cuts import blocks, shared
from ..core.messages import Fingerprint, fingerprint
from ..ports import Store, TokenCounter

MEMORY = 16_000_000
"""Characters of texts whose counts stay in memory."""

LARGE = 8_000
"""Characters from which a text is counted by blocks, so that an edit recounts only some."""

STORED = 200
"""Characters from which a count is worth a place in the store."""


Names = dict[str, Fingerprint]


@dataclass(slots=True)
class Recent:
    """The least recently used goes when there are more characters than ``limit``."""

    limit: int = MEMORY
    _counts: OrderedDict[str, int] = field(default_factory=OrderedDict)
    _size: int = 0

    def get(self, text: str) -> int | None:
        tokens = self._counts.get(text)
        if tokens is not None:
            self._counts.move_to_end(text)
        return tokens

    def put(self, text: str, tokens: int) -> None:
        if text not in self._counts:
            self._size += len(text) + 64
        self._counts[text] = tokens
        while self._size > self.limit:
            oldest, _ = self._counts.popitem(last=False)
            self._size -= len(oldest) + 64

    def clear(self) -> None:
        self._counts.clear()
        self._size = 0


@dataclass(slots=True)
class Blocked:
    """Large texts as counted blocks, found again by their first or their last block."""

    limit: int = MEMORY
    _texts: OrderedDict[int, tuple[tuple[str, ...], tuple[int, ...]]] = field(
        default_factory=OrderedDict
    )
    _by_end: dict[str, int] = field(default_factory=dict)
    _size: int = 0
    _next: int = 0

    def near(self, text: str) -> tuple[tuple[str, ...], tuple[int, ...]]:
        """The blocks of an earlier text that begins or ends like this one; none if there is no such."""
        for end in self._ends(text):
            number = self._by_end.get(end)
            if number is not None and number in self._texts:
                self._texts.move_to_end(number)
                return self._texts[number]
        return (), ()

    def put(self, text: str, pieces: tuple[str, ...], counts: tuple[int, ...]) -> None:
        self._next += 1
        self._texts[self._next] = (pieces, counts)
        self._size += len(text)
        for end in self._ends(text):
            self._by_end[end] = self._next
        while self._size > self.limit:
            _, (oldest, _) = self._texts.popitem(last=False)
            self._size -= sum(map(len, oldest))
        if len(self._by_end) > 4 * len(self._texts) + 64:
            self._by_end = {e: n for e, n in self._by_end.items() if n in self._texts}

    def clear(self) -> None:
        self._texts.clear()
        self._by_end.clear()
        self._size = 0

    @staticmethod
    def _ends(text: str) -> tuple[str, str]:
        return text[:512], text[-512:]


class Remembered:
    """A counter's ``count`` that asks the counter only for what is new.

    Counts are kept for the counter's own tokenizer; another model is another ``Remembered``.
    ``cuts`` says that safe cuts hold for this tokenizer. Only counts as good as the tokenizer's own kind
    are kept (a fallback is asked again next time), and in the store no estimates.
    """

    def __init__(
        self, counter: TokenCounter, store: Store | None = None, *, cuts: bool = False
    ) -> None:
        self._counter = counter
        self._store = store
        self._cuts = cuts
        self._recent = Recent()
        self._blocked = Blocked()

    async def count(self, texts: Sequence[str]) -> Counts:
        found = {text: self._recent.get(text) for text in texts}
        new = [text for text, tokens in found.items() if tokens is None]
        kind = self._counter.tokenizer.kind
        if new:
            names = self._names(new)
            stored = await self._from_store(names)
            for text, tokens in stored.items():
                self._recent.put(text, tokens)
            fresh, kind = await self._take([text for text in new if text not in stored], names)
            found |= stored | fresh
        return Counts(tuple(found[text] or 0 for text in texts), kind)

    def forget(self) -> None:
        """Drop what is in memory; the store keeps its own."""
        self._recent.clear()
        self._blocked.clear()

    async def _take(self, texts: Sequence[str], names: Names) -> tuple[dict[str, int], Kind]:
        """Count what nobody knows, in one batch."""
        own = self._counter.tokenizer.kind
        if not texts:
            return {}, own
        parts = [self._parts(text) for text in texts]
        counts = await self._counter.count([piece for part in parts for piece in part.new])
        numbers = iter(counts.tokens)
        fresh: dict[str, int] = {}
        for text, part in zip(texts, parts, strict=True):
            taken = tuple(next(numbers) for _ in part.new)
            fresh[text] = sum(part.known_before) + sum(taken) + sum(part.known_after)
            if counts.kind != own:
                continue
            self._recent.put(text, fresh[text])
            if part.is_blocked:
                self._blocked.put(
                    text,
                    (*part.before, *part.new, *part.after),
                    (*part.known_before, *taken, *part.known_after),
                )
        to_store = {names[text]: tokens for text, tokens in fresh.items() if text in names}
        if self._store is not None and to_store and counts.kind == own:
            await self._store.remember_counts(self._counter.tokenizer.id, to_store)
        return fresh, weakest(own, counts.kind)

    def _parts(self, text: str) -> "_Parts":
        if not self._cuts or len(text) < LARGE:
            return _Parts(new=(text,))
        pieces, counts = self._blocked.near(text)
        same = shared(pieces, text)
        last = len(pieces) - same.after
        return _Parts(
            new=tuple(blocks(same.middle)),
            before=pieces[: same.before],
            known_before=counts[: same.before],
            after=pieces[last:],
            known_after=counts[last:],
            is_blocked=True,
        )

    def _names(self, texts: Sequence[str]) -> Names:
        """The texts whose counts belong in the store; short ones are counted faster than looked up."""
        if self._store is None or self._counter.tokenizer.kind == "estimate":
            return {}
        names: Names = {}
        for text in texts:
            if len(text) >= STORED:
                with contextlib.suppress(UnicodeEncodeError):  # not Unicode: it has no fingerprint
                    names[text] = fingerprint(text)
        return names

    async def _from_store(self, names: Names) -> dict[str, int]:
        if self._store is None or not names:
            return {}
        known = await self._store.known_counts(self._counter.tokenizer.id, list(names.values()))
        return {text: known[name] for text, name in names.items() if name in known}


@dataclass(frozen=True, slots=True)
class _Parts:
    """A text as blocks that are known and blocks that must be counted, in order."""

    new: tuple[str, ...]
    before: tuple[str, ...] = ()
    known_before: tuple[int, ...] = ()
    after: tuple[str, ...] = ()
    known_after: tuple[int, ...] = ()
    is_blocked: bool = False


class Growing:
    """Tokens of a text that is still arriving: only what came since the last safe cut is counted again."""

    def __init__(self, counter: TokenCounter, *, cuts: bool = False) -> None:
        self._counter = counter
        self._cuts = cuts
        self._settled = 0
        self._tail = ""

    def add(self, text: str) -> None:
        self._tail += text

    async def tokens(self) -> Counts:
        """The tokens of everything added so far."""
        pieces = blocks(self._tail, 256) if self._cuts else [self._tail]
        counts = await self._counter.count(pieces)
        total = self._settled + sum(counts.tokens)
        if len(pieces) > 1 and counts.kind == self._counter.tokenizer.kind:
            # The last cut is safe for what stands before it, whatever may still come after the tail.
            self._settled += sum(counts.tokens[:-1])
            self._tail = pieces[-1]
        return Counts((total,), counts.kind)
