"""What the tables say about one file, ready to be written."""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from ...core.resolve import key, name_key
from ..vault.scan import Entry, read_inside
from .parse import Parsed, parse_file, passage_hash

Row = tuple[str | int | None, ...]


@dataclass(frozen=True, slots=True)
class FileRows:
    """``passages``, ``links`` and ``aliases`` still lack the file's id, which comes first in each."""

    path: str
    file: Row
    passages: tuple[Row, ...] = ()
    links: tuple[Row, ...] = ()
    aliases: tuple[Row, ...] = ()


def read_rows(root: Path, entries: Iterable[Entry]) -> list[FileRows]:
    """The files as they are now, in the same order."""
    return [rows_of(parse_file(entry, _data(root, entry))) for entry in entries]


def rows_of(parsed: Parsed) -> FileRows:
    entry = parsed.entry
    passages: list[Row] = []
    for passage in parsed.passages:
        headings = "\n".join(passage.headings)
        passages.append(
            (*passage.lines, parsed.title, headings, _clean(passage.text),
             passage_hash(headings, passage.text))
        )  # fmt: skip
    return FileRows(
        entry.path,
        (entry.path, entry.kind, entry.size, entry.mtime, entry.inode, parsed.fingerprint,
         _clean(parsed.summary), " " + " ".join(parsed.tags) + " ", parsed.problem),
        tuple(passages),
        tuple(
            (link.line, name_key(link.target), link.target, "\n".join(link.headings), link.block,
             link.display, link.embed, link.markdown)
            for link in parsed.links
        ),
        tuple((key(alias), alias) for alias in parsed.aliases),
    )  # fmt: skip


def _data(root: Path, entry: Entry) -> bytes | None:
    return None if entry.kind == "attachment" else read_inside(root, entry.path)


def _clean(text: str) -> str:
    return text if text.isascii() else text.encode(errors="replace").decode()
