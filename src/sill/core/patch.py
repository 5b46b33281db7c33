"""Reading a unified diff the way models write it.

Whatever can be repaired without guessing is repaired and reported; the rest is a ``BadPatch``. A fence or
a rule inside a Markdown file survives: only what surrounds the whole patch is taken off.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from .ops import Reason

Tag = Literal[" ", "-", "+"]

_RANGES = re.compile(r"@@+\s*-(\d+)(?:,(\d+))?\s+\+(\d+)(?:,(\d+))?\s*@@+\s?(.*)\Z", re.DOTALL)
_INVISIBLE = "\u200b\u200c\u200d\u2060\ufeff"
_GIT_NOISE = re.compile(
    r"(diff --git |index [0-9a-f]|new file mode |old mode |new mode |similarity )"
)
_UNSUPPORTED = re.compile(r"(GIT binary patch|Binary files |rename (from|to) |copy (from|to) )")
_WRAPPER = re.compile(r"\*\*\* (Begin Patch|End Patch|End of File|Update File: ?(.*))\s*\Z")
_OTHER_WRAPPER = re.compile(r"\*\*\* (Add|Delete|Move)( File| to):")
_OPENING_FENCE = re.compile(r"(`{3,}|~{3,})\s*(diff|patch|udiff|text|txt)?\s*\Z", re.IGNORECASE)
_NO_NEWLINE = re.compile(r"\\ ?no newline", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class HunkLine:
    tag: Tag
    text: str
    is_open: bool = False  # the diff says that no newline follows it


@dataclass(frozen=True, slots=True)
class Hunk:
    """``start`` is the first old line, from 1, as the header claims; None if it claims nothing."""

    header: str
    start: int | None
    section: str
    lines: tuple[HunkLine, ...]

    @property
    def old(self) -> tuple[str, ...]:
        return tuple(line.text for line in self.lines if line.tag != "+")


@dataclass(frozen=True, slots=True)
class ReadPatch:
    hunks: tuple[Hunk, ...]
    normalizations: tuple[str, ...]
    creates: bool = False  # made against /dev/null


@dataclass(frozen=True, slots=True)
class BadPatch:
    reason: Reason
    detail: str


def read_patch(raw: Sequence[str], path: str) -> ReadPatch | BadPatch:
    """The hunks of a patch to ``path`` and what had to be repaired to read them."""
    notes: dict[str, None] = {}
    lines = list(_unwrapped(_cleaned(raw, notes), notes))
    trouble = next(filter(None, (_refusal(line, path) for line in lines)), None)
    if trouble:
        return trouble
    kept = [line for line in lines if not _WRAPPER.match(line)]
    if len(kept) < len(lines):
        notes["wrapper removed"] = None

    reader = _Reader(path, notes, any(line.startswith("@@") for line in kept))
    for number, line in enumerate(kept):
        trouble = reader.take(line, kept[number + 1 : number + 3])
        if trouble:
            return trouble
    hunks = tuple(filter(_changes, reader.finished()))
    if not hunks:
        return BadPatch("patch unreadable", "it holds no added or removed line")
    return ReadPatch(hunks, tuple(notes), reader.creates)


def _changes(hunk: Hunk) -> bool:
    return any(line.tag != " " for line in hunk.lines)


def _cleaned(raw: Sequence[str], notes: dict[str, None]) -> Iterator[str]:
    for item in raw:
        pieces = re.split(r"\r\n|\n|\r", re.sub(r"(\r\n|\n|\r)\Z", "", item))
        if len(pieces) > 1:
            notes["lines split"] = None
        elif pieces[0] != item:
            notes["line endings removed"] = None
        for piece in pieces:
            shown = piece.lstrip(_INVISIBLE)
            # Only in front of what the diff itself says; inside a line they may be meant.
            if (
                shown is not piece
                and shown != piece
                and shown[:1] in ("+", "-", "@", " ", "*", "`")
            ):
                notes["invisible characters removed"] = None
                piece = shown
            if piece.startswith("\u00a0"):
                notes["invisible characters removed"] = None
                piece = " " + piece[1:]
            yield piece


def _unwrapped(lines: Iterator[str], notes: dict[str, None]) -> list[str]:
    """Without blank edges, the fence around everything, and an indentation the headers share."""
    inner = _trimmed(list(lines))
    opening = _OPENING_FENCE.match(inner[0]) if inner else None
    if opening:
        notes["code fence removed"] = None
        closed = len(inner) > 1 and inner[-1].rstrip() == opening[1]
        inner = _trimmed(inner[1:-1] if closed else inner[1:])
    headers = [line for line in inner if line.lstrip().startswith("@@")]
    indent = headers[0][: len(headers[0]) - len(headers[0].lstrip())] if headers else ""
    if indent and all(line.startswith(indent) for line in headers):
        notes["indentation removed"] = None
        inner = [line.removeprefix(indent) for line in inner]
    return inner


def _trimmed(lines: list[str]) -> list[str]:
    """Leading blank lines say nothing; trailing ones may be context, and the hunk's counts tell."""
    first = next((number for number, line in enumerate(lines) if line.strip()), len(lines))
    if any(line.startswith(("```", "~~~")) for line in lines[first : first + 1]):
        last = next((n for n in range(len(lines), first, -1) if lines[n - 1].strip()), first)
        return lines[first:last]
    return lines[first:]


