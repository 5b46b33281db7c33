"""Print one line per month from a file of daily readings.

    python summary.py                    the readings beside this script
    python summary.py other.csv          any file with the same columns

An empty rain cell means "the gauge did not measure", which is not the same as no rain.
"""

import csv
import sys
from datetime import date
from pathlib import Path
from typing import NamedTuple

READINGS = Path(__file__).parent.parent / "data" / "readings 2025.csv"


class Day(NamedTuple):
    date: date
    low: float
    high: float
    rain: float | None
    gust: int


def read(path):
    with open(path, newline="", encoding="utf-8") as file:
        return [
            Day(
                date.fromisoformat(row["date"]),
                float(row["min_c"]),
                float(row["max_c"]),
                float(row["rain_mm"]) if row["rain_mm"] else None,
                int(row["gust_kmh"]),
            )
            for row in csv.DictReader(file)
        ]


def longest_dry_spell(days):
    """The longest run of days measured at 0.0 mm; a day without a measurement ends it."""
    best, run = [], []
    for day in days:
        run = [*run, day] if day.rain == 0 else []
        best = max(best, run, key=len)
    return best


def line(label, days):
    mean = sum((day.low + day.high) / 2 for day in days) / len(days)
    rain = sum(day.rain for day in days if day.rain is not None)
    frosts = sum(day.low < 0 for day in days)
    low, high = min(day.low for day in days), max(day.high for day in days)
    return f"{label:<8}{len(days):>5}{low:>7.1f}{high:>7.1f}{mean:>7.1f}{rain:>8.1f}{frosts:>8}"


def summary(days):
    yield f"{'month':<8}{'days':>5}{'low':>7}{'high':>7}{'mean':>7}{'rain':>8}{'frosts':>8}"
    for month in sorted({day.date.strftime("%Y-%m") for day in days}):
        yield line(month, [day for day in days if day.date.strftime("%Y-%m") == month])
    yield line("all", days)
    spell = longest_dry_spell(days)
    if spell:
        yield f"longest dry spell: {len(spell)} days, {spell[0].date} to {spell[-1].date}"
    unmeasured = [str(day.date) for day in days if day.rain is None]
    if unmeasured:
        yield f"rain not measured: {', '.join(unmeasured)}"


if __name__ == "__main__":
    for text in summary(read(sys.argv[1] if len(sys.argv) > 1 else READINGS)):
        print(text)
