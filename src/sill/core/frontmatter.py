"""The few properties of a note that matter here.

Front matter is YAML, but what is read are names and short texts: a small reader that skips what it
does not understand can never be broken by a note, and needs no YAML library.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

from .markdown import Regions, code_spans, front_matter_span

_MOST_CHARACTERS = 20_000  # of front matter; the rest is ignored
_MOST_TAGS = 50_000  # of what looks like a tag in one note
_KEY = re.compile(r"([A-Za-z_][\w.-]*+)[ \t]*+:(?:[ \t]++|$)([^\n]*+)")
_ITEM = re.compile(r"[ \t]*+-[ \t]++([^\n]*+)")
_FLOW_PART = re.compile(
    r'[ \t]*+("(?:[^"\\]|\\.)*+"|\'(?:[^\']|\'\')*+\'|[^,\[\]"\']*+)[ \t]*+(?:,|$)'
)
_COMMENT = re.compile(r"(?:^|[ \t])#[^\n]*+$")
_INLINE_TAG = re.compile(r"#([\w/-]++)")
_ESCAPES = {"n": "\n", "t": "\t", "\\": "\\", '"': '"', "/": "/"}


@dataclass(frozen=True, slots=True)
class Properties:
    title: str = ""
    aliases: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    summary: str = ""


def properties(text: str) -> Properties:
    """Title, aliases, tags and summary, as far as the front matter has them in a readable form."""
    span = front_matter_span(text)
    if span is None:
        return Properties()
    block = text[span[0] : min(span[1], span[0] + _MOST_CHARACTERS)]
    values = dict(_entries(block.splitlines()[1:]))
    return Properties(
        title=_text(values.get("title", [])),
        aliases=tuple(dict.fromkeys(value for value in values.get("aliases", []) if value)),
        tags=tuple(dict.fromkeys(_tags(values.get("tags", [])))),
        summary=_text(values.get("summary", [])) or _text(values.get("description", [])),
    )


def inline_tags(text: str, start: int = 0) -> tuple[str, ...]:
    """``#tag`` and ``#tag/nested`` outside code, lower-case; a tag needs one character that is no digit."""
    names = [
        (match.start(), match[1])
        for match in islice(_INLINE_TAG.finditer(text, start), _MOST_TAGS)
        if match.start() == 0 or text[match.start() - 1] in " \t\r\n("
    ]
    if not names:
        return ()
    code = Regions(code_spans(text, start))
    return tuple(
        dict.fromkeys(
            name.strip("/").lower()
            for position, name in names
            if name.strip("/") and not name.isdigit() and position not in code
        )
    )


def _text(values: Sequence[str]) -> str:
    return " ".join(" ".join(values).split())


def _tags(values: Sequence[str]) -> Iterator[str]:
    for value in values:
        for part in re.split(r"[,\s]+", value):
            if tag := part.lstrip("#").strip("/").lower():
                yield tag


def _entries(lines: Sequence[str]) -> Iterator[tuple[str, list[str]]]:
    """Top-level keys with their values as a list of texts; unreadable ones are left out."""
    number = 0
    while number < len(lines):
        match = _KEY.fullmatch(lines[number])
        number += 1
        if match is None:
            continue
        following = number
        while following < len(lines) and (
            not lines[following].strip() or lines[following][0] in " \t-"
        ):
            if lines[following].startswith(("---", "...")):
                break
            following += 1
        yield match[1].lower(), _values(match[2].strip(), lines[number:following])
        number = following


def _values(rest: str, below: Sequence[str]) -> list[str]:
    if rest[:1] in ("|", ">"):
        return [" ".join(line.strip() for line in below if line.strip())]
    if rest.startswith("["):
        return _flow_list(" ".join([rest, *(line.strip() for line in below)]))
    rest = _scalar(rest)
    if rest:
        plain = [line.strip() for line in below if line.strip() and not _ITEM.match(line)]
        return [" ".join([rest, *plain])]
    return [
        value for line in below if (item := _ITEM.fullmatch(line)) and (value := _scalar(item[1]))
    ]


def _flow_list(text: str) -> list[str]:
    inside = text[1:].rsplit("]", 1)[0]
    parts: list[str] = []
    at = 0
    while at < len(inside) and (match := _FLOW_PART.match(inside, at)) is not None:
        if value := _scalar(match[1]):
            parts.append(value)
        if match.end() == at:
            break
        at = match.end()
    return parts


def _scalar(text: str) -> str:
    text = text.strip()
    if len(text) >= 2 and text[0] == text[-1] == '"':
        return re.sub(r"\\(.)", lambda m: _ESCAPES.get(m[1], m[1]), text[1:-1])
    if len(text) >= 2 and text[0] == text[-1] == "'":
        return text[1:-1].replace("''", "'")
    plain = _COMMENT.sub("", text).strip()
    return "" if plain in ("null", "~", "''", '""') else plain