def _refusal(line: str, path: str) -> BadPatch | None:
    if _UNSUPPORTED.match(line):
        return BadPatch("patch unreadable", "renames, copies and binary patches are not supported")
    if _OTHER_WRAPPER.match(line):
        return BadPatch("patch unreadable", "use insert or delete on the document instead")
    wrapper = _WRAPPER.match(line)
    if wrapper and wrapper[2] and not _names(wrapper[2], path):
        return BadPatch("patch for another file", wrapper[2].strip()[:200])
    return None


def _names(header: str, path: str) -> bool:
    """Whether a header's file name means ``path``: with or without a/ or b/, or only its last parts."""
    name = header.split("\t")[0].strip().strip('"')
    name = re.sub(r"\s+\d{4}-\d\d-\d\d .*\Z", "", name)
    spellings = {name, name.removeprefix("./"), re.sub(r"\A[abiwco]/", "", name)}
    return any(path == one or (one and path.endswith("/" + one)) for one in spellings)


class _Reader:
    """Takes one line at a time and gathers hunks."""

    def __init__(self, path: str, notes: dict[str, None], has_headers: bool) -> None:
        self.creates = False
        self._has_headers = has_headers
        self._path = path
        self._notes = notes
        self._hunks: list[Hunk] = []
        self._header: Hunk | None = None
        self._claim: tuple[int, int] | None = None
        self._lines: list[HunkLine] = []
        self._bare: set[int] = (
            set()
        )  # lines that were empty, without even the space of a context line

    def take(self, line: str, following: Sequence[str]) -> BadPatch | None:
        if line.startswith("@@"):
            self._close()
            self._open(line)
            return None
        if self._is_file_header(line, following):
            self._close()
            return self._file_header(line)
        if self._header is None and _GIT_NOISE.match(line):
            return None
        if self._header is not None and _GIT_NOISE.match(line) and self._is_full():
            self._close()
            return None
        if self._header is None:
            if self._has_headers or not line.strip() or line[0] not in "+- ":
                self._stray(line)
                return None
            self._open("@@")
        self._body(line)
        return None

    def finished(self) -> list[Hunk]:
        self._close()
        return self._hunks

    def _stray(self, line: str) -> None:
        if line.strip():
            self._notes["text around the patch ignored"] = None

    def _is_full(self) -> bool:
        """The hunk has as many lines as its header claims; without a claim nobody knows."""
        if self._claim is None:
            return True
        old = sum(line.tag != "+" for line in self._lines)
        new = sum(line.tag != "-" for line in self._lines)
        return old >= self._claim[0] and new >= self._claim[1]

    def _is_file_header(self, line: str, following: Sequence[str]) -> bool:
        if line.startswith("--- "):
            if self._header is None:
                return bool(following) and following[0].startswith(("+++ ", "@@"))
            starts = [
                one.startswith(mark) for one, mark in zip(following, ("+++ ", "@@"), strict=False)
            ]
            return self._is_full() and starts == [True, True]
        # The other half of a header: a hunk always opens with @@ before its first +++.
        return line.startswith("+++ ") and self._header is None

    def _file_header(self, line: str) -> BadPatch | None:
        name = line[4:].split("\t")[0].strip()
        if name == "/dev/null":
            if line.startswith("+++"):
                return BadPatch("patch unreadable", "use delete on the document instead")
            self.creates = True
            return None
        if not _names(line[4:], self._path):
            return BadPatch("patch for another file", name[:200])
        return None

    def _open(self, header: str) -> None:
        ranges = _RANGES.match(header)
        if ranges:
            self._claim = (int(ranges[2] or 1), int(ranges[4] or 1))
            self._header = Hunk(header, int(ranges[1]), ranges[5].strip(), ())
        else:
            self._notes["hunk header repaired"] = None
            self._claim = None
            self._header = Hunk(header, None, header.strip("@").strip(), ())

    def _body(self, line: str) -> None:
        if _NO_NEWLINE.match(line):
            if self._lines:
                self._lines[-1] = replace(self._lines[-1], is_open=True)
            return
        if not line:
            self._bare.add(len(self._lines))
            self._lines.append(HunkLine(" ", ""))
        elif line[0] == "+":
            self._lines.append(HunkLine("+", line[1:]))
        elif line[0] == "-":
            self._lines.append(HunkLine("-", line[1:]))
        elif line[0] == " ":
            self._lines.append(HunkLine(" ", line[1:]))
        elif self._claim is not None and self._is_full():
            self._close()
            self._stray(line)
        else:
            self._notes["context marks added"] = None
            self._lines.append(HunkLine(" ", line))

    def _close(self) -> None:
        if self._header is None:
            return
        while self._lines and len(self._lines) - 1 in self._bare and self._has_too_many():
            self._lines.pop()
        old = sum(line.tag != "+" for line in self._lines)
        new = sum(line.tag != "-" for line in self._lines)
        if self._claim is not None and self._claim != (old, new):
            self._notes["counts repaired"] = None
        self._hunks.append(replace(self._header, lines=tuple(self._lines)))
        self._header, self._claim, self._lines, self._bare = None, None, [], set()

    def _has_too_many(self) -> bool:
        old = sum(line.tag != "+" for line in self._lines)
        return self._claim is None or old > self._claim[0]
