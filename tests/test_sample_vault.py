"""The sample vault keeps its promises: features, facts, working code, one broken link."""

import csv
import re
import shutil
import struct
import subprocess
import sys
import tomllib
import unicodedata
import zlib
from collections import Counter
from datetime import date, timedelta
from pathlib import Path

import pytest

from .sample_vault import (
    CHART,
    CODE,
    FILES,
    GUIDE,
    MARKDOWN,
    NOTES,
    PROPERTY,
    PROSE,
    READINGS,
    TAGS,
    VAULT,
    WIKI,
    Link,
    front_matter,
    leads_somewhere,
    listed,
    resolve,
    wikilinks,
)


def test_there_are_thirty_to_forty_notes_in_folders_two_levels_deep() -> None:
    assert 30 <= len(NOTES) <= 40
    assert {path.count("/") for path in NOTES} == {0, 1, 2}


def test_most_notes_are_short_and_three_are_long() -> None:
    words = {path: len(text.split()) for path, text in NOTES.items()}
    long = {Path(path).stem for path, count in words.items() if 1200 <= count <= 2000}

    assert long == {"Tomatoes", "Weather station", "Bread oven"}
    assert max(words.values()) <= 2000
    assert sum(100 <= count <= 600 for count in words.values()) >= 30
    assert sum(count < 100 for count in words.values()) >= 2


def test_the_only_broken_link_is_the_one_the_guide_names() -> None:
    broken = [
        (link.source, link.written)
        for link in [*WIKI, *MARKDOWN, *PROPERTY]
        if not leads_somewhere(link)
    ]

    assert broken == [("Garden/Wishlist.md", "Bee hotel")]
    assert "[[Bee hotel]]" in GUIDE.read_text(encoding="utf-8")


def wiki(**wanted: object) -> int:
    return sum(all(getattr(link, k) == v for k, v in wanted.items()) for link in WIKI)


def by_case_only(link: Link) -> bool:
    found = resolve(link.source, link.target)
    if found is None or link.target.startswith("."):
        return False
    return link.target.removesuffix(".md") not in found


@pytest.mark.parametrize(
    "count, least",
    [
        pytest.param(wiki(embed=False, parts=(), display=""), 2, id="[[note]]"),
        pytest.param(sum(bool(a.display) and not a.embed for a in WIKI), 2, id="[[note|display]]"),
        pytest.param(
            sum(len(a.parts) == 1 and a.parts[0][0] != "^" for a in WIKI), 2, id="#heading"
        ),
        pytest.param(sum(len(a.parts) == 2 for a in WIKI), 2, id="#H1#H2"),
        pytest.param(sum(a.parts[:1] > ("^",) and not a.embed for a in WIKI), 2, id="#^block"),
        pytest.param(sum(a.embed and not a.target.endswith(".png") for a in WIKI), 2, id="embed"),
        pytest.param(sum(a.embed and a.display.isdigit() for a in WIKI), 2, id="image with size"),
        pytest.param(wiki(target="", embed=False), 2, id="[[#heading]]"),
        pytest.param(sum("\\|" in a.written for a in WIKI), 2, id="pipe in a table cell"),
        pytest.param(sum(by_case_only(a) for a in WIKI), 2, id="case differs"),
        pytest.param(sum("/" in a.target for a in WIKI), 2, id="path in a link"),
        pytest.param(sum(a.target[:1] == "." for a in WIKI), 2, id="relative path"),
        pytest.param(sum("%20" in a.written for a in MARKDOWN), 2, id="Markdown link with %20"),
        pytest.param(len(PROPERTY), 2, id="link in front matter"),
        pytest.param(sum(bool(listed(t, "aliases")) for t in NOTES.values()), 2, id="aliases"),
        pytest.param(sum("summary: " in front_matter(t) for t in NOTES.values()), 2, id="summary"),
        pytest.param(sum("/" in tag for tag in TAGS), 2, id="nested tag in front matter"),
        pytest.param(len(re.findall(r"(?<=\s)#[a-z]+/[a-z]+", PROSE)), 2, id="nested tag in text"),
        pytest.param(len(re.findall(r"^> \[!\w+\]", PROSE, re.M)), 2, id="callout"),
        pytest.param(PROSE.count("- [ ] "), 2, id="open task"),
        pytest.param(PROSE.count("- [x] "), 2, id="done task"),
        pytest.param(len(re.findall(r"^\[\^\w+\]: ", PROSE, re.M)), 2, id="footnote"),
        pytest.param(sum("```mermaid" in text for text in NOTES.values()), 1, id="Mermaid"),
        pytest.param(sum("```python" in text for text in NOTES.values()), 2, id="fenced code"),
        pytest.param(
            len([p for p in NOTES if re.search(r"\d{4}-\d\d-\d\d\.md$", p)]), 2, id="daily"
        ),
        pytest.param(sum(not path.isascii() for path in NOTES), 1, id="name beyond ASCII"),
        pytest.param(sum(" " in Path(path).name for path in NOTES), 2, id="name with spaces"),
    ],
)
def test_a_feature_occurs_often_enough(count: int, least: int) -> None:
    assert count >= least


