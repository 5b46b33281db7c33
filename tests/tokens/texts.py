"""Texts that are hard to count: every kind of character, in every kind of neighbourhood."""

import base64
import random
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

import sill

ROOT = Path(sill.__file__).resolve().parent

_BITS = (
    "hello", "world", " the", "'s", "'LL", "don't", "naïve", "Straße", "ſ", "ﬁ", "İi", "ǅ", "ª²",
    "東京タワー", "人工智能", "한국어", "Привет", "عربي", "नमस्ते", "ไทย", "Ελλάδα", "עברית", "አማርኛ",
    "👍🏽", "👩‍💻", "🇸🇪", "❤️", "e\u0301", "\u200b", "\u200d", "\ufeff", "\u00ad", "\u0000", "\x07", "\x1f", "\x7f", "\x85",
    " ", "  ", "\t", "\n", "\r\n", "\r", "\n\n", "\u00a0", "\u3000", "\u2028", "\u1680", "\x0b", "\x0c", "\x1c",
    "1", "12", "1234567890", "٣٤٥", "½", "Ⅷ", "3.14", "0x1F", "!", "...", "!!!\n", "=====", "--", "//", "/*", "*/\n",
    "{\"a\": [1, 2]}", "def f(x):\n    return x", "</div>", "<|endoftext|>", "<|im_start|>", "<|im_end|>", "[INST]", "</s>",
    "<s>", "<｜begin▁of▁sentence｜>", "<|", "|>", "$\\frac{1}{2}$", "camelCaseName", "SNAKE_CASE", "ABCdef", "_", "\\n", "\ufffd",
)  # fmt: skip


def _mixed(rng: random.Random) -> str:
    return "".join(rng.choice(_BITS) for _ in range(rng.randrange(1, 40)))


def _any_unicode(rng: random.Random) -> str:
    def sign() -> str:
        plane = rng.choice((0x80, 0x800, 0xD800, 0x20000, 0x110000))
        code = rng.randrange(plane)
        return chr(code) if not 0xD800 <= code < 0xE000 else "\ufffd"

    return "".join(sign() for _ in range(rng.randrange(1, 120)))


def _bytes(rng: random.Random) -> str:
    return rng.randbytes(rng.randrange(1, 300)).decode("utf-8", "replace")


def _latin(rng: random.Random) -> str:
    return rng.randbytes(rng.randrange(1, 300)).decode("latin-1")


def _spaces(rng: random.Random) -> str:
    signs = " \t\n\r\u00a0\x0bab.;"
    return "".join(rng.choice(signs) * rng.choice((1, 1, 2, 3, 9, 40)) for _ in range(20))


def _runs(rng: random.Random) -> str:
    return "".join(rng.choice("aZ0= \n東👍") * rng.randrange(1, 200) for _ in range(3))


def _base64(rng: random.Random) -> str:
    return base64.b64encode(rng.randbytes(rng.randrange(10, 300))).decode()


def _words(rng: random.Random) -> str:
    letters = "abcdefghijklmnopqrstuvwxyzABCäöü'"
    return " ".join(
        "".join(rng.choice(letters) for _ in range(rng.randrange(1, 16))) for _ in range(40)
    )


@cache
def vault_texts() -> tuple[str, ...]:
    """The sample notes that come with the program."""
    return tuple(path.read_text() for path in sorted((ROOT / "sample").rglob("*.md")))


@cache
def code_texts() -> tuple[str, ...]:
    return tuple(path.read_text() for path in sorted(ROOT.rglob("*.py")))


def _excerpt(rng: random.Random) -> str:
    text = rng.choice(vault_texts() + code_texts())
    start = rng.randrange(max(1, len(text)))
    return text[start : start + rng.randrange(1, 1500)]


KINDS: tuple[Callable[[random.Random], str], ...] = (
    _mixed, _mixed, _any_unicode, _bytes, _latin, _spaces, _runs, _base64, _words, _excerpt, _excerpt,
)  # fmt: skip


def hard_texts(count: int, seed: int = 1) -> Iterator[str]:
    """The same ``count`` texts for the same ``seed``, all kinds in turn."""
    rng = random.Random(seed)
    yield from ("", " ", "\n", "a", "\u0000")
    for number in range(count - 5):
        yield KINDS[number % len(KINDS)](rng)
