"""The links of a vault, resolved when they are asked for.

Links are kept as they are written. What they mean depends on every name in the vault, so it is worked
out from the names at the time of the question; nothing has to be repaired when a file appears or goes.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Literal

from ...core.graph import Edge
from ...core.links import Link
from ...core.rank import spread
from ...core.resolve import Files, key, name_key
from .place import Connection

# How much a link says about its target when the passage it stands in leads a ranking.
_IN_PASSAGE, _ELSEWHERE, _BACKWARDS = 1.0, 0.5, 0.1
_DAMPING = 20  # the leaders are worth nearly the same
_MOST_BACKLINKS = 2_000
_MOST_LINKS = 2_000  # of one passage, and of the rest of its file; with more of them each says next to nothing


class LinkGraph:
    """Forward links, backlinks and what they are worth, over one state of the names."""

    def __init__(self, files: Files, ids: dict[str, int]) -> None:
        self.files = files
        self._ids = ids
        self._paths = {id: path for path, id in ids.items()}

    def follow(
        self, connection: Connection, changed: Iterable[str], removed: Iterable[str]
    ) -> None:
        """Take over the names as they are after these files were taken in anew, or are no more."""
        for path in (*changed, *removed):
            self._paths.pop(self._ids.pop(path, 0), None)
        for path in removed:
            self.files.remove(path)
        for path in changed:
            row = connection.execute("SELECT id FROM files WHERE path = ?", (path,)).fetchone()
            if row is not None:
                self._ids[path], self._paths[row[0]] = row[0], path
                self.files.add(path)

    def id_of(self, path: str) -> int | None:
        return self._ids.get(path)

    def forward(self, connection: Connection, path: str) -> list[Edge]:
        """A note's links in the order they stand in it."""
        file = self._ids.get(path)
        if file is None:
            return []
        rows = connection.execute(
            f"SELECT {_COLUMNS} FROM links WHERE file = ? ORDER BY rowid", (file,)
        )
        return [self._edge(row) for row in rows]

    def backward(self, connection: Connection, path: str) -> list[Edge]:
        """Links of other notes that lead here."""
        rows = connection.execute(
            f"SELECT {_COLUMNS} FROM links WHERE name = ? ORDER BY file, rowid", (name_key(path),)
        )
        edges = (self._edge(row) for row in rows)
        return [edge for edge in edges if edge.target == path and edge.source != path]

    def every(self, connection: Connection) -> Iterator[Edge]:
        """All links, file by file in the order of their paths."""
        with_links = {file for (file,) in connection.execute("SELECT DISTINCT file FROM links")}
        for path in sorted(self._ids):
            if self._ids[path] in with_links:
                yield from self.forward(connection, path)

    def worth_around(self, connection: Connection, leaders: Sequence[int]) -> dict[int, float]:
        """Files one link away from leading passages, each with what that says about it."""
        if not leaders:
            return {}
        places = {
            id: (file, first, last)
            for id, file, first, last in connection.execute(
                "SELECT id, file, first, last FROM passages"
                f" WHERE id IN ({','.join(map(str, leaders))})"
            )
        }
        shares: list[tuple[Sequence[int], float]] = []
        seen: set[int] = set()
        for place, leader in enumerate(leaders, start=1):
            if leader not in places:
                continue
            file, first, last = places[leader]
            own = 1.0 / (_DAMPING + place)
            inside = self._targets(connection, file, "BETWEEN", (first, last))
            shares.append((inside, own * _IN_PASSAGE))
            if file not in seen:
                seen.add(file)
                others = self._targets(connection, file, "NOT BETWEEN", (first, last))
                known = set(inside)
                elsewhere = [target for target in others if target not in known]
                shares.append((elsewhere, own * _ELSEWHERE))
                shares.append((self._sources(connection, file), own * _BACKWARDS))
        return spread(shares)

    def around(self, connection: Connection, path: str) -> dict[str, float]:
        """Files one link away from a file, in either direction."""
        if (file := self._ids.get(path)) is None:
            return {}
        targets = self._targets(connection, file, "NOT BETWEEN", (0, 0))
        sources = self._sources(connection, file)
        near = spread([(targets, 1.0 / _DAMPING), (sources, 1.0 / _DAMPING)])
        return {self._paths[other]: worth for other, worth in near.items()}

    def _targets(
        self,
        connection: Connection,
        file: int,
        which: Literal["BETWEEN", "NOT BETWEEN"],
        lines: tuple[int, int],
    ) -> list[int]:
        """The files that links of a file lead to, by the lines they stand in, or those they do not."""
        source = self._paths.get(file, "")
        rows = connection.execute(
            "SELECT DISTINCT target FROM (SELECT target FROM links"
            f" WHERE file = ? AND target != '' AND line {which} ? AND ? LIMIT ?)",
            (file, *lines, _MOST_LINKS),
        )
        paths = (self.files.find(target, source) for (target,) in rows)
        return list(
            dict.fromkeys(
                self._ids[path]
                for path in paths
                if path is not None and path != source and path in self._ids
            )
        )

    def _sources(self, connection: Connection, file: int) -> list[int]:
        path = self._paths.get(file)
        if path is None:
            return []
        rows = connection.execute(
            "SELECT DISTINCT file, target FROM links WHERE name = ? LIMIT ?",
            (name_key(path), _MOST_BACKLINKS),
        )
        return list(
            dict.fromkeys(
                source
                for source, target in rows
                if source != file
                and source in self._paths
                and self.files.find(target, self._paths[source]) == path
            )
        )

    def _edge(self, row: tuple[int, int, str, str, str | None, str | None, int, int]) -> Edge:
        file, line, target, headings, block, display, embed, markdown = row
        source = self._paths.get(file, "")
        link = Link(
            target, line, 0, 0, tuple(headings.split("\n")) if headings else (), block, display,
            bool(embed), bool(markdown),
        )  # fmt: skip
        return Edge(source, self.files.find(target, source), link)


_COLUMNS = "file, line, target, headings, block, display, embed, markdown"


def load_graph(connection: Connection) -> LinkGraph:
    ids = dict(connection.execute("SELECT path, id FROM files"))
    return LinkGraph(Files(ids), ids)


def load_aliases(connection: Connection) -> dict[str, str]:
    """Alias to path; where two notes share an alias, the shorter path has it."""
    rows: Iterable[tuple[str, str]] = connection.execute(
        "SELECT a.alias, f.path FROM aliases a JOIN files f ON f.id = a.file"
        " ORDER BY length(f.path) DESC, f.path DESC"
    )
    return {key(alias): path for alias, path in rows}