def test_what_looks_like_a_link_inside_code_is_not_one() -> None:
    everywhere = Counter(link.written for p, t in NOTES.items() for link in wikilinks(p, t))
    counted = Counter(link.written for link in [*WIKI, *PROPERTY])

    assert everywhere - counted == Counter({"sensors": 3, " ! -f $readings ": 1, " ! -f file ": 1})


@pytest.mark.parametrize(
    "source, target, expected",
    [
        pytest.param("Oven/Bread oven.md", "log", "Oven/Log.md", id="beside the oven"),
        pytest.param("Weather/Weather station.md", "Log", "Weather/Log.md", id="beside the mast"),
        pytest.param("Oven/Recipes/Brötchen.md", "Log", "Oven/Log.md", id="shortest path"),
        pytest.param("Oven/Recipes/Plot loaf.md", "../Log", "Oven/Log.md", id="relative"),
        pytest.param("Garden/Slugs.md", "Weather/Log", "Weather/Log.md", id="exact path"),
    ],
)
def test_the_name_that_occurs_twice_leads_to_the_right_note(source, target, expected) -> None:
    written = {link.target for link in WIKI if link.source == source}

    assert target in written
    assert resolve(source, target) == expected
    assert Counter(Path(path).name for path in NOTES).most_common(2)[0] == ("Log.md", 2)


def test_an_alias_names_one_note_and_is_no_file_name() -> None:
    aliases = Counter(alias.lower() for text in NOTES.values() for alias in listed(text, "aliases"))

    assert {alias for alias, count in aliases.items() if count > 1} == set()
    assert set(aliases) & {Path(path).stem.lower() for path in NOTES} == set()


@pytest.mark.parametrize("path", [*FILES, GUIDE], ids=lambda path: Path(path).name)
def test_files_are_plain_utf8_and_name_no_machine(path) -> None:
    if Path(path).suffix == ".png":
        return
    text = (VAULT / path).read_bytes().decode("utf-8")

    assert unicodedata.normalize("NFC", text) == text
    assert unicodedata.normalize("NFC", str(path)) == str(path)
    assert text.endswith("\n") and not text.endswith("\n\n")
    assert re.findall(r"[\x00-\x08\x0b-\x1f\x7f\ufeff]", text) == []
    assert (
        re.findall(r"/(?:home|root|tmp|Users|work|mnt)/|[A-Z]:\\|localhost|https?://", text) == []
    )


def rows() -> list[dict[str, str]]:
    with READINGS.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def test_the_readings_are_sixty_days_in_a_row() -> None:
    first = date(2025, 4, 15)

    assert [row["date"] for row in rows()] == [str(first + timedelta(n)) for n in range(60)]
    assert all(float(row["min_c"]) < float(row["max_c"]) for row in rows())
    assert [r["date"] for r in rows() if not r["rain_mm"]] == ["2025-05-31", "2025-06-01"]


def test_the_notes_quote_the_readings_as_they_are() -> None:
    rain = round(sum(float(row["rain_mm"] or 0) for row in rows()), 1)
    frosts = {row["date"]: row["min_c"] for row in rows() if float(row["min_c"]) < 0}
    wettest = max(rows(), key=lambda row: float(row["rain_mm"] or 0))
    hottest = max(rows(), key=lambda row: float(row["max_c"]))
    frost, water = NOTES["Weather/Frost.md"], NOTES["Garden/Water.md"]
    data, beans = NOTES["Weather/Reading the data.md"], NOTES["Journal/2025/2025-06-07.md"]

    assert f"{rain} mm in sixty days" in data and f"{rain} mm" in water
    assert f"some {rain * 5.4:.0f} litres" in water
    assert [date.fromisoformat(day).strftime("%d %m") for day in frosts] == [
        "15 04", "20 04", "28 04", "05 05", "06 05", "16 05",
    ]  # fmt: skip
    assert "15, 20 and 28 April, then 5, 6 and 16 May" in frost
    assert "20 April with −1.6 °C" in frost and frosts["2025-04-20"] == "-1.6"
    assert "16 May, −0.4 °C" in frost and frosts["2025-05-16"] == "-0.4"
    assert (wettest["date"], wettest["rain_mm"]) == ("2025-06-06", "10.9")
    assert "6 June with 10.9 mm" in data and "10.9 mm yesterday" in beans
    assert (hottest["date"], hottest["max_c"]) == ("2025-06-12", "28.6")
    assert "12 June with 28.6 °C" in data


def test_the_summary_script_prints_what_the_note_shows() -> None:
    shown = re.search(r"```text\n(month .*?)```", NOTES["Weather/Reading the data.md"], re.DOTALL)
    run = subprocess.run(
        [sys.executable, "-B", "summary.py"], cwd=CODE, capture_output=True, text=True, check=True
    )

    assert shown and run.stdout == shown[1]


def test_the_code_in_the_note_on_data_says_what_it_does() -> None:
    code = re.search(r"```python\n(.*?)```", NOTES["Weather/Reading the data.md"], re.DOTALL)
    assert code
    run = subprocess.run(
        [sys.executable, "-B", "-c", code[1]], cwd=CODE, capture_output=True, text=True, check=True
    )

    assert run.stdout.split() == re.findall(r"# (\S+)$", code[1], re.MULTILINE)


