"""Asking the index: by words, by meaning, along links, and all three together."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from ...core.query import Query, terms
from ...core.rank import Hit, Ranked, Ranking, Signal, fuse
from .graph import LinkGraph
from .place import Connection, Meanings, Words

DEPTH = 100  # how far down each ranking is looked at
_LEADERS = 8  # passages whose links are followed
_MOST_LOOKED_AT = 500  # passages of those documents
_NEIGHBOURS = 30  # documents that are taken from there
_MEANING_WEIGHT, _NAMED_WEIGHT = 1.5, 4.0
_LINKS_SHARE = 0.85  # a neighbour alone never comes before what it is a neighbour of
_LEADING: Mapping[Signal, float] = {"named": 4.0, "text": 1.75, "meaning": 1.0}
_COMMON = 3_000  # texts that have a word, from where on it costs more than it tells
_VERY_COMMON = 30_000  # and from where on it tells nothing beside any text with a rarer word
_ENOUGH = 10


@dataclass(frozen=True, slots=True)
class Signals:
    """What a search listens to.

    ``vector`` is the question's, if there is an embedder; ``named`` are files that the question links to.
    """

    text: bool = True
    vector: Sequence[float] | None = None
    links: bool = True
    named: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Shelf:
    """Where a search looks."""

    connection: Connection
    words: Words
    vectors: Meanings
    graph: LinkGraph


def rank(shelf: Shelf, query: Query, signals: Signals) -> list[Ranked]:
    """Passage ids, best first."""
    connection = shelf.connection
    allowed = _allowed(connection, query)
    if allowed is not None and not allowed:
        return []
    rankings: list[Ranking] = []
    if signals.named:
        own = _passages_of(shelf, signals.named, query)
        rankings.append(Ranking("named", own, weight=_NAMED_WEIGHT))
    if signals.text:
        rankings.append(Ranking("text", by_words(shelf.words, query, allowed)))
    similar: Mapping[int, float] = {}
    if signals.vector is not None:
        similar = shelf.vectors.nearest(connection, signals.vector, DEPTH, allowed)
        # Words after a minus and phrases are conditions, whatever the meaning is close to.
        kept = _meeting_conditions(shelf.words, query, similar)
        rankings.append(Ranking("meaning", kept, weight=_MEANING_WEIGHT))
    if signals.links:
        # Where to start is a matter of names, and names are words; what is meant is not.
        leading = [replace(one, weight=_LEADING.get(one.signal, 1.0)) for one in rankings]
        leaders = [ranked.key for ranked in fuse(leading)[:_LEADERS]]
        around = _along_links(shelf, leaders, query, signals.vector)
        kept = tuple(key for key in around if allowed is None or key in allowed)
        weight = _LINKS_SHARE * (_MEANING_WEIGHT if signals.vector is not None else 1.0)
        rankings.append(Ranking("links", kept, weight=weight))
    return fuse(rankings)


def _passages_of(shelf: Shelf, files: Sequence[int], query: Query) -> tuple[int, ...]:
    """The passages of named files: those with the question's words first, then as they stand."""
    marks = ",".join(map(str, files))
    rows = shelf.connection.execute(
        f"SELECT id FROM passages WHERE file IN ({marks}) ORDER BY file, first LIMIT 2000"
    )
    ids = [id for (id,) in rows]
    return tuple(dict.fromkeys([*by_words(shelf.words, query, set(ids)), *ids]))[:DEPTH]


def by_words(
    words: Words, query: Query, allowed: set[int] | None, limit: int = DEPTH
) -> tuple[int, ...]:
    rare = _rare_words(words, query)
    if rare and allowed is None:
        # To score every text that has a common word takes long and says little.
        found = words.find(query, rare, None, limit)
        if len(found) >= _ENOUGH or (found and _has_very_common(words, query, rare)):
            return found
    return words.find(query, (), allowed, limit)


def _rare_words(words: Words, query: Query) -> list[str]:
    """The words of a question that few texts have, if it has both such and common ones."""
    wanted = terms(query.words)
    rare = [word for word in wanted if not words.is_in_more_than(_COMMON, word)]
    return rare if len(rare) < len(wanted) else []


