"""Text on its way to a terminal or a pipe: nothing in it can steer the terminal."""

import json
import os
import re
import shutil
import sys
from collections.abc import Mapping
from typing import TextIO

import click

# Control characters, invisible ones and those that change the direction: text that looks like something
# it is not. Tab and newline stay.
_SLY = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f"
    "\u2028-\u202e\u2060-\u206f\u3164\ud800-\udfff\ufeff\uffa0\ufff0-\ufffb"
    "\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
)
_JOINERS = "\u200c\u200d"
_VARIANTS = range(0xE0100, 0xE01F0)  # other forms of an ideograph


def plain(text: str) -> str:
    """``text`` with control characters, escapes and bidi marks made visible; tab and newline stay."""
    return _SLY.sub(_visible, text)


def _visible(found: re.Match[str]) -> str:
    character = found[0]
    code = ord(character)
    if _belongs(found.string, found.start(), code):
        return character
    if code < 0x20:
        return chr(0x2400 + code)
    if code == 0x7F:
        return "\u2421"
    return f"<U+{code:04X}>"


def _belongs(text: str, at: int, code: int) -> bool:
    """A joiner is part of the writing between two characters beyond Latin, and sly elsewhere."""
    before = ord(text[at - 1]) if at else 0
    if chr(code) in _JOINERS:
        return before > 0x2FF and at + 1 < len(text) and ord(text[at + 1]) > 0x2FF
    return code in _VARIANTS and (0x3400 <= before < 0xA000 or 0x20000 <= before < 0x32000)


class Pieces:
    """Makes a text safe that comes in pieces: what ``add`` and ``end`` give is ``plain`` of the whole."""

    def __init__(self) -> None:
        self._last = ""  # the character before the next piece
        self._held = ""  # a joiner, whose other side has not come yet

    def add(self, piece: str) -> str:
        text = self._held + piece
        ready = text.rstrip(_JOINERS)
        self._held = text[len(ready) :]
        return self._safe(ready)

    def end(self) -> str:
        held, self._held = self._held, ""
        return self._safe(held)

    def _safe(self, text: str) -> str:
        if not text:
            return ""
        shown = plain(self._last + text)[len(plain(self._last)) :]
        self._last = text[-1]
        return shown


def json_text(value: object, *, indent: int | None = None) -> str:
    """JSON that is safe to print: what would steer a terminal is escaped, which means the same to a program."""
    text = json.dumps(value, ensure_ascii=False, indent=indent)
    return _SLY.sub(lambda found: json.dumps(found[0])[1:-1], text)


def one_line(text: str, most: int) -> str:
    """The beginning of ``text`` as one line of at most so many characters, safe to print."""
    line = plain(" ".join(text.split()))
    return line if len(line) <= most else line[: most - 1] + "…"


def types_in() -> bool:
    """Somebody can type at standard input; it may also be closed."""
    return sys.stdin is not None and sys.stdin.isatty()


def columns() -> int:
    """Of the terminal; a hundred where there is none."""
    return shutil.get_terminal_size((100, 24)).columns


def folded(text: str, width: int, indent: str = "") -> str:
    """``text`` with its lines broken at blanks; what follows a break begins with ``indent``."""
    from textwrap import wrap

    lines = (
        wrap(
            line,
            max(width, len(indent) + 1),
            subsequent_indent=indent,
            break_long_words=False,
            break_on_hyphens=False,
        )
        for line in text.split("\n")
    )
    return "\n".join("\n".join(line) for line in lines)


# --- Colours and links ----------------------------------------------------------------------------


def is_styled(stream: TextIO | None = None) -> bool:
    """Whether ``stream`` (standard output) is a terminal that understands styles."""
    return (stream or sys.stdout).isatty() and os.environ.get("TERM", "dumb") != "dumb"


def is_coloured(stream: TextIO | None = None) -> bool:
    return is_styled(stream) and not os.environ.get("NO_COLOR")


def painted(text: str, colour: str | None = None, *, bold: bool = False, dim: bool = False) -> str:
    """``text`` made safe and, where standard output shows styles, styled."""
    safe = plain(text)
    if not is_styled() or not safe:
        return safe
    shown = colour if is_coloured() else None
    if not (shown or bold or dim):
        return safe
    return click.style(safe, fg=shown, bold=bold or None, dim=dim or None)


def say(
    text: str = "", colour: str | None = None, *, bold: bool = False, dim: bool = False
) -> None:
    """Print one safe line on standard output."""
    click.echo(painted(text, colour, bold=bold, dim=dim))


def tell(text: str) -> None:
    """Print one safe line about the program itself, on standard error."""
    click.echo(f"sill: {plain(text)}", err=True)


def linked(text: str, target: str) -> str:
    """``text``, which is safe already, as a link where the terminal is known to show links."""
    if not (is_styled() and shows_links(os.environ)):
        return text
    return f"\x1b]8;;{_uri(target)}\x1b\\{text}\x1b]8;;\x1b\\"


def _uri(target: str) -> str:
    from urllib.parse import quote

    return quote(target, safe=":/#?&=%@+,;~-._")


def shows_links(environment: Mapping[str, str]) -> bool:
    """OSC 8 links: terminals that do not know them may print them as rubbish, so only known ones get them."""
    forced = environment.get("FORCE_HYPERLINK")
    if forced:
        return forced != "0"
    if environment.get("TMUX") or environment.get("STY"):
        return False  # what is outside of a multiplexer cannot be known
    known = ("KITTY_WINDOW_ID", "WT_SESSION", "WEZTERM_PANE", "KONSOLE_VERSION", "GHOSTTY_BIN_DIR")
    if any(environment.get(name) for name in known):
        return True
    version = environment.get("VTE_VERSION", "")
    if version.isdecimal() and int(version) >= 5000:
        return True
    if environment.get("TERM_PROGRAM") in ("iTerm.app", "WezTerm", "vscode", "ghostty"):
        return True
    return environment.get("TERM", "").startswith(("foot", "alacritty", "xterm-kitty"))


class Waiting:
    """A line that says what is awaited, on a terminal only, gone at the first word."""

    def __init__(self, *, is_silent: bool = False) -> None:
        self._shown = False
        self._is_silent = is_silent

    def show(self, text: str) -> None:
        is_seen = sys.stdout.isatty() and is_styled(sys.stderr)
        if is_seen and not self._is_silent:
            sys.stderr.write(f"\r{plain(text)}\x1b[K")
            sys.stderr.flush()
            self._shown = True

    def clear(self) -> None:
        if self._shown:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()
            self._shown = False
