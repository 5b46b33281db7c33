"""Markdown as lines of a terminal, safe to write."""

from functools import lru_cache
from io import StringIO
from typing import TYPE_CHECKING, ClassVar

from ..screen import plain

if TYPE_CHECKING:
    from rich.console import Console
    from rich.markdown import Markdown
    from rich.style import Style

# A table or a code block narrower than this is no help to anybody.
_NARROWEST = 20


def rendered(markdown: str, width: int, *, colours: bool) -> list[str]:
    """The text laid out for ``width`` columns, without blank lines around it.

    What a model writes is made safe before it is parsed, and once more after: an entity such as
    ``&#x202e;`` is a character only then. Tags are text, and a link shows where it leads.
    """
    console = _console(max(_NARROWEST, width))
    rows = console.render_lines(_parsed(plain(markdown)), console.options, pad=False)
    lines = [
        _line([(plain(piece.text), piece.style) for piece in row if not piece.control], colours)
        for row in rows
    ]
    while lines and not lines[0]:
        lines.pop(0)
    while lines and not lines[-1]:
        lines.pop()
    return lines


def _line(pieces: list[tuple[str, "Style | None"]], colours: bool) -> str:
    """One line without the blanks it was filled up with."""
    while pieces and not pieces[-1][0].strip():
        pieces.pop()
    shown = ""
    for number, (text, style) in enumerate(pieces):
        text = text.rstrip() if number == len(pieces) - 1 else text
        style = style if colours or style is None else style.without_color
        shown += style.render(text) if style else text
    return shown


@lru_cache(maxsize=4)
def _console(width: int) -> "Console":
    from rich.console import Console
    from rich.theme import Theme

    return Console(
        file=StringIO(),
        force_terminal=True,
        color_system="standard",
        width=width,
        height=1000,
        legacy_windows=False,
        markup=False,
        emoji=False,
        highlight=False,
        theme=Theme(_STYLES),
    )


# The sixteen colours of the terminal, so that its own theme decides how they look.
_STYLES = {
    "markdown.code": "cyan",
    "markdown.code_block": "cyan",
    "markdown.block_quote": "italic",
    "markdown.h1": "bold underline",
    "markdown.h2": "bold",
    "markdown.h3": "bold",
    "markdown.h4": "italic",
    "markdown.item.bullet": "bold",
    "markdown.item.number": "bold",
    "markdown.link": "underline",
    "markdown.link_url": "dim",
    "markdown.hr": "dim",
}


def _parsed(text: str) -> "Markdown":
    from markdown_it import MarkdownIt
    from rich.markdown import CodeBlock, Heading, Markdown
    from rich.syntax import Syntax
    from rich.text import Text

    class Margin(Heading):
        """A heading at the margin: in the middle of a wide terminal nobody finds it."""

        def __rich_console__(self, console, options):  # type: ignore[no-untyped-def]
            assert isinstance(self.text, Text)
            self.text.justify = "left"
            yield self.text

    class Flush(CodeBlock):
        """Code at the margin, so that it can be copied as it is."""

        def __rich_console__(self, console, options):  # type: ignore[no-untyped-def]
            yield Syntax(str(self.text).rstrip(), self.lexer_name, theme=self.theme, word_wrap=True)

    class Ours(Markdown):
        elements: ClassVar = {
            **Markdown.elements,
            "heading_open": Margin,
            "fence": Flush,
            "code_block": Flush,
        }

    laid_out = Ours("", code_theme="ansi_dark", hyperlinks=False)
    parser = MarkdownIt("commonmark", {"html": False}).enable(["strikethrough", "table"])
    laid_out.parsed = parser.parse(text)
    for token in laid_out.parsed:
        for child in token.children or ():
            # Models end a line where they mean it, in poems and addresses.
            child.type = "hardbreak" if child.type == "softbreak" else child.type
    return laid_out