def _has_very_common(words: Words, query: Query, rare: Sequence[str]) -> bool:
    others = (word for word in terms(query.words) if word not in rare)
    return any(words.is_in_more_than(_VERY_COMMON, word) for word in others)


def load(connection: Connection, ranked: Iterable[Ranked]) -> list[Hit]:
    """The passages themselves, in the same order."""
    wanted = list(ranked)
    rows = {
        id: (path, (first, last), text, tuple(headings.split("\n")) if headings else (), stamp)
        for id, path, first, last, text, headings, stamp in connection.execute(
            "SELECT p.id, f.path, p.first, p.last, p.text, p.headings, f.fingerprint"
            " FROM passages p JOIN files f ON f.id = p.file"
            f" WHERE p.id IN ({','.join(str(one.key) for one in wanted)})"
        )
    }
    return [
        Hit(*rows[one.key], score=one.score, places=one.places) for one in wanted if one.key in rows
    ]


def _along_links(
    shelf: Shelf, leaders: Sequence[int], query: Query, vector: Sequence[float] | None
) -> tuple[int, ...]:
    """Passages of documents one link away from the leading passages, best first."""
    worth = shelf.graph.worth_around(shelf.connection, leaders)
    best = sorted(worth, key=lambda file: -worth[file])[:_NEIGHBOURS]
    if not best:
        return ()
    rows = shelf.connection.execute(
        "SELECT id, file, hash, lower(text) FROM passages"
        f" WHERE file IN ({','.join(map(str, best))}) ORDER BY file, first LIMIT {_MOST_LOOKED_AT}"
    ).fetchall()
    wanted = terms(query.words)
    hashes = [hash for _, _, hash, _ in rows]
    close: Mapping[int, float] = {}
    if vector is not None:
        close = shelf.vectors.similarities(shelf.connection, hashes, vector)
    scores: dict[int, float] = {}
    for id, file, hash, text in rows:
        quality = 0.5 * sum(word in text for word in wanted) / max(1, len(wanted))
        quality += max(0.0, close.get(hash, 0.0))
        # Which document is meant says more than which of its passages sounds right.
        scores[id] = worth[file] * (0.1 + quality) ** 0.25
    return tuple(sorted(scores, key=lambda id: -scores[id]))[:DEPTH]


def _allowed(connection: Connection, query: Query) -> set[int] | None:
    """Passages of the files that ``path:``, ``file:`` and ``tag:`` leave; None for all."""
    conditions: list[str] = []
    values: list[str] = []
    for path in query.paths:
        conditions.append("f.path LIKE ? ESCAPE '\\'")
        values.append(f"%{_literal(path)}%")
    for name in query.files:
        conditions.append("('/' || f.path) LIKE ? ESCAPE '\\'")
        values.append(f"%/%{_literal(name)}%")
    for tag in query.tags:
        conditions.append("(f.tags LIKE ? ESCAPE '\\' OR f.tags LIKE ? ESCAPE '\\')")
        values += [f"% {_literal(tag)} %", f"% {_literal(tag)}/%"]
    if not conditions:
        return None
    rows = connection.execute(
        "SELECT p.id, f.path FROM passages p JOIN files f ON f.id = p.file WHERE "
        + " AND ".join(conditions),
        values,
    )
    names = [name.lower() for name in query.files]
    return {
        id for id, path in rows if all(name in path.rsplit("/", 1)[-1].lower() for name in names)
    }


def _meeting_conditions(
    words: Words, query: Query, similar: Mapping[int, float]
) -> tuple[int, ...]:
    ids = tuple(similar)
    if not (query.phrases or query.without) or not ids:
        return ids
    kept = set(ids)
    if query.phrases:
        kept &= set(by_words(words, Query(phrases=query.phrases), kept, len(ids)))
    for word in query.without:
        kept -= set(by_words(words, Query(words=(word,)), kept, len(ids)))
    return tuple(id for id in ids if id in kept)


def _literal(text: str) -> str:
    return text.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
