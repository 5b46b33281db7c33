"""Vocabularies that are part of the installation: no download, loaded when first used, checked when loaded."""

import binascii
import functools
import logging
import os
import unicodedata
from collections.abc import Callable
from typing import Any

from ...core.cuts import blocks
from ...core.families import PROVED, Vocabulary

log = logging.getLogger(__name__)

Encode = Callable[[str], list[int]]
Count = Callable[[str], int]

_PACKAGED: dict[Vocabulary, str] = {
    "o200k_base": "o200k_base",
    "o200k_harmony": "o200k_harmony",
    "cl100k_base": "cl100k_base",
    "tekken": "mistral_v3",
    "llama3": "llama3",
    "deepseek": "deepseek_v3",
    "qwen": "qwen3",
    "glm": "glm4",
    "kimi": "kimi_k2",
    "phi": "phi4",
    "olmo": "olmo2",
    "mistral_v1": "mistral_v1",
}

CHECK = "Hello, wörld! 12345 <|endoftext|> 東京 👍🏽\n\n  def f(x):\r\n\treturn x\t "
"""Counted once at load: a package that answers otherwise is not the one we know."""

_EXPECTED: dict[Vocabulary, int] = {
    "o200k_base": 29,
    "o200k_harmony": 29,
    "cl100k_base": 32,
    "tekken": 38,
    "llama3": 30,
    "deepseek": 32,
    "qwen": 33,
    "glm": 32,
    "kimi": 30,
    "phi": 32,
    "olmo": 32,
    "mistral_v1": 39,
}


TOGETHER = 32_000
"""Characters from which a text is worth all cores, and a look for special tokens worth its time."""

_cores = min(8, os.cpu_count() or 1)


def _alone_after_fork() -> None:
    """A forked child has none of its parent's worker threads: it counts alone instead of waiting for them."""
    global _cores
    _cores = 1


os.register_at_fork(after_in_child=_alone_after_fork)


LEAN_FROM = 50_000
"""Characters after which the fifth of a second is worth it that making a leaner tokenizer takes."""

Lean = Callable[[], Any]


class Plain:
    """One vocabulary, for plain text: tokens, or only how many."""

    def __init__(self, tokenizer: Any, *, cuts: bool, lean: "Lean | None" = None) -> None:
        # Only this method takes text as text: the others match special tokens, some of them invented.
        self.encode: Encode = tokenizer.encode_ordinary
        self._flat: Callable[[str], bytes] = tokenizer.encode_flat
        self._batch: Callable[[list[str]], tuple[bytes, bytes]] = tokenizer.encode_batch_flat
        self._cuts = cuts
        self._lean = lean
        self._knows_specials = True
        self._counted = 0  # characters; until a leaner tokenizer is worth its making
        self._specials: dict[str, set[str]] = {}
        for name in tokenizer.special_tokens():
            self._specials.setdefault(name[0], set()).add(name[1:2])

    def count(self, text: str) -> int:
        """Tokens of ``text``.

        Where nothing in it can be a special token all methods agree, and for long texts the others are quicker:
        they make no lists, but they look for special tokens.
        """
        self._counted += len(text)
        if self._lean is not None and self._counted >= LEAN_FROM:
            self._slim(self._lean)
        is_long = len(text) >= TOGETHER
        if self._knows_specials and (not is_long or self.may_be_special(text)):
            return len(self.encode(text))
        if is_long and self._cuts and _cores > 1:
            ids, _ = self._batch(blocks(text, max(TOGETHER // 2, len(text) // _cores + 1)))
        else:
            ids = self._flat(text)
        return len(ids) // 4  # four bytes each

    def _slim(self, lean: "Lean") -> None:
        """Go on with a tokenizer of the same ranks that has no special tokens to look for."""
        self._lean = None
        if (tokenizer := lean()) is not None:
            self._flat, self._batch = tokenizer.encode_flat, tokenizer.encode_batch_flat
            self._knows_specials = False

    def may_be_special(self, text: str) -> bool:
        """Whether anything in ``text`` begins like a special token."""
        return any(
            first in text and any(part[:1] in seconds for part in text.split(first)[1:])
            for first, seconds in self._specials.items()
        )


class Composing(Plain):
    """A vocabulary whose published tokenizer composes characters first."""

    def count(self, text: str) -> int:
        return super().count(unicodedata.normalize("NFC", text))


@functools.cache
def vocabulary(name: Vocabulary) -> Plain | None:
    """The vocabulary; None if it is not there or not what it should be."""
    try:
        import splintr

        tokenizer = splintr.Tokenizer.from_pretrained(_PACKAGED[name])
        make = Composing if name == "qwen" else Plain
        lean = functools.partial(_lean_tekken, tokenizer) if name == "tekken" else None
        plain = make(tokenizer, cuts=name in PROVED, lean=lean)
        counted = len(plain.encode(CHECK))
    except Exception as problem:  # whatever a foreign library raises, counting goes on without it
        log.warning("vocabulary %s cannot be loaded: %s", name, type(problem).__name__)
        return None
    if counted != _EXPECTED[name]:
        log.warning("vocabulary %s counts %d on the check text", name, counted)
        return None
    return plain


TEKKEN_RANKS = range(1_000, 131_072)
"""The tokens that stand for text; those before are for control."""


def _lean_tekken(packaged: Any) -> Any:
    """Tekken's ranks and pattern without special tokens, which counts new text half as fast again.

    None if it does not agree with the packaged one.
    """
    import splintr

    try:
        texts = map(packaged.decode_token_bytes, TEKKEN_RANKS)
        lines = [
            b"%b %d\n" % (binascii.b2a_base64(text, newline=False), rank)
            for rank, text in enumerate(texts)
        ]
        lean = splintr.Tokenizer.from_bytes(b"".join(lines), splintr.MISTRAL_V3_PATTERN, {})
        counted = len(lean.encode_flat(CHECK)) // 4
    except Exception as problem:  # as above: the packaged one goes on
        log.warning("a lean Tekken cannot be made: %s", type(problem).__name__)
        return None
    return lean if counted == _EXPECTED["tekken"] else None