def pixels(png: bytes) -> tuple[int, int, bytes]:
    """Width, height and the unpacked rows of a PNG whose chunks all pass their checks."""
    assert png[:8] == b"\x89PNG\r\n\x1a\n"
    chunks, at = {}, 8
    while at < len(png):
        length, name = struct.unpack(">I4s", png[at : at + 8])
        body, check = png[at + 8 : at + 8 + length], png[at + 8 + length : at + 12 + length]
        assert struct.pack(">I", zlib.crc32(name + body)) == check
        chunks[name], at = body, at + 12 + length
    width, height = struct.unpack(">II", chunks[b"IHDR"][:8])
    return width, height, zlib.decompress(chunks[b"IDAT"])


def test_the_chart_is_the_one_its_script_draws(tmp_path: Path) -> None:
    drawn = tmp_path / "drawn.png"
    subprocess.run([sys.executable, "-B", "chart.py", str(drawn)], cwd=CODE, check=True)

    assert pixels(CHART.read_bytes()) == pixels(drawn.read_bytes())
    assert CHART.stat().st_size < 8_000


def test_the_python_files_compile() -> None:
    scripts = sorted(CODE.glob("*.py"))
    for script in scripts:
        compile(script.read_text(encoding="utf-8"), script.name, "exec")

    assert [script.name for script in scripts] == ["chart.py", "summary.py"]


@pytest.mark.skipif(shutil.which("bash") is None, reason="the script is written for bash")
def test_collecting_adds_only_the_days_that_are_new(tmp_path: Path) -> None:
    notebook = tmp_path / "notebook.csv"
    notebook.write_text("".join(READINGS.read_text().splitlines(keepends=True)[:11]))
    collect = ["bash", str(CODE / "collect.sh"), str(READINGS), str(notebook)]

    said = [subprocess.run(collect, capture_output=True, text=True).stdout for _ in range(2)]

    assert said == ["50 new days, 60 in all\n", "0 new days, 60 in all\n"]
    assert notebook.read_text() == READINGS.read_text()


def test_the_settings_are_those_the_note_shows() -> None:
    settings = tomllib.loads((CODE / "station.toml").read_text(encoding="utf-8"))
    note = re.search(r"```toml\n(.*?)```", NOTES["Weather/Weather station.md"], re.DOTALL)
    shown = tomllib.loads(note[1]) if note else {}

    assert shown["rain"] == settings["rain"]
    assert [
        sensor.items() <= settings["sensors"][n].items()
        for n, sensor in enumerate(shown["sensors"])
    ] == [True] * 2
    assert settings["rain"]["mm_per_tip"] == round(500 / 55 * 10 / 433, 2)


def table_column(path: str, heading: str, column: int) -> list[float]:
    """The numbers in one column of the first table under a heading."""
    section = NOTES[path].split(f"# {heading}\n", 1)[1]
    lines = re.search(r"(?:^\|.*\n)+", section, re.MULTILINE)
    cells = [re.split(r"(?<!\\)\|", line)[column] for line in lines[0].splitlines()[2:]]
    return [float(re.sub(r"[^\d.]", "", cell)) for cell in cells]


@pytest.mark.parametrize(
    "path, heading, column",
    [
        pytest.param("Garden/Crops/Tomatoes.md", "The weights of 2024", 3, id="tomatoes 2024"),
        pytest.param("Garden/Crops/Tomatoes.md", "The weights of 2025", 3, id="tomatoes 2025"),
        pytest.param("Oven/Bread oven.md", "What it cost", 2, id="price of the oven"),
        pytest.param(
            "Weather/Weather station.md", "What it is made of", 3, id="price of the station"
        ),
        pytest.param("Garden/Crops/Courgettes.md", "Courgettes", 2, id="courgettes"),
        pytest.param("Garden/Soil.md", "The jar", 3, id="soil in the jar"),
        pytest.param("Oven/Recipes/Plot loaf.md", "Plot loaf", 2, id="weight of the dough"),
    ],
)
def test_a_column_adds_up_to_its_last_line(path, heading, column) -> None:
    *parts, together = table_column(path, heading, column)

    assert round(sum(parts), 2) == together


def test_the_firing_log_adds_up() -> None:
    wood = table_column("Oven/Log.md", "Log", 3)
    loaves = table_column("Oven/Log.md", "Log", 6)

    assert (sum(wood[:5]) / 5, sum(wood[5:]) / 4, sum(loaves)) == (16.0, 11.5, 40)
    assert "**16.0 kg**" in NOTES["Oven/Log.md"] and "**11.5 kg**" in NOTES["Oven/Log.md"]


def test_the_one_contradiction_stands_and_the_guide_names_it() -> None:
    guide = GUIDE.read_text(encoding="utf-8")

    assert "**from 1 May**" in NOTES["Garden/Sowing calendar.md"]
    assert "**on or after 24 May**" in NOTES["Weather/Frost.md"]
    assert "from 1 May" in guide and "on or after 24 May" in guide
