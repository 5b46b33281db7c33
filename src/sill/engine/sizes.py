"""Counts that are taken once: in memory, in the store, and by blocks where a large text was edited."""

from collections import OrderedDict
from collections.abc import Hashable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field

from ..core.certificate import Counts, Kind, weakest
from ..core.cuts import blocks
from ..core.messages import Fingerprint, fingerprint
from ..core.recount import NOTHING, Counted, Draft, recount, whole
from ..ports import Store, TokenCounter

MEMORY = 16_000_000
"""Characters that are kept in memory for the sake of counts."""

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


_END = 256
_HELD = 3  # a text is held as a whole, as stretches and as blocks


@dataclass(slots=True)
class Blocked:
    """Large texts as counted blocks, found again by how they begin or end.

    Comparing texts is many times faster than hashing them, so only their ends are hashed.
    """

    limit: int = MEMORY
    _texts: OrderedDict[int, Counted] = field(default_factory=OrderedDict)
    _by_end: dict[Hashable, int] = field(default_factory=dict)
    _size: int = 0
    _next: int = 0

    def near(self, text: str) -> Counted:
        """This very text if it is known, else one that begins or ends like it, else ``NOTHING``."""
        for end in _ends(text):
            number = self._by_end.get(end)
            if number is not None and number in self._texts:
                self._texts.move_to_end(number)
                return self._texts[number]
        return NOTHING

    def put(self, known: Counted) -> None:
        text = known.text
        self._next = number = self._next + 1
        self._texts[number] = known
        self._size += _HELD * len(text)
        ends = self._by_end
        for end in _ends(text):
            ends[end] = number
        while self._size > self.limit:
            _, oldest = self._texts.popitem(last=False)
            self._size -= _HELD * len(oldest.text)
        if len(ends) > 8 * len(self._texts) + 64:
            self._by_end = {e: n for e, n in ends.items() if n in self._texts}

    def clear(self) -> None:
        self._texts.clear()
        self._by_end.clear()
        self._size = 0


def _ends(text: str) -> Iterator[Hashable]:
    """What a text is found again by, the surest first.

    An edit may be at either end, and a file that is sent has its fingerprint near its beginning: so what stands a
    little further in is tried, too.
    """
    tail = text[-_END:]
    yield len(text), tail
    yield text[:_END]
    yield tail
    yield _END, text[_END : 2 * _END]


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
        tokens: list[int] = []
        new: dict[int, Draft | str] = {}
        for place, text in enumerate(texts):
            found = self._recall(text)
            if not isinstance(found, int):
                new[place] = found
                found = 0
            tokens.append(found)
        if new:
            kind = await self._learn(new, tokens)
        return Counts(tuple(tokens), kind)

    def forget(self) -> None:
        """Drop what is in memory; the store keeps its own."""
        self._recent.clear()
        self._blocked.clear()

    def _recall(self, text: str) -> int | Draft | str:
        """The tokens, or what must be counted to know them: some blocks of a large text, or the whole of another."""
        if self._cuts and len(text) >= LARGE:
            known = self._blocked.near(text)
            return known.total if known.text == text else recount(known, text)
        tokens = self._recent.get(text)
        return text if tokens is None else tokens

    async def _learn(self, new: Mapping[int, Draft | str], tokens: list[int]) -> Kind:
        """Fill in what is not in memory: from the store, or counted in one batch."""
        own = kind = self._counter.tokenizer.kind
        names: dict[int, Fingerprint] = {}
        stored: Mapping[Fingerprint, int] = {}
        if self._store is not None and (names := self._names(new)):
            ids = list(dict.fromkeys(names.values()))
            stored = await self._store.known_counts(self._counter.tokenizer.id, ids)
        wanted: dict[str, int] = {}
        for place, draft in new.items():
            if names.get(place) not in stored:
                wanted |= dict.fromkeys((draft,) if isinstance(draft, str) else draft.new, 0)
        if wanted:
            counts = await self._counter.count(list(wanted))
            if counts.kind != own:
                kind = weakest(own, counts.kind)
            wanted = dict(zip(wanted, counts.tokens, strict=True))
        for place, draft in new.items():
            found = stored.get(names[place]) if place in names else None
            if isinstance(draft, str):
                tokens[place] = wanted[draft] if found is None else found
                if kind == own:
                    self._recent.put(draft, tokens[place])
            else:
                known = draft.counted(wanted) if found is None else whole(draft.text, found)
                tokens[place] = known.total
                if kind == own:
                    self._blocked.put(known)
        if self._store is not None and kind == own:
            counted = {name: tokens[at] for at, name in names.items() if name not in stored}
            if counted:
                await self._store.remember_counts(self._counter.tokenizer.id, counted)
        return kind

    def _names(self, new: Mapping[int, Draft | str]) -> dict[int, Fingerprint]:
        """What counts are stored under. What is counted faster than it is looked up has no name: a short text, and one
        that differs little from a text at hand. Nor has an estimate, or what is no Unicode text.
        """
        names: dict[int, Fingerprint] = {}
        if self._counter.tokenizer.kind == "estimate":
            return names
        for place, draft in new.items():
            text = draft if isinstance(draft, str) else draft.text
            if len(text) < STORED or (not isinstance(draft, str) and draft.is_mostly_known):
                continue
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
