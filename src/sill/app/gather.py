"""The files a question is about: those it links to and those of the chat, read as they are now."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from ..adapters.vault.aliases import read_aliases
from ..adapters.vault.read import read_document
from ..adapters.vault.scan import scan
from ..core.documents import Document
from ..core.links import Link
from ..core.outline import outline
from ..core.references import Reference, deduplicated, link_reference, typed_links
from ..core.resolve import Files, Resolved, Unresolved, resolve
from ..engine.prepare import Question
from ..errors import FileRefused

Meaning = Resolved | Unresolved


@dataclass(frozen=True, slots=True)
class Gathered:
    """``linked`` are the notes the text named; ``refused`` say why a file is not in the question."""

    question: Question
    linked: tuple[str, ...] = ()
    unresolved: tuple[str, ...] = ()
    refused: tuple[FileRefused, ...] = ()


def gather(folder: Path, text: str, names: Sequence[str], max_bytes: int) -> Gathered:
    """Read everything; a file that is gone is told as missing, any other trouble is given back."""
    links = _typed(folder, text)
    linked = tuple(dict.fromkeys(path for _, meaning in links if (path := meaning.path)))
    documents: dict[str, Document] = {}
    missing: list[str] = []
    refused: list[FileRefused] = []
    for name in dict.fromkeys([*linked, *names]):
        try:
            document = read_document(folder, name, max_bytes)
            documents[document.path] = document
        except FileRefused as error:
            if not (folder / name).exists():
                missing.append(error.path)
            refused.append(error)
    return Gathered(
        Question(
            text,
            tuple(documents.values()),
            tuple(missing),
            references=_references(links, documents),
            linked=tuple(path for path in linked if path not in names),
        ),
        linked,
        tuple(dict.fromkeys(link.target for link, meaning in links if meaning.path is None)),
        tuple(refused),
    )


def _typed(folder: Path, text: str) -> list[tuple[Link, Meaning]]:
    """The wikilinks of the text with the notes they mean; other names of notes count too."""
    if "[[" not in text:
        return []
    entries = scan(folder).entries
    files = Files(entry.path for entry in entries)
    links = typed_links(text, files, {}, {})
    if all(meaning.path for _, meaning in links):
        return links
    return typed_links(text, files, {}, read_aliases(folder, entries))


def _references(
    links: Sequence[tuple[Link, Meaning]], documents: dict[str, Document]
) -> tuple[Reference, ...]:
    texts = {path: document.text for path, document in documents.items()}
    return deduplicated(
        link_reference(link, _placed(link, meaning, texts), texts) for link, meaning in links
    )


def _placed(link: Link, meaning: Meaning, texts: dict[str, str]) -> Meaning:
    """With the lines of the heading or block that the link names."""
    if meaning.path is None or meaning.path not in texts or not (link.headings or link.block):
        return meaning
    path = meaning.path
    alias = meaning.alias if isinstance(meaning, Resolved) else None
    outlines = {path: outline(texts[path])}
    named = Link(path, link.line, link.start, link.end, link.headings, link.block)
    found = resolve(named, "", Files([path]), outlines)
    return Resolved(path, found.lines, alias) if isinstance(found, Resolved) else found
