"""Counting here what the endpoint would count the same: no round trip for most texts."""

from collections.abc import Sequence

from ...core.certificate import Counts, weakest
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
    what they spell: such texts go to the server, and so do whole requests.
    """

    def __init__(self, server: TokenCounter, plain: Plain) -> None:
        self.tokenizer = server.tokenizer
        self._server = server
        self._plain = plain

    async def count(self, texts: Sequence[str]) -> Counts:
        here = [self._is_ours(text) for text in texts]
        asked = [text for text, ours in zip(texts, here, strict=True) if not ours]
        counts = await self._server.count(asked) if asked else Counts((), self.tokenizer.kind)
        answers = iter(counts.tokens)
        tokens = tuple(
            self._plain.count(text) if ours else next(answers)
            for text, ours in zip(texts, here, strict=True)
        )
        return Counts(tokens, weakest(self.tokenizer.kind, counts.kind))

    async def count_request(self, request: ChatRequest) -> Counts:
        return await self._server.count_request(request)

    async def overhead(self) -> Overhead:
        return await self._server.overhead()

    def _is_ours(self, text: str) -> bool:
        short = len(text) <= LONGEST
        return short and text.isascii() and not self._plain.may_be_special(text)
