"""The index of one folder: keeping it fresh, and everything it can be asked."""

import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, replace
from pathlib import Path

from ...core.graph import Edge, LinkReport, NoteLinks, report
from ...core.outline import Outline, outline
from ...core.query import Query, parse_query, terms
from ...core.rank import Hit, Ranked, one_per
from ...core.references import Reference, deduplicated, link_reference, typed_links
from ...core.resolve import Files
from ..store import POSTGRES_URLS
from ..vault.scan import Choice, Skipped, is_binary, read_inside, scan
from . import search, vectors
from .graph import LinkGraph, load_aliases, load_graph
from .place import Changes, Connection, Place, Progress
from .search import Shelf, Signals

_FEW = 1_000  # changes that are followed; with more the names are read anew


@dataclass(frozen=True, slots=True)
class Status:
    files: int
    notes: int
    passages: int
    links: int
    embedded: int
    to_embed: int  # distinct passages there are
    model: str
    bytes: int
    problems: tuple[Skipped, ...]
    place: str = ""  # where the index is kept


def place_of(root: Path, database: Path | str) -> Place:
    """A file, or the part of a PostgreSQL database that belongs to the folder."""
    if isinstance(database, str) and database.startswith(POSTGRES_URLS):
        from .postgres.place import PostgresPlace

        return PostgresPlace(database, root)
    from .sqlite import SqlitePlace

    return SqlitePlace(Path(database))


