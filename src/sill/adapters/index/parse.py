"""One file as the index keeps it."""

import hashlib
from dataclasses import dataclass

from ...core.chunks import Passage, passages
from ...core.frontmatter import inline_tags, properties
from ...core.links import Link, parse_links
from ...core.messages import fingerprint
from ...core.summaries import summarize_with
from ..vault.scan import LARGEST, Entry, is_binary


@dataclass(frozen=True, slots=True)
class Parsed:
    entry: Entry
    title: str = ""
    fingerprint: str = ""
    summary: str = ""
    tags: tuple[str, ...] = ()
    aliases: tuple[str, ...] = ()
    passages: tuple[Passage, ...] = ()
    links: tuple[Link, ...] = ()
    problem: str = ""


def parse_file(entry: Entry, data: bytes | None) -> Parsed:
    """What a file says; a file that says nothing readable is kept by name, with the problem."""
    title = entry.path.rsplit("/", 1)[-1].rsplit(".", 1)[0]
    if entry.kind == "attachment":
        return Parsed(entry, title)
    if data is None:
        return Parsed(entry, title, problem="cannot be read")
    if is_binary(data):
        return Parsed(entry, title, problem="is not text")
    text, problem = _decoded(data, entry.size)
    stamp = "" if problem else fingerprint(text)
    if entry.kind != "markdown":
        return Parsed(
            entry, title, stamp, passages=tuple(passages(text, markdown=False)), problem=problem
        )
    about = properties(text)
    return Parsed(
        entry,
        " ".join([title, about.title, *about.aliases, *about.tags]).strip(),
        stamp,
        summarize_with(about, text).text,
        tuple(dict.fromkeys([*about.tags, *inline_tags(text)]))[:200],
        about.aliases[:200],
        tuple(passages(text)),
        parse_links(text),
        problem,
    )


def embedded_text(headings: str, text: str) -> str:
    """What an embedder sees of a passage. The file's name is not in it, so a rename costs nothing."""
    above = headings.rsplit("\n", 1)[0] if text.startswith("#") else headings
    return f"{above}\n{text}".strip() if above else text


def passage_hash(headings: str, text: str) -> int:
    digest = hashlib.blake2b(embedded_text(headings, text).encode(errors="replace"), digest_size=8)
    return int.from_bytes(digest.digest(), "big", signed=True)


def _decoded(data: bytes, size: int) -> tuple[str, str]:
    if len(data) >= LARGEST and size > LARGEST:
        return data.decode(errors="replace"), f"only its first {LARGEST:,} bytes are searched"
    try:
        return data.decode("utf-8"), ""
    except UnicodeDecodeError as error:
        return data.decode(errors="replace"), f"is not UTF-8 text (byte {error.start})"
