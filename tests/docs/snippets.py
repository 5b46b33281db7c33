"""The code blocks of the pages, and what a comment before a block says about running it.

``<!-- not run: WHY -->`` before a block: its commands are only checked for names and options that exist.
``<!-- exits 1 -->``: its last command ends with that code. ``<!-- over SCRIPT -->``: the endpoint answers with the named
script of the tests instead of a real model, where the words matter. ``<!-- serves -->``: its command is `sill serve
--token`, which goes on until the page ends; the blocks after it have its address and token in ``OPENAI_BASE_URL`` and
``OPENAI_API_KEY``, the token in ``TOKEN`` too. ``<!-- with postgres -->``: the address of a database in it stands for a
real one.
"""

import re
import shlex
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PAGES = sorted([ROOT / "README.md", *(ROOT / "docs").rglob("*.md")])
_BLOCK = re.compile(
    r"(?P<notes>(?:^[ ]*<!--[^\n]*-->\n)*)^(?P<indent>[ ]*)```(?P<language>\w+)[^\n]*\n(?P<body>.*?)^(?P=indent)```$",
    re.MULTILINE | re.DOTALL,
)


@dataclass(frozen=True)
class Snippet:
    page: str
    line: int
    language: str
    body: str
    notes: tuple[str, ...]

    @property
    def is_run(self) -> bool:
        return not any(note.startswith("not run") for note in self.notes)

    @property
    def reason(self) -> str:
        """Why it is not run."""
        return next(
            (n.partition(":")[2].strip() for n in self.notes if n.startswith("not run")), ""
        )

    @property
    def on_postgres(self) -> bool:
        return "with postgres" in self.notes

    @property
    def exit_code(self) -> int:
        return next((int(n.removeprefix("exits ")) for n in self.notes if n.startswith("exits")), 0)

    @property
    def script(self) -> str:
        return next((n.removeprefix("over ") for n in self.notes if n.startswith("over ")), "")

    @property
    def serves(self) -> bool:
        return "serves" in self.notes

    @property
    def commands(self) -> list[str]:
        """What is typed; a line that ends with a backslash goes on."""
        typed = re.sub(r"\\\n(?:> )?", "", self.body)
        return [line[2:] for line in typed.splitlines() if line.startswith("$ ")]


def snippets(page: Path) -> list[Snippet]:
    text = page.read_text()
    found = []
    for match in _BLOCK.finditer(text):
        indent = len(match["indent"])
        body = "".join(line[indent:] for line in match["body"].splitlines(keepends=True))
        notes = tuple(re.findall(r"<!--\s*(.*?)\s*-->", match["notes"]))
        line = text.count("\n", 0, match.start()) + 1
        name = str(page.relative_to(ROOT))
        found.append(Snippet(name, line, match["language"], body, notes))
    return found


ALL = [snippet for page in PAGES for snippet in snippets(page)]


def of_sill(command: str) -> list[list[str]]:
    """The calls of sill in a line of shell, each as words."""
    words = shlex.split(command, comments=True)
    calls: list[list[str]] = [[]]
    for word in words:
        if word in ("|", "&&", ";", "&"):
            calls.append([])
        else:
            calls[-1].append(word)
    without_variables = [list(_after_variables(call)) for call in calls]
    return [call[1:] for call in without_variables if call and call[0] == "sill"]


def _after_variables(call: list[str]) -> list[str]:
    start = next((n for n, w in enumerate(call) if not re.match(r"[A-Z_]+=", w)), len(call))
    return call[start:]
