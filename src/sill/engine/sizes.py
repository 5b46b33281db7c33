"""Counts that are taken once: in memory, in the store, and by blocks where a large text was edited."""

from collections import OrderedDict
from collections.abc import Mapping, Sequence
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


@dataclass(frozen=True, slots=True)
class Known:
    """A large text, the lengths of the pieces it is safely cut into, and the tokens of each."""

    text: str
    lengths: tuple[int, ...]
    counts: tuple[int, ...]
    total: int


NOTHING = Known("", (), (), 0)
_END = 512


@dataclass(slots=True)
class Blocked:
    """Large texts as counted blocks, found again by how they begin or end.

    Comparing texts is many times faster than hashing them, so only their ends are hashed.
    """

    limit: int = MEMORY
    _texts: OrderedDict[int, Known] = field(default_factory=OrderedDict)
    _by_end: dict[str | tuple[int, str, str], int] = field(default_factory=dict)
    _size: int = 0
    _next: int = 0
    _last: tuple[str, Known] = ("", NOTHING)

    def near(self, text: str) -> Known:
        """This very text if it is known, else one that begins or ends like it, else ``NOTHING``."""
        if (
            text is not self._last[0]
        ):  # it is looked for twice: is it known, and which part of it is
            self._last = (text, self._find(text))
        return self._last[1]

    def _find(self, text: str) -> Known:
        head, tail = text[:_END], text[-_END:]
        for end in ((len(text), head, tail), head, tail):
            number = self._by_end.get(end)
            if number is not None and number in self._texts:
                self._texts.move_to_end(number)
                return self._texts[number]
        return NOTHING

    def put(self, known: Known) -> None:
        self._last = (known.text, known)
        self._next += 1
        self._texts[self._next] = known
        self._size += len(known.text)
        head, tail = known.text[:_END], known.text[-_END:]
        for end in ((len(known.text), head, tail), head, tail):
            self._by_end[end] = self._next
        while self._size > self.limit:
            _, oldest = self._texts.popitem(last=False)
            self._size -= len(oldest.text)
        if len(self._by_end) > 6 * len(self._texts) + 64:
            self._by_end = {e: n for e, n in self._by_end.items() if n in self._texts}

    def clear(self) -> None:
        self._texts.clear()
        self._by_end.clear()
        self._last = ("", NOTHING)
        self._size = 0


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
        kind = self._counter.tokenizer.kind
        found = [self._recall(text) for text in texts]
        new = [place for place, tokens in enumerate(found) if tokens is None]
        if new:
            fresh, kind = await self._learn([texts[place] for place in new])
            for place, tokens in zip(new, fresh, strict=True):
                found[place] = tokens
        return Counts(tuple(tokens or 0 for tokens in found), kind)

    def forget(self) -> None:
        """Drop what is in memory; the store keeps its own."""
        self._recent.clear()
        self._blocked.clear()

    def _recall(self, text: str) -> int | None:
        if not self._is_large(text):
            return self._recent.get(text)
        known = self._blocked.near(text)
        return known.total if known.text == text else None

    def _is_large(self, text: str) -> bool:
        return self._cuts and len(text) >= LARGE

    async def _learn(self, texts: Sequence[str]) -> tuple[list[int], Kind]:
        """Counts of texts that are not in memory: from the store, or taken in one batch."""
        own = kind = self._counter.tokenizer.kind
        names = [self._name(text) for text in texts]
        stored = await self._from_store([name for name in names if name is not None])
        parts = [
            _stored(text, stored[name]) if name in stored else self._parts(text)
            for text, name in zip(texts, names, strict=True)
        ]
        wanted = list(dict.fromkeys(piece for part in parts for piece in part.new))
        taken: dict[str, int] = {}
        if wanted:
            counts = await self._counter.count(wanted)
            kind = weakest(own, counts.kind)
            taken = dict(zip(wanted, counts.tokens, strict=True))
        known = [part.counted(text, taken) for text, part in zip(texts, parts, strict=True)]
        if kind == own:
            for one in known:
                self._remember(one)
            await self._to_store(
                {
                    name: one.total
                    for name, one in zip(names, known, strict=True)
                    if name is not None and name not in stored
                }
            )
        return [one.total for one in known], kind

    def _remember(self, known: Known) -> None:
        if self._is_large(known.text):
            self._blocked.put(known)
        else:
            self._recent.put(known.text, known.total)

    def _parts(self, text: str) -> "_Parts":
        if not self._is_large(text):
            return _Parts(new=(text,))
        known = self._blocked.near(text)
        same = shared(known.text, known.lengths, text)
        last = len(known.lengths) - same.after
        return _Parts(
            new=tuple(blocks(same.middle)),
            before=known.lengths[: same.before],
            counts_before=known.counts[: same.before],
            after=known.lengths[last:],
            counts_after=known.counts[last:],
        )

    def _name(self, text: str) -> Fingerprint | None:
        """What the text's count is stored under; short texts are counted faster than looked up."""
        if self._store is None or self._counter.tokenizer.kind == "estimate" or len(text) < STORED:
            return None
        try:
            return fingerprint(text)
        except UnicodeEncodeError:  # not Unicode: it has no fingerprint
            return None

    async def _from_store(self, names: Sequence[Fingerprint]) -> dict[Fingerprint, int]:
        if self._store is None or not names:
            return {}
        return await self._store.known_counts(self._counter.tokenizer.id, names)

    async def _to_store(self, counts: dict[Fingerprint, int]) -> None:
        if self._store is not None and counts:
            await self._store.remember_counts(self._counter.tokenizer.id, counts)


@dataclass(frozen=True, slots=True)
class _Parts:
    """A text as blocks that must be counted, between the lengths and counts of blocks that are known."""

    new: tuple[str, ...]
    before: tuple[int, ...] = ()
    counts_before: tuple[int, ...] = ()
    after: tuple[int, ...] = ()
    counts_after: tuple[int, ...] = ()

    def counted(self, text: str, taken: Mapping[str, int]) -> Known:
        new = tuple(taken[piece] for piece in self.new)
        counts = (*self.counts_before, *new, *self.counts_after)
        lengths = (*self.before, *map(len, self.new), *self.after)
        return Known(text, lengths, counts, sum(counts))


def _stored(text: str, tokens: int) -> _Parts:
    """A text of which only the whole is known."""
    return _Parts(new=(), before=(len(text),), counts_before=(tokens,))


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
