"""Counts that are taken once: in memory, in the store, and around its edits where a large text was edited."""

from collections import OrderedDict
from collections.abc import Hashable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field

from ..core.certificate import Counts, Kind, weakest
from ..core.cuts import blocks
from ..core.messages import Fingerprint, fingerprint
from ..core.recount import changed
from ..ports import Store, TokenCounter

MEMORY = 16_000_000
"""Characters that are kept in memory for the sake of counts."""

LARGE = 8_000
"""Characters from which a text is kept so that an edit of it recounts only what changed."""

WINDOWS = 200_000
"""Characters of changed places that are counted at once: any counter counts so few, and does not merely bound them."""

STORED = 200
"""Characters from which a count is worth a place in the store."""


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


_END = 256


@dataclass(slots=True)
class Large:
    """Large texts and their tokens, found again by how they end or begin.

    Comparing texts is many times faster than hashing them, so only their ends are hashed. What was not asked for while
    half of ``limit`` was put in is forgotten.
    """

    limit: int = MEMORY
    _young: dict[Hashable, tuple[str, int]] = field(default_factory=dict)
    _old: dict[Hashable, tuple[str, int]] = field(default_factory=dict)
    _size: int = 0

    def near(self, text: str) -> tuple[str, int] | None:
        """This very text if it is known, else one that ends or begins like it."""
        for end in _ends(text):
            if (known := self._young.get(end)) is not None:
                return known
            if (known := self._old.get(end)) is not None:
                self.put(*known)
                return known
        return None

    def put(self, text: str, tokens: int) -> None:
        self._size += len(text)
        if self._size > self.limit // 2:
            self._old, self._young, self._size = self._young, {}, len(text)
            if len(text) > self.limit // 2:
                return
        known, young = (text, tokens), self._young
        for end in _ends(text):
            young[end] = known

    def clear(self) -> None:
        self._young, self._old, self._size = {}, {}, 0


def _ends(text: str) -> tuple[Hashable, ...]:
    """What a text is found again by, the surest first.

    Files of a kind begin alike more often than they end alike. What is sent of a file begins with its fingerprint,
    which changes with every edit: so it is known by what stands a little further in.
    """
    tail = text[-_END:]
    return (len(text), tail), tail, text[2 * _END : 3 * _END]


Edit = tuple[int, str, int, list[str]]
"""The place of a text, the text, the tokens of one that differs little from it, and the windows in which it does."""


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
        self._large = Large()

    async def count(self, texts: Sequence[str]) -> Counts:
        tokens = [0] * len(texts)
        new: dict[int, str] = {}
        edits: list[Edit] = []
        room = WINDOWS
        for place, text in enumerate(texts):
            if not self._cuts or len(text) < LARGE:
                if (found := self._recent.get(text)) is None:
                    new[place] = text
                else:
                    tokens[place] = found
            elif (known := self._large.near(text)) is None:
                new[place] = text
            elif known[0] == text:
                tokens[place] = known[1]
            else:
                windows = changed(known[0], text)
                if (size := sum(map(len, windows))) < len(text) and size <= room:
                    edits.append((place, text, known[1], windows))
                    room -= size
                else:
                    new[place] = text
        if edits and not await self._recount(edits, tokens):
            new |= {place: text for place, text, _, _ in edits}
        kind = await self._learn(new, tokens) if new else self._counter.tokenizer.kind
        return Counts(tuple(tokens), kind)

    def forget(self) -> None:
        """Drop what is in memory; the store keeps its own."""
        self._recent.clear()
        self._large.clear()

    async def _recount(self, edits: Sequence[Edit], tokens: list[int]) -> bool:
        """Fill in what differs little from a text at hand, counted in one batch.

        False if the counter answers with less than it promised: a true count less an estimate is neither.
        """
        windows = edits[0][3] if len(edits) == 1 else [one for edit in edits for one in edit[3]]
        counts = await self._counter.count(windows)
        if counts.kind != self._counter.tokenizer.kind:
            return False
        numbers = iter(counts.tokens)
        for place, text, total, own in edits:
            for _ in range(0, len(own), 2):
                total += -next(numbers) + next(numbers)
            tokens[place] = total
            self._large.put(text, total)
        return True

    async def _learn(self, new: Mapping[int, str], tokens: list[int]) -> Kind:
        """Fill in what is not in memory: from the store, or counted in one batch."""
        own = kind = self._counter.tokenizer.kind
        names = self._names(new)
        stored: Mapping[Fingerprint, int] = {}
        if self._store is not None and names:
            ids = list(dict.fromkeys(names.values()))
            stored = await self._store.known_counts(self._counter.tokenizer.id, ids)
        wanted = dict.fromkeys(text for at, text in new.items() if names.get(at) not in stored)
        taken: dict[str, int] = {}
        if wanted:
            counts = await self._counter.count(list(wanted))
            kind = weakest(own, counts.kind)
            taken = dict(zip(wanted, counts.tokens, strict=True))
        for place, text in new.items():
            tokens[place] = taken[text] if text in taken else stored[names[place]]
            if kind == own:
                self._keep(text, tokens[place])
        if self._store is not None and kind == own:
            counted_now = {name: tokens[at] for at, name in names.items() if name not in stored}
            if counted_now:
                await self._store.remember_counts(self._counter.tokenizer.id, counted_now)
        return kind

    def _keep(self, text: str, tokens: int) -> None:
        if self._cuts and len(text) >= LARGE:
            self._large.put(text, tokens)
        else:
            self._recent.put(text, tokens)

    def _names(self, new: Mapping[int, str]) -> dict[int, Fingerprint]:
        """What counts are stored under. A short text is counted faster than it is looked up: it has no name. Nor has
        an estimate, or what is no Unicode text.
        """
        names: dict[int, Fingerprint] = {}
        if self._store is None or self._counter.tokenizer.kind == "estimate":
            return names
        for place, text in new.items():
            if len(text) >= STORED:
                with suppress(UnicodeEncodeError):
                    names[place] = fingerprint(text)
        return names


COUNTED_EVERY = 200  # characters of an answer, some fifty tokens


class Growing:
    """Tokens of a text that is still arriving: only what came since the last safe cut is counted again."""

    def __init__(self, counter: TokenCounter, *, cuts: bool = False) -> None:
        self._counter = counter
        self._cuts = cuts
        self._settled = 0
        self._tail = ""
        self._fresh = 0  # characters since the last count

    def add(self, text: str) -> None:
        self._tail += text

    async def grown(self, text: str) -> int | None:
        """Add ``text``; the tokens of everything so far, now and then: counting should cost next to nothing."""
        self.add(text)
        self._fresh += len(text)
        if self._fresh < COUNTED_EVERY:
            return None
        self._fresh = 0
        return (await self.tokens()).tokens[0]

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
