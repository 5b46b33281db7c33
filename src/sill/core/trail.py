"""The file trail: which files a conversation was about, what happened to each and in which turn.

It is read off what was really sent, read and applied, and it is carried on as data when turns leave the window,
never summed up in words.
"""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from .messages import FileDelta, FileNotice, FileState, Fingerprint, Message

Deed = Literal["sent", "read", "changed", "named", "deleted", "renamed"]

_DEEDS: tuple[Deed, ...] = ("sent", "named", "read", "changed", "renamed", "deleted")
_HASH = 12  # hexadecimal digits of a state that are shown


@dataclass(frozen=True, slots=True)
class Touch:
    """Something that happened to a file in a turn; ``state`` is the one it was in afterwards, where known.

    ``was`` is the name that it had before.
    """

    path: str
    deed: Deed
    turn: int
    state: Fingerprint | None = None
    was: str = ""


@dataclass(frozen=True, slots=True)
class Step:
    """One file of the trail: the last turn of each deed, its last state, and the name it had before."""

    path: str
    deeds: tuple[tuple[Deed, int], ...]
    state: Fingerprint | None = None
    was: str = ""

    @property
    def turn(self) -> int:
        return max(turn for _, turn in self.deeds)

    @property
    def line(self) -> str:
        state = self.state.removeprefix("sha256:")[:_HASH] if self.state else "?"
        deeds = [f"{deed} {at}" for deed, at in self.deeds]
        was = [f"was {_one_line(self.was)}"] if self.was else []
        return f"{_one_line(self.path)} {state} {', '.join([*deeds, *was])}"


def touches(turn: int, messages: Iterable[Message], references: str = "") -> list[Touch]:
    """What a turn did with files: ``references`` are its stored ones, which tell what tools have read."""
    found: list[Touch] = []
    for message in messages:
        match message.carries:
            case FileState(stamp=stamp) | FileDelta(stamp=stamp):
                found.append(Touch(stamp.path, "sent", turn, stamp.fingerprint))
            case FileNotice(path=path, event="renamed", new_path=str(new)):
                found += [Touch(path, "renamed", turn), Touch(new, "named", turn, was=path)]
            case FileNotice(path=path, event="deleted"):
                found.append(Touch(path, "deleted", turn))
            case FileNotice(path=path, event="restored", fingerprint=state):
                found.append(Touch(path, "sent", turn, state))
            case FileNotice(path=path, fingerprint=state):
                found.append(Touch(path, "named", turn, state))
            case _:
                continue
    rows = json.loads(references) if references else []
    for row in rows if isinstance(rows, list) else []:
        match row:
            case {"path": str(path), "origin": "read", **rest}:
                known = rest.get("fingerprint")
                read = Fingerprint(known) if isinstance(known, str) else None
                found.append(Touch(path, "read", turn, read))
            case _:
                continue
    return found


def trail(found: Iterable[Touch]) -> tuple[Step, ...]:
    """Every file once: those that were changed first, then by how lately they were touched."""
    deeds: dict[str, dict[Deed, int]] = {}
    states: dict[str, Fingerprint | None] = {}
    names: dict[str, str] = {}
    for touch in sorted(found, key=lambda touch: touch.turn):
        known = deeds.setdefault(touch.path, {})
        known[touch.deed] = max(touch.turn, known.get(touch.deed, 0))
        if touch.was:
            names[touch.path] = touch.was
            states[touch.path] = states.get(touch.was)
        if touch.state is not None:
            states[touch.path] = touch.state
    steps = [
        Step(
            path,
            tuple((deed, done[deed]) for deed in _DEEDS if deed in done),
            states.get(path),
            names.get(path, ""),
        )
        for path, done in deeds.items()
    ]
    return tuple(
        sorted(steps, key=lambda step: ("changed" not in dict(step.deeds), -step.turn, step.path))
    )


def fitted(steps: Sequence[Step], tokens: Sequence[int], room: int) -> str:
    """The trail in ``room`` tokens: a line each as far as that goes, then names by folder, then their number.

    ``tokens`` are those of the lines. Names are taken to cost what they cost as part of a line, at most.
    """
    lines: list[str] = []
    left = room
    # Names of all the others must still fit when the next line is written.
    waiting = sum(_name_tokens(step, size) for step, size in zip(steps, tokens, strict=True))
    for step, size in zip(steps, tokens, strict=True):
        waiting -= _name_tokens(step, size)
        if size + waiting > left:
            break
        lines.append(step.line)
        left -= size
    rest = list(zip(steps, tokens, strict=True))[len(lines) :]
    named: list[str] = []
    for step, size in rest:
        if _name_tokens(step, size) > left:
            break
        named.append(step.path)
        left -= _name_tokens(step, size)
    over = len(rest) - len(named)
    return "\n".join([*lines, *by_folder(named), *([f"and {over:,} more"] if over else [])])


def by_folder(paths: Iterable[str]) -> list[str]:
    """One line for each folder with the names in it."""
    folders: dict[str, list[str]] = {}
    for path in paths:
        folder, slash, name = path.rpartition("/")
        folders.setdefault(folder + slash, []).append(_one_line(name))
    return [f"{_one_line(folder)}: {', '.join(names)}" if folder else ", ".join(names)
            for folder, names in folders.items()]  # fmt: skip


def _name_tokens(step: Step, line_tokens: int) -> int:
    """About what the bare path takes of its line."""
    return 1 + line_tokens * len(step.path) // max(1, len(step.line))


def _one_line(text: str) -> str:
    return " ".join(text.split())
