"""Vocabularies that are part of the installation: no download, loaded when first used, checked when loaded."""

import functools
import logging
import unicodedata
from collections.abc import Callable
from typing import Any

from ...core.families import Vocabulary

log = logging.getLogger(__name__)

Encode = Callable[[str], list[int]]

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


@functools.cache
def encoder(vocabulary: Vocabulary) -> Encode | None:
    """The vocabulary's plain-text encoder; None if it is not there or not what it should be."""
    try:
        import splintr

        tokenizer: Any = splintr.Tokenizer.from_pretrained(_PACKAGED[vocabulary])
        # Only this method takes text as text: the others match special tokens, some of them invented.
        encode: Encode = tokenizer.encode_ordinary
        counted = len(encode(CHECK))
    except Exception as problem:  # whatever a foreign library raises, counting goes on without it
        log.warning("vocabulary %s cannot be loaded: %s", vocabulary, type(problem).__name__)
        return None
    if counted != _EXPECTED[vocabulary]:
        log.warning("vocabulary %s counts %d on the check text", vocabulary, counted)
        return None
    if vocabulary == "qwen":  # the published tokenizer composes characters first
        return lambda text: encode(unicodedata.normalize("NFC", text))
    return encode
