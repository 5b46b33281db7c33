"""Retrieval sets with known answers, built from what is on the machine or given as a folder.

From Python's documentation and standard library (the sources as Debian's ``python3-doc`` ships them, fetched
where they are not given): a section by its heading, an answer by its FAQ question, a module by its synopsis, a
function by the first sentence of its docstring. From dpkg's list of what is installed: a package by its
synopsis.
"""

import ast
import random
import re
import subprocess
import sysconfig
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

_UNDERLINE = re.compile(r"^([^\n]+)\n([=\-~^\"*#'`])\2{2,}[ \t]*$", re.MULTILINE)
_ROLE = re.compile(r":[\w:+-]+:`[!~]?([^`<]*?)(?:\s*<[^>]*>)?`")
_DIRECTIVE = re.compile(
    r"^\s*\.\. (?:_[^\n]*|index::[^\n]*(?:\n[ \t]+[^\n]+)*|[\w-]+::[^\n]*)$", re.MULTILINE
)
_SYNOPSIS = re.compile(
    r"^\.\. module:: \S+\n(?:[ \t]+:\w+:[^\n]*\n)*?[ \t]+:synopsis: ([^\n]+)", re.MULTILINE
)
_PACKAGE = re.compile(r"^Description: ([^\n]+)\n((?: [^\n]*\n)+)", re.MULTILINE)
MOST_DOCUMENTS = 1_500
MOST_QUESTIONS = 250


Section = tuple[str, str, str]  # file, heading, text


@dataclass(frozen=True)
class Set:
    """Documents by id, questions, and for each question the ids that answer it with their grade."""

    name: str
    documents: dict[str, str]
    questions: list[tuple[str, dict[str, int]]]


def python_sets(sources: Path, seed: int = 1) -> list[Set]:
    """``sources`` is the ``_sources`` folder of Python's built documentation."""
    sections = [
        (path.relative_to(sources).as_posix(), title, body)
        for path in sorted(sources.rglob("*.rst.txt"))
        for title, body in _sections(path.read_text(errors="replace"))
    ]
    chance = random.Random(seed)
    headings = _headings(sections, chance)
    return [headings, _faq(sections, headings, chance), _modules(sources), _functions(chance)]


def fetch_sources(folder: Path) -> Path | None:
    """The sources of Python's documentation, out of Debian's package; None where there is no apt."""
    if not (found := sorted(folder.rglob("_sources"))):
        folder.mkdir(parents=True, exist_ok=True)
        try:
            names = subprocess.run(
                ["apt-cache", "depends", "python3-doc"], capture_output=True, text=True
            )
            name = re.search(r"Depends: (\S+)", names.stdout)
            package = name[1] if name else "python3-doc"
            subprocess.run(
                ["apt-get", "download", "-q", package], cwd=folder, check=True, capture_output=True
            )
            (file,) = folder.glob("*.deb")
            subprocess.run(["dpkg-deb", "-x", file, folder], check=True)
        except (OSError, ValueError, subprocess.CalledProcessError):
            return None
        found = sorted(folder.rglob("_sources"))
    return found[0] if found else None


def package_set(status: Path = Path("/var/lib/dpkg/status")) -> Set | None:
    """What is installed: a package's long description by its synopsis."""
    if not status.is_file():
        return None
    found = _PACKAGE.findall(status.read_text(errors="replace"))
    texts = {" ".join(body.replace(" .\n", " ").split()): synopsis for synopsis, body in found}
    kept = [(text, synopsis) for text, synopsis in texts.items() if len(text) > 150]
    synopses = [synopsis for _, synopsis in kept]
    documents = {f"p{number}": text for number, (text, _) in enumerate(kept)}
    questions = [
        (synopsis, {f"p{number}": 1})
        for number, (_, synopsis) in enumerate(kept)
        if synopses.count(synopsis) == 1
    ]
    return Set("Debian: synopsis → package", documents, questions[:MOST_QUESTIONS])