class Index:
    """What is known about one folder. Safe to call from any thread, one call at a time."""

    def __init__(
        self, root: Path, database: Path | str, wanted: Choice | None = None, model: str = ""
    ) -> None:
        self.root = root
        self._wanted = wanted
        self._place = place_of(root, database)
        self._lock = threading.RLock()
        self._vectors = self._place.meanings(model)
        self._graph: LinkGraph | None = None
        self._version = -1
        self._skipped: tuple[Skipped, ...] = ()

    @property
    def model(self) -> str:
        return self._vectors.model

    @property
    def place(self) -> str:
        """Where the index is kept, for people."""
        return self._place.name

    def refresh(self, progress: Progress | None = None) -> Changes:
        """Make the index say what the folder holds now."""
        found = scan(self.root, self._wanted)
        try:
            with nullcontext() if self._place.is_read_while_written else self._using():
                changes = self._place.refresh(self.root, found, progress)
        except BaseException:
            self._graph = None  # some files may have been taken in
            raise
        with self._using():
            self._skipped = found.skipped
            if self._graph is not None and changes.count <= _FEW:
                self._graph.follow(self._connection, changes.changed, changes.removed)
            elif changes:
                self._graph = None
            return changes

    def rebuild(self) -> None:
        """Throw the index away; the next refresh makes it again."""
        with self._using():
            self._place.rebuild()
            self._vectors = self._place.meanings(self.model)
            self._graph = None

    def search(self, question: str, limit: int, signals: Signals) -> list[Hit]:
        """The best passages; a question that is nothing but filters lists what they leave."""
        with self._using():
            signals = replace(signals, named=self._named(question))
            ranked = search.rank(self._shelf, parse_query(question), signals)
            return search.load(self._connection, ranked[:limit])

    def related(self, path: str, limit: int, vector_of: Sequence[float] | None = None) -> list[Hit]:
        """Other notes near this one: its neighbours first of all, then what says similar things."""
        with self._using():
            text = self.read(path) or ""
            about = " ".join(terms(tuple(text[:4000].split()))[:40])
            title = path.rsplit("/", 1)[-1].rsplit(".", 1)[0]
            query = Query(words=(title, *about.split()))
            ranked = search.rank(self._shelf, query, Signals(vector=vector_of))
            found = search.load(self._connection, ranked[:200])
            near = self.graph.around(self._connection, path)
            others = [one for one in found if one.path != path]
            known = {one.path for one in others}
            unseen = [other for other in near if other not in known]
            others += [self._opening(other) for other in unseen]
            others.sort(key=lambda one: -(one.score + near.get(one.path, 0.0)))
            return one_per(others, lambda one: one.path)[:limit]

    def read(self, path: str) -> str | None:
        """A text file of the folder as it is now."""
        data = read_inside(self.root, path, 64_000_000)
        if data is None or is_binary(data):
            return None
        return data.decode("utf-8", errors="replace")

    def references(self, message: str) -> tuple[Reference, ...]:
        """What the wikilinks of a message lead to."""
        with self._using():
            files, aliases = self.graph.files, load_aliases(self._connection)
        targets = [meaning for _, meaning in typed_links(message, files, {}, aliases)]
        paths = {meaning.path for meaning in targets if meaning.path is not None}
        texts = {path: text for path in paths if (text := self.read(path)) is not None}
        outlines = {path: outline(text) for path, text in texts.items()}
        return deduplicated(
            link_reference(link, meaning, texts)
            for link, meaning in typed_links(message, files, outlines, aliases)
        )

    def links(self, path: str) -> NoteLinks:
        with self._using():
            return NoteLinks(
                tuple(self.graph.forward(self._connection, path)),
                tuple(self.graph.backward(self._connection, path)),
            )

    def edges(self) -> list[Edge]:
        """Every link of the vault, by file and place."""
        with self._using():
            return list(self.graph.every(self._connection))

    def check_links(self) -> LinkReport:
        edges = self.edges()
        wanted = {edge.target for edge in edges if edge.link.headings or edge.link.block}
        outlines: dict[str, Outline] = {}
        for path in sorted(
            one for one in wanted if one is not None and one.lower().endswith(".md")
        ):
            outlines[path] = outline(self.read(path) or "")
        return report(edges, self.graph.files, outlines)

    def summary(self, path: str) -> str:
        with self._using():
            row = self._connection.execute(
                "SELECT coalesce(nullif(f.summary, ''), s.text, '') FROM files f"
                " LEFT JOIN summaries s ON s.fingerprint = f.fingerprint WHERE f.path = ?",
                (path,),
            ).fetchone()
            return row[0] if row else ""

    def unsummarized(self) -> list[tuple[str, str]]:
        """One path of each text that says nothing about itself and has no summary yet, with its state."""
        with self._using():
            rows = self._connection.execute(
                "SELECT min(path), fingerprint FROM files WHERE summary = '' AND fingerprint != ''"
                " AND size > 0 AND fingerprint NOT IN (SELECT fingerprint FROM summaries)"
                " GROUP BY fingerprint ORDER BY min(path)"
            ).fetchall()
            return [(path, stamp) for path, stamp in rows]

    def keep_summary(self, fingerprint: str, text: str, model: str) -> None:
        with self._using():
            self._connection.execute(
                "INSERT INTO summaries VALUES (?, ?, ?) ON CONFLICT (fingerprint)"
                " DO UPDATE SET text = excluded.text, model = excluded.model",
                (fingerprint, text, model),
            )

    def paths(self) -> list[str]:
        with self._using():
            return [
                path for (path,) in self._connection.execute("SELECT path FROM files ORDER BY path")
            ]

    def pending(self, limit: int, after: int | None = None) -> list[tuple[int, str]]:
        with self._using():
            return vectors.pending(self._connection, self.model, limit, after)

    def keep_vectors(self, rows: Sequence[tuple[int, Sequence[float]]]) -> None:
        with self._using():
            self._place.keep(self.model, rows)

    def status(self) -> Status:
        with self._using():
            files, notes, passages, links = self._connection.execute(
                "SELECT (SELECT count(*) FROM files), (SELECT count(*) FROM files WHERE kind = 'markdown'),"
                " (SELECT count(*) FROM passages), (SELECT count(*) FROM links)"
            ).fetchone()
            problems = self._connection.execute(
                "SELECT path, problem FROM files WHERE problem != '' ORDER BY path"
            )
            bad = [Skipped(path, problem) for path, problem in problems]
            done, total = vectors.counts(self._connection, self.model)
            size = self._place.size()
            return Status(
                files, notes, passages, links, done, total, self.model, size,
                (*self._skipped, *bad), self.place,
            )  # fmt: skip

    @property
    def graph(self) -> LinkGraph:
        # Another process may have refreshed the same index meanwhile.
        version = self._place.version()
        if self._graph is None or version != self._version:
            self._graph, self._version = load_graph(self._connection), version
        return self._graph

    @property
    def files(self) -> Files:
        with self._using():
            return self.graph.files

    def close(self) -> None:
        with self._lock:
            self._place.close()

    @property
    def _shelf(self) -> Shelf:
        return Shelf(self._connection, self._place.words, self._vectors, self.graph)

    @property
    def _connection(self) -> Connection:
        return self._place.connection

    @contextmanager
    def _using(self) -> Iterator[None]:
        with self._lock, self._place.using():
            yield

    def _named(self, question: str) -> tuple[int, ...]:
        """The files that a question links to, by name or alias."""
        if "[[" not in question:
            return ()
        aliases = load_aliases(self._connection)
        meanings = typed_links(question, self.graph.files, {}, aliases)
        paths = dict.fromkeys(meaning.path for _, meaning in meanings if meaning.path)
        return tuple(id for path in paths if (id := self.graph.id_of(path)) is not None)

    def _opening(self, path: str) -> Hit:
        row = self._connection.execute(
            "SELECT p.id FROM passages p JOIN files f ON f.id = p.file WHERE f.path = ?"
            " ORDER BY p.first LIMIT 1",
            (path,),
        ).fetchone()
        if row is None:
            return Hit(path, (1, 1), "", places={"links": 1})
        return search.load(self._connection, [Ranked(row[0], 0.0, {"links": 1})])[0]
