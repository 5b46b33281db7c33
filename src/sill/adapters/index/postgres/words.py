"""Full text on PostgreSQL: the same words as SQLite's, and BM25 from the same formula."""

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass

from ....core.lexemes import lexemes
from ....core.query import Query, terms
from ..place import WEIGHTS, Connection

_TITLE, _HEADINGS, _TEXT = WEIGHTS
# PostgreSQL's, of the labels D to A: none may be more than one.
_WEIGHTS = f"{{{_TEXT / _TITLE},0,{_HEADINGS / _TITLE},1}}"
_SATURATION, _LENGTH = 1.2, 0.75
_LAST_PLACE = 16_383  # in a text; PostgreSQL knows no later one
_MOST_BYTES = 500_000  # of different words in a text; it takes a megabyte at most
_COUNTED = 30_001  # texts up to which it is counted how many have a word; past that it is estimated
_LEAST_RARITY = 1e-6
_LASTS = 0.01  # how far the number of texts may have changed before words are counted again


def text_vector(title: str, headings: str, text: str) -> tuple[str, int]:
    """The words of a passage as a ``tsvector``, and how many there are."""
    places: dict[str, list[str]] = {}
    place = size = 0
    for label, part in (("A", title), ("B", headings), ("", text)):
        for word in lexemes(part):
            place += 1
            if word in places:
                places[word].append(f"{min(place, _LAST_PLACE)}{label}")
            elif (size := size + len(word.encode(errors="replace"))) <= _MOST_BYTES:
                places[word] = [f"{min(place, _LAST_PLACE)}{label}"]
    return " ".join([f"'{word}':{','.join(at)}" for word, at in places.items()]), place


@dataclass(frozen=True, slots=True)
class Term:
    """Something that a text has: a word, or several in a row in its title, its headings or its text."""

    words: tuple[str, ...]

    @property
    def expression(self) -> str:
        """As a ``tsquery``."""
        if len(self.words) == 1:
            return f"'{self.words[0]}'"
        rows = ("<->".join(f"'{word}':{label}" for word in self.words) for label in "ABD")
        return "(" + "|".join(f"({row})" for row in rows) + ")"


@dataclass(frozen=True, slots=True)
class Asked:
    """``condition`` is what a text must meet; ``scored`` is what it is ordered by, with how often each counts."""

    condition: str
    scored: tuple[tuple[Term, int], ...]


def asked(query: Query, one_of: Sequence[str] = ()) -> Asked | None:
    """None finds nothing."""
    wanted = _terms(terms(query.words))
    required = _terms(query.phrases)
    rare = _terms(one_of)
    conditions = [term.expression for term in required]
    if rare:
        conditions.append(_any_of(rare))
    if not conditions and wanted:
        conditions.append(_any_of(wanted))
    if not conditions:
        return None
    if without := _terms(query.without):
        conditions.append(f"!{_any_of(without)}")
    # What is a condition and a wish counts as both.
    often: dict[Term, int] = {}
    for term in (*required, *rare, *wanted, *(required[:1] if wanted else ())):
        often[term] = often.get(term, 0) + 1
    return Asked("&".join(conditions), tuple(often.items()))


def _terms(texts: Sequence[str]) -> list[Term]:
    found = (Term(tuple(lexemes(text))) for text in texts)
    return list(dict.fromkeys(term for term in found if term.words))


def _any_of(found: Sequence[Term]) -> str:
    return "(" + "|".join(term.expression for term in found) + ")"


def rarity(texts: int, having: int) -> float:
    """How much a word says: the fewer texts have it, the more."""
    inverse = math.log((texts - having + 0.5) / (having + 0.5)) if having < texts else 0.0
    return max(inverse, _LEAST_RARITY)


class PostgresWords:
    """``connection`` is in use around every call. Counts are remembered as long as they are about right."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._counts: dict[Term, int] = {}
        self._counted_in = 0

    def find(
        self, query: Query, one_of: Sequence[str], allowed: set[int] | None, limit: int
    ) -> tuple[int, ...]:
        wish = asked(query, one_of)
        passages, tokens = self._totals()
        if wish is None or passages == 0:
            return ()
        length = (
            f"{_SATURATION}::float8 * ({1 - _LENGTH}::float8 + {_LENGTH}::float8 * size / usual)"
        )
        scored = [(term, often, n) for term, often in wish.scored if (n := self._count(term))]
        if not scored:
            return ()
        # tf / (tf + length) is 1 - length / (tf + length): so each word is looked up once.
        score = " + ".join(
            f"? * (1 - {length} / ({length} + {_TITLE}::float8 * ts_rank_cd('{_WEIGHTS}', words, ?::tsquery)))"
            for _ in scored
        )
        values: list[object] = [tokens / passages or 1.0, wish.condition]
        if allowed is not None:
            values.append(list(allowed))
        for term, often, having in scored:
            values += [often * rarity(passages, having), term.expression]
        rows = self._connection.execute(
            "SELECT id FROM words, (SELECT ?::float8 AS usual) AS every WHERE words @@ ?::tsquery"
            + ("" if allowed is None else " AND id = ANY(?)")
            + f" ORDER BY {score} DESC, id LIMIT {int(limit)}",
            values,
        )
        return tuple(id for (id,) in rows)

    def is_in_more_than(self, count: int, word: str) -> bool:
        if not self._counted_in:
            self._totals()
        return any(self._count(term) > count for term in _terms([word]))

    def _totals(self) -> tuple[int, int]:
        passages, tokens = self._connection.execute("SELECT passages, tokens FROM state").fetchone()
        if abs(passages - self._counted_in) > _LASTS * self._counted_in:
            self._counts, self._counted_in = {}, passages
        return passages, tokens

    def _count(self, term: Term) -> int:
        """How many texts have it. That none has is never remembered: it is quickly seen, and soon over."""
        if term not in self._counts:
            (count,) = self._connection.execute(
                "SELECT count(*) FROM (SELECT 1 FROM words WHERE words @@ ?::tsquery LIMIT ?) AS those",
                (term.expression, _COUNTED),
            ).fetchone()
            if count == 0:
                return 0
            self._counts[term] = count if count < _COUNTED else self._estimate(term)
        return self._counts[term]

    def _estimate(self, term: Term) -> int:
        (plan,) = self._connection.execute(
            "EXPLAIN (FORMAT JSON) SELECT 1 FROM words WHERE words @@ ?::tsquery",
            (term.expression,),
        ).fetchone()
        plan = json.loads(plan) if isinstance(plan, str) else plan
        return max(_COUNTED, int(plan[0]["Plan"]["Plan Rows"]))