def _headings(sections: list[Section], chance: random.Random) -> Set:
    usable = [
        s
        for s in sections
        if not s[0].startswith("faq/") and len(s[2]) > 250 and len(s[1].split()) >= 2
    ]
    titles = [title for _, title, _ in usable]
    unique = [s for s in usable if titles.count(s[1]) == 1]
    others = [s for s in usable if s not in unique]
    chance.shuffle(unique)
    chance.shuffle(others)
    kept = [*unique, *others][:MOST_DOCUMENTS]
    documents = {f"d{number}": body for number, (_, _, body) in enumerate(kept)}
    questions = [(unique[n][1], {f"d{n}": 1}) for n in range(min(MOST_QUESTIONS, len(unique)))]
    return Set("Python docs: heading → section", documents, questions)


def _faq(sections: list[Section], among: Set, chance: random.Random) -> Set:
    """Answers of the FAQ among sections of the manual."""
    faq = [s for s in sections if s[0].startswith("faq/") and s[1].endswith("?") and len(s[2]) > 60]
    chance.shuffle(faq)
    answers = {f"q{number}": body for number, (_, _, body) in enumerate(faq)}
    others = dict(list(among.documents.items())[: MOST_DOCUMENTS - len(answers)])
    questions = [
        (title, {f"q{number}": 1}) for number, (_, title, _) in enumerate(faq[:MOST_QUESTIONS])
    ]
    return Set("Python FAQ: question → answer", {**answers, **others}, questions)


def _modules(sources: Path) -> Set:
    """A module's page, without the line that names and sums it up, by its synopsis."""
    documents: dict[str, str] = {}
    questions: list[tuple[str, dict[str, int]]] = []
    for path in sorted(sources.rglob("*.rst.txt")):
        text = path.read_text(errors="replace")
        synopses = _SYNOPSIS.findall(text)
        if len(synopses) == 1:
            id = f"m{len(documents)}"
            body = _UNDERLINE.sub("", _SYNOPSIS.sub("", text), count=1)
            documents[id] = _plain(body).strip()[:8_000]
            questions.append((_plain(synopses[0]).strip(), {id: 1}))
    return Set("Python docs: synopsis → module", documents, questions[:MOST_QUESTIONS])


def _functions(chance: random.Random) -> Set:
    found = list(_documented(Path(sysconfig.get_paths()["stdlib"])))
    chance.shuffle(found)
    documents: dict[str, str] = {}
    questions: list[tuple[str, dict[str, int]]] = []
    sentences = [sentence for sentence, _ in found]
    for sentence, source in found:
        if len(documents) >= MOST_DOCUMENTS:
            break
        id = f"f{len(documents)}"
        documents[id] = source
        if len(questions) < MOST_QUESTIONS and sentences.count(sentence) == 1:
            questions.append((sentence, {id: 1}))
    return Set("stdlib: docstring → function", documents, questions)


def _documented(library: Path) -> Iterator[tuple[str, str]]:
    """First sentence of a docstring, and the function's source without it."""
    for path in sorted(library.glob("*.py")) + sorted(library.glob("[a-z]*/*.py")):
        if "test" in path.as_posix() or "site-packages" in path.as_posix():
            continue
        try:
            text = path.read_text()
            tree = ast.parse(text)
        except (SyntaxError, UnicodeDecodeError):
            continue
        lines = text.splitlines()
        for node in ast.walk(tree):
            if not isinstance(node, ast.FunctionDef) or not (docstring := ast.get_docstring(node)):
                continue
            sentence = " ".join(docstring.split("\n\n")[0].split()).split(". ")[0]
            first = node.body[0]
            rows = (
                lines[node.lineno - 1 : first.lineno - 1]
                + lines[(first.end_lineno or 0) : node.end_lineno]
            )
            if len(sentence.split()) >= 5 and len(rows) >= 6:
                yield sentence, "\n".join(rows)


def _sections(text: str) -> Iterator[tuple[str, str]]:
    marks = list(_UNDERLINE.finditer(text))
    ends = [*(mark.start() for mark in marks[1:]), len(text)]
    for mark, end in zip(marks, ends, strict=False):
        yield _plain(mark[1]).strip(), _plain(text[mark.end() : end]).strip()


def _plain(text: str) -> str:
    return _DIRECTIVE.sub("", _ROLE.sub(r"\1", text)).replace("``", "")
