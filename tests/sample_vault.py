"""A small reader of the sample vault, written apart from Sill's own so that it can disagree."""

import re
import unicodedata
from pathlib import Path
from typing import NamedTuple
from urllib.parse import unquote

ROOT = Path(__file__).parent.parent
VAULT = ROOT / "src" / "sill" / "sample" / "vault"
GUIDE = ROOT / "docs" / "sample-vault.md"
CODE = VAULT / "Weather" / "code"
READINGS = VAULT / "Weather" / "data" / "readings 2025.csv"
CHART = VAULT / "Weather" / "images" / "temperatures 2025.png"

FILES = sorted(
    path.relative_to(VAULT).as_posix()
    for path in VAULT.rglob("*")
    if path.is_file() and "__pycache__" not in path.parts
)
NOTES = {path: (VAULT / path).read_text(encoding="utf-8") for path in FILES if path.endswith(".md")}

FRONT_MATTER = re.compile(r"\A---\n(.*?)\n---\n", re.DOTALL)
FENCE = re.compile(r"^(```+).*?^\1`*$", re.DOTALL | re.MULTILINE)
CODE_SPAN = re.compile(r"(`+)(?!`).+?(?<!`)\1(?!`)")
WIKILINK = re.compile(r"(!?)\[\[(.+?)\]\]")
MARKDOWN_LINK = re.compile(r"(?<!\])(?<!!)\[[^\[\]]+\]\(([^)\s]+)\)")
HEADING = re.compile(r"^#{1,6} +(.+?) *$", re.MULTILINE)
BLOCK = re.compile(r"(?:^|\s)\^([A-Za-z0-9-]+)$", re.MULTILINE)


class Link(NamedTuple):
    source: str
    written: str
    embed: bool
    target: str
    parts: tuple[str, ...]  # headings from the outside in, or one `^block`
    display: str


def front_matter(text: str) -> str:
    found = FRONT_MATTER.match(text)
    return found[1] if found else ""


def listed(text: str, key: str) -> list[str]:
    """The items of a list in the front matter, written either way."""
    matter = front_matter(text)
    if inline := re.search(rf"^{key}: \[(.*)\]$", matter, re.MULTILINE):
        return [item.strip() for item in inline[1].split(",")]
    if below := re.search(rf"^{key}:\n((?:  - .+\n?)+)", matter, re.MULTILINE):
        return [line.removeprefix("  - ").strip('"') for line in below[1].splitlines()]
    return []


def without_code(text: str) -> str:
    return CODE_SPAN.sub("", FENCE.sub("", text))


def prose(text: str) -> str:
    return without_code(FRONT_MATTER.sub("", text))


def wikilinks(source: str, text: str) -> list[Link]:
    links = []
    for bang, inner in WIKILINK.findall(text):
        address, _, display = inner.replace("\\|", "|").partition("|")
        target, *parts = address.split("#")
        links.append(Link(source, inner, bool(bang), target, tuple(parts), display))
    return links


def markdown_links(source: str, text: str) -> list[Link]:
    links = []
    for address in MARKDOWN_LINK.findall(text):
        target, *parts = unquote(address).split("#")
        links.append(Link(source, address, False, target, tuple(parts), ""))
    return links


def resolve(source: str, target: str) -> str | None:
    """Exact path, then relative path, then the note's own folder, then the shortest path."""
    if not target:
        return source
    named = target if Path(target).suffix.lower() in {Path(f).suffix for f in FILES} else ""
    wanted = unicodedata.normalize("NFC", named or f"{target}.md").lower()
    keys = {unicodedata.normalize("NFC", path).lower(): path for path in FILES}
    folder = Path(source).parent
    if wanted.startswith(("./", "../")):
        steps = [part for part in folder.as_posix().lower().split("/") if part != "."]
        for part in wanted.split("/"):
            if part == "..":
                steps = steps[:-1]
            elif part != ".":
                steps = [*steps, part]
        return keys.get("/".join(steps))
    if wanted in keys:
        return keys[wanted]
    matches = [path for key, path in keys.items() if f"/{key}".endswith(f"/{wanted}")]
    beside = [path for path in matches if Path(path).parent == folder]
    return min(beside or matches, key=lambda path: (len(path), path), default=None)


def leads_somewhere(link: Link) -> bool:
    found = resolve(link.source, link.target)
    if found is None or not link.parts:
        return found is not None
    text = without_code(NOTES[found])
    if link.parts[0].startswith("^"):
        return BLOCK.findall(text).count(link.parts[0][1:]) == 1
    headings = [heading.lower() for heading in HEADING.findall(text)]
    for part in link.parts:
        if part.lower() not in headings:
            return False
        headings = headings[headings.index(part.lower()) + 1 :]
    return True


WIKI = [link for path, text in NOTES.items() for link in wikilinks(path, prose(text))]
MARKDOWN = [link for path, text in NOTES.items() for link in markdown_links(path, prose(text))]
PROPERTY = [link for path, text in NOTES.items() for link in wikilinks(path, front_matter(text))]
PROSE = "\n".join(prose(text) for text in NOTES.values())
TAGS = [tag for text in NOTES.values() for tag in listed(text, "tags")]
