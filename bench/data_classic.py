"""Cranfield and CISI out of a folder, in the format of the SMART system that they have been handed on in since 1970.

Documents and questions are records of ``.I 12`` and fields of one letter (``.T`` title, ``.W`` text). Judgements are
lines of a question, a document and, in Cranfield, how much it answers.
"""

import fnmatch
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from data_docs import Set


@dataclass(frozen=True)
class Classic:
    """A collection: how its files are named, in whatever case, and what its judgements mean."""

    name: str
    documents: str
    questions: str
    judgements: str
    by_order: bool  # judgements count the questions as they come, whatever number they carry
    no_interest: frozenset[str] = (
        frozenset()
    )  # grades of documents that somebody proposed and that do not answer


CRANFIELD = Classic(
    "Cranfield",
    "cran.all*",
    "cran.qry*",
    "cranqrel*",
    by_order=True,
    no_interest=frozenset({"-1", "5"}),
)
CISI = Classic("CISI", "cisi.all*", "cisi.qry*", "cisi.rel*", by_order=False)


def load(collection: Classic, folder: Path) -> Set:
    """Each document with its title as a heading; a question without an answer is left out."""
    documents = {
        number: f"# {_line(fields.get('T', ''))}\n\n{fields.get('W', '').strip()}\n"
        for number, fields in _records(_text(folder, collection.documents))
    }
    asked = list(_records(_text(folder, collection.questions)))
    answers = _answers(collection, _text(folder, collection.judgements))
    questions = []
    for place, (number, fields) in enumerate(asked, start=1):
        grades = {
            document: 1
            for document in answers.get(str(place) if collection.by_order else number, ())
            if document in documents
        }
        if grades:
            questions.append((_line(fields.get("W", "")), grades))
    return Set(collection.name, documents, questions)


def _answers(collection: Classic, judgements: str) -> dict[str, list[str]]:
    """The documents that answer each question."""
    found: dict[str, list[str]] = {}
    for line in judgements.splitlines():
        question, document, grade, *_ = [*line.split(), "", "", ""]
        if document and grade not in collection.no_interest:
            found.setdefault(str(int(question)), []).append(str(int(document)))
    return found


def _records(text: str) -> Iterator[tuple[str, dict[str, str]]]:
    """Number and fields by their letter; of a field that comes twice the first."""
    for record in re.split(r"^\.I\s+", text, flags=re.MULTILINE)[1:]:
        number, _, rest = record.partition("\n")
        fields: dict[str, str] = {}
        for part in re.split(r"^\.(?=[A-Z]\s*$)", rest, flags=re.MULTILINE)[1:]:
            fields.setdefault(part[0], part[1:])
        yield str(int(number)), fields


def _line(text: str) -> str:
    return " ".join(text.split())


def _text(folder: Path, pattern: str) -> str:
    names = [path for path in sorted(folder.rglob("*")) if path.is_file()]
    found = [path for path in names if fnmatch.fnmatchcase(path.name.lower(), pattern)]
    if not found:
        raise FileNotFoundError(f"{folder}: no file is called {pattern}")
    # The shortest name: beside ``cranqrel`` there may be a ``cranqrel.readme``.
    return min(found, key=lambda path: len(path.name)).read_text(errors="replace")
