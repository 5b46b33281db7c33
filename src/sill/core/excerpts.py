"""Earlier turns as the model reads them again: cited by number and day, fitted into a slot.

The likeliest are quoted whole, the others with the sentence that says most; what is quoted stands there word
for word. Everything is one envelope, so no quoted text can end it or pose as an instruction of the program.
"""

import json
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date

from .control import neutral_json
from .memory import Memory, Utterance
from .messages import Message, Recall
from .periods import day_of
from .recall import Query, Scored

SHORTEST = 9  # tokens of a quote, about
WHOLE_EACH = 320  # tokens of the slot for each utterance that is quoted whole
WHOLE_MOST = 480  # characters of an utterance that may be quoted whole
BRIEF_MOST = 200  # characters of a sentence that stands for its utterance
LEAST_CHANCE = 0.0001  # less than this is not worth a token, however many are free
DAY_TOKENS = 4  # of the line with the day; the whole is counted before it is used
_LENGTH_COUNTS = 0.7  # 1 would fill the slot with the shortest, 0 ignores how long a quote is
_SHORT_SENTENCE = 40  # characters
_MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]

GAP = " … "
_SPACE = re.compile(r"\s+")
# "Yeah, Maria, …": what a sentence opens with before it says anything.
_OPENING = re.compile(
    r"(?:(?:hey|hi|hello|yeah|yep|yes|yup|wow|oh|aww|well|thanks|thank you|so|and|but|also|anyway|sure|ok|okay|cool"
    r"|nice|great|awesome|definitely|absolutely|totally|plus)\b[ ,!.-]++(?:[^\W\d_]\w{0,30}[,!] )?)++"
    r"(?!for\b|to\b|of\b|that\b)(?=\S)",  # "Thanks for the key" is one thing
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Quote:
    """One line of a recall, and the chance that it is needed."""

    place: int
    said: Utterance
    line: str
    chance: float
    whole: bool


def quotes(memory: Memory, ranked: Sequence[Scored], asked: Query, slot: int) -> list[Quote]:
    """What could be quoted, as many as a slot of so many tokens could hold, the best first."""
    whole = slot // WHOLE_EACH
    found: list[Quote] = []
    for scored in ranked[: slot // SHORTEST]:
        if scored.chance < LEAST_CHANCE:
            break
        said, is_whole = memory.said[scored.place], len(found) < whole
        text = excerpt(memory, scored.place, asked.wanted, WHOLE_MOST if is_whole else 0)
        if text:
            line = f"{said.number} {_SPACE.sub(' ', said.speaker)}: {text}"
            found.append(Quote(scored.place, said, line, scored.chance, is_whole))
    return found


def excerpt(memory: Memory, place: int, wanted: Mapping[str, float], room: int) -> str:
    """The utterance in ``room`` characters: its best sentences in their order; with no room the best one,
    from where it says something.

    Word for word; ``GAP`` stands where something was left out between two of them, or cut off.
    """
    found = memory.sentences[place]
    if not found:
        return ""
    worth = [_worth(memory, place, at, wanted) for at in range(len(found))]
    sentences = [sentence.text for sentence in found]
    order = sorted(range(len(sentences)), key=lambda at: (-worth[at], at))
    kept, left = {order[0]}, room - len(sentences[order[0]])
    for at in order[1:]:
        if len(sentences[at]) < left:
            kept.add(at)
            left -= len(sentences[at]) + 1
    parts, last = [], None
    for at in sorted(kept):
        if last is not None:
            parts.append(" " if at == last + 1 else GAP)
        parts.append(_cut(_SPACE.sub(" ", sentences[at]), max(room, BRIEF_MOST)))
        last = at
    text = "".join(parts)
    opening = None if room else _OPENING.match(text)
    return text[opening.end() :] if opening else text


def fit(found: Sequence[Quote], tokens: Sequence[int], slot: int) -> list[Quote]:
    """Those that fit together: the ones quoted whole, then the likeliest for their length."""
    sizes = {quote.place: size for quote, size in zip(found, tokens, strict=True)}
    order = sorted(
        found,
        key=lambda quote: (
            not quote.whole,
            -quote.chance / max(1, sizes[quote.place]) ** _LENGTH_COUNTS,
            quote.place,
        ),
    )
    days: set[date] = set()
    kept: list[Quote] = []
    left = slot
    for quote in order:
        day = day_of(quote.said.moment_ms)
        size = sizes[quote.place] + (0 if day in days else DAY_TOKENS)
        if size <= left:
            kept.append(quote)
            days.add(day)
            left -= size
    return kept


def message(chosen: Sequence[Quote]) -> Message:
    """The hidden message: the quotes in the order in which they were said, under the days they were said on."""
    ordered = sorted(chosen, key=lambda quote: quote.place)
    lines: list[str] = []
    day: date | None = None
    for quote in ordered:
        said_on = day_of(quote.said.moment_ms) if quote.said.moment_ms else None
        if said_on is not None and said_on != day:
            is_same_year = day is not None and day.year == said_on.year
            lines.append(f"{said_on.day} {_MONTHS[said_on.month - 1]}")
            lines[-1] += "" if is_same_year else f" {said_on.year}"
            day = said_on
        lines.append(quote.line)
    fields = {"type": "recalled_turns", "schema_version": 1, "content": "\n".join(lines)}
    encoded = json.dumps(fields, ensure_ascii=False, separators=(",", ":"))
    turns: dict[str, list[str]] = {}
    for quote in ordered:
        turns.setdefault(quote.said.turn, []).append(quote.line.partition(" ")[2])
    quoted = tuple("\n".join(lines) for lines in turns.values())
    return Message("assistant", neutral_json(encoded), Recall(tuple(turns), quoted))


def countable(quote: Quote) -> str:
    """What the quote adds to the envelope."""
    return json.dumps(quote.line + "\n", ensure_ascii=False)[1:-1]


def _worth(memory: Memory, place: int, at: int, wanted: Mapping[str, float]) -> float:
    """How much a sentence says for its length: rare words count, those of the question three times."""
    sentence, worth = memory.sentences[place][at], memory.sentence_worth(place)[at]
    for term in sorted(sentence.terms & wanted.keys()):
        worth += 2 * wanted[term] * memory.weight(term)
    if sentence.text.endswith("?") or sentence.text.startswith("["):
        worth *= 0.5  # asked, or an aside: rarely what was told
    # A scrap of a few letters is not more to the point than a sentence.
    return worth / math.sqrt(max(_SHORT_SENTENCE, len(sentence.text)))


def _cut(sentence: str, room: int) -> str:
    """A sentence that is too long ends at a word."""
    if len(sentence) <= room:
        return sentence
    cut = sentence.rfind(" ", room // 2, room)
    return sentence[: cut if cut > 0 else room].rstrip() + GAP.rstrip()
