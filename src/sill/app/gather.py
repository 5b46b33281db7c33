"""The files a question is about: those it links to and those of the chat, read as they are now."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from ..adapters.vault.read import read_document
from ..adapters.vault.scan import scan
from ..core.documents import Document
from ..core.links import parse_links
from ..core.resolve import Files
from ..engine.prepare import Question
from ..errors import FileRefused


@dataclass(frozen=True, slots=True)
class Gathered:
    """``linked`` are the notes the text named; ``refused`` say why a file is not in the question."""

    question: Question
    linked: tuple[str, ...] = ()
    unresolved: tuple[str, ...] = ()
    refused: tuple[FileRefused, ...] = ()


def gather(folder: Path, text: str, names: Sequence[str], max_bytes: int) -> Gathered:
    """Read everything; a file that is gone is told as missing, any other trouble is given back."""
    linked, unresolved = _linked(folder, text)
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
    question = Question(text, tuple(documents.values()), tuple(missing))
    return Gathered(question, tuple(linked), tuple(unresolved), tuple(refused))


def _linked(folder: Path, text: str) -> tuple[list[str], list[str]]:
    """Paths of the notes that ``[[…]]`` in the text means, and the links that mean none."""
    if "[[" not in text:
        return [], []
    wanted = [link.target for link in parse_links(text) if link.target]
    files = Files(entry.path for entry in scan(folder).entries)
    found = {target: files.find(target, "") for target in dict.fromkeys(wanted)}
    linked = [path for path in found.values() if path is not None]
    return linked, [target for target, path in found.items() if path is None]
