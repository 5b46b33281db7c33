"""The links of a vault as values: what a note points to, what points to it, what leads nowhere."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from .links import Link, parse_links
from .outline import Outline
from .resolve import Files, Unresolved, resolve


@dataclass(frozen=True, slots=True)
class Edge:
    """A link of ``source``; ``target`` is the file it means, None where it leads nowhere."""

    source: str
    target: str | None
    link: Link


@dataclass(frozen=True, slots=True)
class NoteLinks:
    forward: tuple[Edge, ...]
    backward: tuple[Edge, ...]


@dataclass(frozen=True, slots=True)
class BadLink:
    file: str
    line: int
    link: str


@dataclass(frozen=True, slots=True)
class LinkReport:
    """Every link of a vault, counted.

    ``places`` are links whose file is there but not the heading or block they name: Obsidian opens the
    file, so they count as resolved.
    """

    total: int
    broken: tuple[BadLink, ...] = ()
    places: tuple[BadLink, ...] = ()

    @property
    def resolved(self) -> int:
        return self.total - len(self.broken)


def edges_of(source: str, text: str, files: Files) -> list[Edge]:
    return [Edge(source, files.find(link.target, source), link) for link in parse_links(text)]


def report(edges: Iterable[Edge], files: Files, outlines: Mapping[str, Outline]) -> LinkReport:
    """What is wrong with some links. ``outlines`` holds the notes whose headings and blocks are known."""
    total = 0
    broken: list[BadLink] = []
    places: list[BadLink] = []
    for edge in edges:
        total += 1
        written = BadLink(edge.source, edge.link.line, edge.link.written)
        if edge.target is None:
            broken.append(written)
        elif (edge.link.headings or edge.link.block) and isinstance(
            resolve(edge.link, edge.source, files, outlines), Unresolved
        ):
            places.append(written)
    return LinkReport(total, tuple(broken), tuple(places))


def as_dot(edges: Iterable[Edge]) -> str:
    """The graph in the language of Graphviz, each pair of notes once."""
    pairs = dict.fromkeys(
        (edge.source, edge.target)
        for edge in edges
        if edge.target is not None and edge.target != edge.source
    )
    rows = [f"  {_quoted(source)} -> {_quoted(target)};" for source, target in pairs]
    return "\n".join(["digraph vault {", "  node [shape=box];", *rows, "}"])


def _quoted(name: str) -> str:
    escaped = name.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'
