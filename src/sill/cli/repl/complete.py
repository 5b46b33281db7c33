"""What could be typed next: notes and headings after ``[[``, files after ``@``, commands and their words."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Literal

from .session import Session
from .table import MARKS, Unknown, commands, is_command, look_up

MOST = 40

_LINK = re.compile(r"\[\[([^\[\]\n|]*)$")
_FILE = re.compile(r'(?:^|(?<=[\s(]))@(?:"([^"\n]*)|([^\s"@]*))$')


@dataclass(frozen=True, slots=True)
class Typing:
    """What is being typed at the cursor; ``typed`` is what the completion takes the place of."""

    kind: Literal["note", "heading", "file", "command", "argument"]
    typed: str
    of: str = ""  # the note of a heading, the command of an argument


@dataclass(frozen=True, slots=True)
class Candidate:
    """``text`` stands in for the last ``replaces`` characters; ``shown`` is what the menu says."""

    text: str
    replaces: int
    shown: str
    about: str = ""


def typing(before: str) -> Typing | None:
    """What the text before the cursor asks for; None where it is ordinary prose."""
    if link := _LINK.search(before):
        note, hash, heading = link[1].partition("#")
        return Typing("heading", heading, note) if hash else Typing("note", note)
    if file := _FILE.search(before):
        return Typing("file", file[1] if file[1] is not None else file[2])
    if "\n" in before or not before.startswith(MARKS):
        return None
    name, blank, rest = before[1:].partition(" ")
    if not blank:
        return Typing("command", name) if is_command(before) or not name else None
    return Typing("argument", rest, name) if is_command(before) else None


def candidates(session: Session, before: str) -> Iterator[Candidate]:
    """Best first; a name that begins with what was typed goes before one that holds it."""
    from .known import file_names, headings, note_names

    asked = typing(before)
    if asked is None:
        return
    match asked.kind:
        case "note":
            for name in matching(asked.typed, note_names(session.folder)):
                yield Candidate(f"{name}]]", len(asked.typed), name)
        case "heading":
            for name in matching(asked.typed, headings(session.folder, asked.of)):
                yield Candidate(f"{name}]]", len(asked.typed), name)
        case "file":
            quote = before[len(before) - len(asked.typed) - 1] == '"'
            for name in matching(asked.typed, file_names(session.folder)):
                text = f'"{name}"' if " " in name or quote else name
                yield Candidate(text, len(asked.typed) + quote, name)
        case "command":
            known = commands()
            for name in matching(asked.typed, known):
                yield Candidate(name, len(asked.typed), name, known[name].help)
        case "argument":
            command = look_up(asked.of.lower(), commands())
            if not isinstance(command, Unknown):
                for name in matching(asked.typed, command.arguments(session, asked.typed)):
                    yield Candidate(name, len(asked.typed), name)


def matching(typed: str, names: Iterable[str]) -> list[str]:
    """Those that begin so, then those that hold it, then those that have its letters in order."""
    wanted = typed.casefold()
    ranked = sorted(
        (rank, number, name)
        for number, name in enumerate(names)
        if (rank := _rank(wanted, name.casefold())) is not None and name != typed
    )
    return [name for _, _, name in ranked[:MOST]]


def _rank(wanted: str, name: str) -> int | None:
    if name.startswith(wanted):
        return 0
    if wanted in name:
        return 1 if f"/{wanted}" in name or f" {wanted}" in name else 2
    letters = iter(name)
    return 3 if len(wanted) > 1 and all(letter in letters for letter in wanted) else None
