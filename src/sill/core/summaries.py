"""What a document is about, in a line, from the document itself."""

import re
from dataclasses import dataclass
from itertools import chain
from typing import Literal

from .frontmatter import Properties, properties
from .markdown import Regions, body_start, fences

_HEADING = re.compile(r"^ {0,3}#{1,6}[ \t][^\n]*+$", re.MULTILINE)
_PARAGRAPH = re.compile(r"[^\n]++(?:\n(?![ \t\r]*+\n)[^\n]++)*+")
_NOT_PROSE = re.compile(
    r"[ \t]*+(?:#{1,6}[ \t]|[-*+][ \t]|\d{1,9}+[.)][ \t]|[|>]|!?\[\[[^\]]*\]\]\s*$|---|===|<|%%)"
)
_MARK = re.compile(r"^[ \t]*+(?:[-*+]|\d{1,9}+[.)])[ \t]++(?:\[.\][ \t]++)?", re.MULTILINE)
_MARKUP = re.compile(
    r"!?\[\[(?:[^\[\]|\n]*\|)?([^\[\]\n]*)\]\]|!?\[([^\[\]\n]*)\]\([^()\n]*\)|[*_`~]{1,3}"
)
_SENTENCE_END = re.compile(r"[.!?]['\")\]]?(?=\s)")
_LOOKED_AT = 20_000  # characters


@dataclass(frozen=True, slots=True)
class Summary:
    text: str
    origin: Literal["property", "paragraph", "model", "none"]


def summarize(text: str, most: int = 200) -> Summary:
    """The front matter's ``summary`` or ``description``, else the first paragraph of prose."""
    return summarize_with(properties(text) if text.startswith("---") else Properties(), text, most)


def summarize_with(about: Properties, text: str, most: int = 200) -> Summary:
    """The same, where the text's properties are known."""
    if about.summary:
        return Summary(shortened(about.summary, most), "property")
    body = body_start(text)
    head = _HEADING.sub("", text[body : body + _LOOKED_AT])
    code = Regions([(fence.start, fence.end) for fence in fences(head)])
    found = [one[0] for one in _PARAGRAPH.finditer(head) if one.start() not in code]
    prose = (one for one in found if not _NOT_PROSE.match(one))
    # A note that is nothing but a list is best told by the list.
    listed = (_MARK.sub("", one) for one in found if _MARK.match(one))
    for paragraph in chain(prose, listed):
        if plain := plain_text(paragraph):
            return Summary(shortened(plain, most), "paragraph")
    return Summary("", "none")


def plain_text(markdown: str) -> str:
    """One line of text as a reader would say it: links by what they show, no marks."""
    return " ".join(_MARKUP.sub(lambda m: m[1] or m[2] or "", markdown).split())


def shortened(text: str, most: int) -> str:
    """At most that many characters: whole sentences if one fits, else whole words and an ellipsis."""
    if len(text) <= most:
        return text
    ends = [match.end() for match in _SENTENCE_END.finditer(text, 0, most + 1)]
    if ends and ends[-1] >= most // 3:
        return text[: ends[-1]]
    cut = text.rfind(" ", 0, most)
    return text[: cut if cut > 0 else most - 1].rstrip(" ,;:") + "…"
