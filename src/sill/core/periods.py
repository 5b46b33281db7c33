"""The days, months and years that a question names, and how well a moment fits them."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime

_MONTHS = (
    "january", "february", "march", "april", "may", "june", "july", "august", "september", "october",
    "november", "december",
)  # fmt: skip
_SHORT = {name[:3]: number for number, name in enumerate(_MONTHS, start=1)} | {"sept": 9}
_NAMED = re.compile(rf"\b({'|'.join(_MONTHS)}|{'|'.join(_SHORT)})\b\.?", re.IGNORECASE)
_DAY_AFTER = re.compile(r"\s+(\d{1,2})(?:st|nd|rd|th)?\b(?![:\d])", re.IGNORECASE)
_DAY_BEFORE = re.compile(r"(?<!\d)(\d{1,2})(?:st|nd|rd|th)?(?:\s+of)?\s+$", re.IGNORECASE)
_YEAR_AFTER = re.compile(r"[^a-z]{0,8}?\b(\d{4})\b", re.IGNORECASE)
_ISO = re.compile(r"\b((?:19|20)\d\d)-(\d\d)(?:-(\d\d))?\b")
_YEAR = re.compile(r"\b((?:19|20)\d\d)\b")
_NEARBY = 24  # characters in which a day or a year belongs to a month
# "may", "march" and the short names are months only where a sentence would have one.
_ALSO_WORDS = {"may", "march", *_SHORT}
_BEFORE_MONTH = re.compile(
    r"\b(?:in|on|of|by|since|before|after|during|until|early|late|mid|last|next|this|\d+(?:st|nd|rd|th)?)\s+$",
    re.IGNORECASE,
)

TOLD_WITHIN = 14  # days after an event in which people tell of it
REMEMBERED_WITHIN = 35


@dataclass(frozen=True, slots=True)
class Period:
    """What is not named is None."""

    year: int | None = None
    month: int | None = None
    day: int | None = None


def named(question: str) -> tuple[Period, ...]:
    """Every date, month or year in the question."""
    found = [
        Period(int(year), int(month), int(day) if day else None)
        for year, month, day in _ISO.findall(question)
    ]
    for match in _NAMED.finditer(question):
        before = question[max(0, match.start() - _NEARBY) : match.start()]
        after = question[match.end() : match.end() + _NEARBY]
        day = _DAY_AFTER.match(after) or _DAY_BEFORE.search(before)
        if match[1].lower() in _ALSO_WORDS and not (day or _BEFORE_MONTH.search(before)):
            continue
        year = _YEAR_AFTER.match(after)
        found.append(
            Period(
                int(year[1]) if year else None,
                _SHORT[match[1].lower()[:3]],
                int(day[1]) if day else None,
            )
        )
    return tuple(found) or tuple(Period(int(year)) for year in _YEAR.findall(question))


def closeness(moment_ms: int, periods: Iterable[Period], years: Sequence[int]) -> float:
    """From 0 to 1: whether somebody who talks at this moment may be telling of these periods.

    A period without a year may be in any of ``years``.
    """
    moment = day_of(moment_ms)
    return max(
        (
            _closeness(moment, period, year)
            for period in periods
            for year in ([period.year] if period.year is not None else years)
        ),
        default=0.0,
    )


def day_of(moment_ms: int) -> date:
    """The day in universal time; a moment outside of the calendar is its nearest end."""
    try:
        return datetime.fromtimestamp(moment_ms / 1000, UTC).date()
    except (ValueError, OverflowError, OSError):
        return date.max if moment_ms > 0 else date.min


def _closeness(moment: date, period: Period, year: int) -> float:
    if period.month is None:
        return 0.3 if moment.year == year else 0.0
    if period.day is not None:
        try:
            since = (moment - date(year, period.month, period.day)).days
        except ValueError:  # the 31st of June
            return 0.0
        if -1 <= since <= TOLD_WITHIN:
            return 1.0
        return 0.4 if TOLD_WITHIN < since <= REMEMBERED_WITHIN else 0.0
    months = (moment.year - year) * 12 + moment.month - period.month
    if months == 1:
        return 0.5 if moment.day <= 20 else 0.2
    return 1.0 if months == 0 else 0.0
