"""Files, links, searching and completing names."""

from typing import Literal

from pydantic import Field

from .common import Fingerprint, Text, Wire


class FileEntry(Wire):
    path: str
    kind: str = Field(description="markdown, text, code or attachment")
    size: int
    modified_ms: int


class Files(Wire):
    """Sorted by path; ask again with ``after=next`` while ``next`` is not null."""

    files: list[FileEntry]
    next: str | None = None
    total: int
    folder: str = Field(description="the folder's name, not where it lies")


class FileText(Wire):
    path: str
    text: str
    fingerprint: Fingerprint
    language: str
    size: int
    read_only: bool = False


class SaveFile(Wire):
    """``base_fingerprint`` null makes a new file. Any other state on disk is a conflict, 409."""

    text: Text
    base_fingerprint: Fingerprint | None


class Saved(Wire):
    path: str
    fingerprint: Fingerprint
    edit: str | None = Field(
        default=None, description="the transaction, for undo; null if nothing changed"
    )
    warning: str = ""


class SaveConflict(Wire):
    code: Literal["conflict"] = "conflict"
    message: str
    hint: str = ""
    fingerprint: str | None = Field(description="of the file as it is now; null if it is gone")
    text: str | None = None


class Passage(Wire):
    path: str
    lines: tuple[int, int]
    text: str
    headings: list[str] = Field(default_factory=list)
    score: float
    signals: dict[str, int] = Field(
        default_factory=dict, description="place in each ranking, from 1"
    )


class Passages(Wire):
    results: list[Passage]


class NoteLink(Wire):
    """``path`` is where it leads, null for nowhere; of a backlink it is where it stands."""

    path: str | None
    line: int
    written: str
    embed: bool = False


class Heading(Wire):
    level: int
    text: str
    lines: tuple[int, int]


class Links(Wire):
    path: str
    links: list[NoteLink]
    backlinks: list[NoteLink]
    outline: list[Heading]
    summary: str = ""


class BadLink(Wire):
    path: str
    line: int
    written: str


class LinkCheck(Wire):
    total: int
    resolved: int
    broken: list[BadLink]
    places: list[BadLink]


class Node(Wire):
    path: str
    links: int
    backlinks: int


class GraphEdge(Wire):
    source: int = Field(description="number of a node")
    target: int


class Graph(Wire):
    """The best linked notes; ``left_out`` others would be too many to draw."""

    nodes: list[Node]
    edges: list[GraphEdge]
    left_out: int = 0


class Suggestion(Wire):
    insert: str
    label: str
    detail: str = ""
    path: str | None = None


class Suggestions(Wire):
    items: list[Suggestion]


class UsedDocument(Wire):
    path: str
    references: int
    chats: list[str]


class UsedDocuments(Wire):
    documents: list[UsedDocument]
