"""Counting here what the endpoint would count the same: no round trip for most texts."""

from collections.abc import Sequence

from ...core.certificate import Counts, weakest
from ...core.cuts import blocks
from ...core.families import Vocabulary
from ...core.request import ChatRequest
from ...ports import Overhead, TokenCounter
from ._vocabularies import Plain, vocabulary

# How many tokens the published models of a vocabulary have, padding and special tokens included.
_SIZES: dict[Vocabulary, range] = {
    "llama3": range(128_000, 128_513),
    "deepseek": range(128_800, 129_281),
    "tekken": range(131_072, 131_073),
    "o200k_base": range(199_998, 201_089),
    "cl100k_base": range(100_256, 100_353),
}

LARGE = 8_000  # characters from which a text is worth cutting
LONGEST = 200_000  # characters; more are counted in a thread of the counter that has one


def twin(size: int | None, sample: str, tokens: Sequence[int]) -> Plain | None:
    """The packaged vocabulary that has ``size`` tokens and gives the endpoint's ``tokens`` for ``sample``."""
    for name, sizes in _SIZES.items():
        if size in sizes:
            plain = vocabulary(name)
            if plain is not None and plain.encode(sample) == list(tokens):
                return plain
    return None


class LocalFirst:
    """An endpoint's counter that leaves ASCII texts to the packaged twin of its vocabulary.

    Servers split letters beyond ASCII with tables of their own, and take spelled-out special tokens for
    what they spell: such texts go to the server, and so do whole requests. ``cuts`` says that safe cuts hold for both:
    then only such blocks of a large text go.
    """

    def __init__(self, server: TokenCounter, plain: Plain, *, cuts: bool = False) -> None:
        self.tokenizer = server.tokenizer
        self._server = server
        self._plain = plain
        self._cuts = cuts

    async def count(self, texts: Sequence[str]) -> Counts:
        cut = [self._pieces(text) for text in texts]
        asked = [piece for pieces in cut for piece, is_ours in pieces if not is_ours]
        counts = await self._server.count(asked) if asked else Counts((), self.tokenizer.kind)
        answers = iter(counts.tokens)
        tokens = tuple(
            sum(self._plain.count(piece) if is_ours else next(answers) for piece, is_ours in pieces)
            for pieces in cut
        )
        return Counts(tokens, weakest(self.tokenizer.kind, counts.kind))

    async def count_request(self, request: ChatRequest) -> Counts:
        return await self._server.count_request(request)

    async def overhead(self) -> Overhead:
        return await self._server.overhead()

    def _pieces(self, text: str) -> list[tuple[str, bool]]:
        """What is counted on its own, and whether it is counted here."""
        is_ours = self._is_ours(text)
        if is_ours or not self._cuts or len(text) < LARGE:
            return [(text, is_ours)]
        return [(block, self._is_ours(block)) for block in blocks(text)]

    def _is_ours(self, text: str) -> bool:
        short = len(text) <= LONGEST
        return short and text.isascii() and not self._plain.may_be_special(text)
