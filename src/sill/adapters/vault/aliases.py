"""Other names of notes, read off their front matter without an index."""

from collections.abc import Iterable
from pathlib import Path

from ...core.frontmatter import properties
from ...core.resolve import key
from .scan import Entry, read_inside

_HEAD = 16_000  # bytes of a note in which its front matter is looked for


def read_aliases(root: Path, entries: Iterable[Entry]) -> dict[str, str]:
    """Key of an alias to the path of its note; where two notes share one, the shorter path has it."""
    found: dict[str, str] = {}
    notes = [entry.path for entry in entries if entry.kind == "markdown"]
    for path in sorted(notes, key=lambda path: (-len(path), path)):
        head = read_inside(root, path, _HEAD)
        if head is not None and head.startswith(b"---"):
            aliases = properties(head.decode(errors="replace")).aliases
            found.update({key(alias): path for alias in aliases})
    return found
