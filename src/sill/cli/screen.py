"""Text on its way to a terminal or a pipe: nothing in it can steer the terminal."""

import sys

# Invisible or direction-changing characters that make text look like something it is not.
_JOINERS = "\u200c\u200d"
_SLY = {
    *range(0x200B, 0x2010),
    *range(0x202A, 0x202F),
    *range(0x2060, 0x2070),
    0xFEFF,
    0x061C,
    *range(0xE0000, 0xE0080),
}


def plain(text: str) -> str:
    """``text`` with control characters, escapes and bidi marks made visible; tab and newline stay."""
    if text.isprintable():
        return text
    return "".join(
        character if character in _JOINERS and _joins(text, at) else _visible(character)
        for at, character in enumerate(text)
    )


def _joins(text: str, at: int) -> bool:
    """A joiner is part of the writing between two characters beyond Latin, and sly elsewhere."""
    return 0 < at < len(text) - 1 and ord(text[at - 1]) > 0x2FF and ord(text[at + 1]) > 0x2FF


def _visible(character: str) -> str:
    code = ord(character)
    if character in "\n\t":
        return character
    if code < 0x20:
        return chr(0x2400 + code)
    if code == 0x7F:
        return "\u2421"
    if 0x80 <= code < 0xA0 or code in _SLY or 0xD800 <= code < 0xE000:
        return f"<U+{code:04X}>"
    return character


def colour_wanted() -> bool:
    import os

    return (
        sys.stderr.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
    )


class Waiting:
    """A line that says what is awaited, on a terminal only, gone at the first word."""

    def __init__(self) -> None:
        self._shown = False

    def show(self, text: str) -> None:
        if sys.stderr.isatty() and sys.stdout.isatty():
            sys.stderr.write(f"\r{plain(text)}")
            sys.stderr.flush()
            self._shown = True

    def clear(self) -> None:
        if self._shown:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()
            self._shown = False
