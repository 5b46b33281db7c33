"""Search and replace blocks: code outside any JSON, which small models write more reliably.

    notes/plan.md
    <<<<<<< SEARCH
    old lines
    =======
    new lines
    >>>>>>> REPLACE

A block becomes a patch, so it finds its place by the same ladder; a search for less than whole lines
becomes an anchor.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

from .edits import Rejected, Scope
from .lines import find_snippet, split_lines
from .ops import Anchor, Delete, Op, Patch, Problem, Replace, Whole, is_text

_OPEN = re.compile(r"<{5,9} ?(SEARCH|ORIGINAL|DELETE)\s*\Z")
_DIVIDE = re.compile(r"={5,9}\s*\Z")
_CLOSE = re.compile(r">{5,9} ?(REPLACE|UPDATED|DELETE)\s*\Z")
_FENCE = re.compile(r"\s*(`{3,}|~{3,})\S*\s*\Z")


@dataclass(frozen=True, slots=True)
class Blocks:
    explanation: str
    ops: tuple[Op, ...]


def read_blocks(text: str, scope: Scope) -> Blocks | Rejected:
    """One operation per block; what stands between blocks is the explanation."""
    lines = split_lines(text).contents
    talk: list[str] = []
    ops: list[Op] = []
    problems: list[Problem] = []
    path: str | None = None
    at = 0
    while at < len(lines):
        opening = _OPEN.match(lines[at])
        if not opening:
            talk.append(lines[at])
            at += 1
            continue
        number = len(ops) + len(problems)
        path = _named(talk, scope) or path or _only(scope)
        end = next((n for n in range(at + 1, len(lines)) if _CLOSE.match(lines[n])), None)
        if end is None:
            problems.append(Problem(number, path or "", "reply cut off", "the block has no end"))
            break
        found = _block(opening[1], lines[at + 1 : end], path, scope, number)
        if isinstance(found, Problem):
            problems.append(found)
        else:
            ops.append(found)
        at = end + 1
        if at < len(lines) and _FENCE.match(lines[at]) and _drop_fence(talk):
            at += 1
    if problems:
        return Rejected(tuple(problems))
    return Blocks("\n".join(talk).strip(), tuple(ops))


def _drop_fence(talk: list[str]) -> bool:
    """Take off the fence line that stood before the block, if one did."""
    if talk and _FENCE.match(talk[-1]):
        talk.pop()
        return True
    return False


def _named(talk: list[str], scope: Scope) -> str | None:
    """The file named on one of the last two lines before a block; the line is no explanation then."""
    for back in (1, 2, 3):
        if len(talk) < back:
            break
        line = talk[-back]
        name = line.strip().strip("#*`:\"' ").removeprefix("./")
        name = re.sub(r"\A(?i:file|path)\s*[:=]\s*", "", name).strip("`*\"' ")
        if name in scope.documents:
            del talk[len(talk) - back]
            return name
        if name and not _FENCE.match(line):
            return None
    return None


def _only(scope: Scope) -> str | None:
    return next(iter(scope.documents)) if len(scope.documents) == 1 else scope.active


def _block(
    kind: str, inner: Sequence[str], path: str | None, scope: Scope, number: int
) -> Op | Problem:
    if path is None:
        return Problem(
            number, "", "field missing", "no file of the request is named before the block"
        )
    if kind == "DELETE":
        return Delete(path, Whole())
    if not all(map(is_text, inner)):
        return Problem(number, path, "not valid text")
    dividers = [at for at, line in enumerate(inner) if _DIVIDE.match(line)]
    if not dividers:
        return Problem(number, path, "reply unreadable", "the block has no ======= line")
    base = scope.documents.get(path)
    divider = _divider(dividers, inner, base)
    if divider is None:
        return Problem(
            number, path, "reply unreadable", "several ======= lines could divide the block"
        )
    return _operation(path, list(inner[:divider]), list(inner[divider + 1 :]), base, number)


def _divider(dividers: Sequence[int], inner: Sequence[str], base: str | None) -> int | None:
    """The line that parts old from new. A Markdown heading may be underlined just like it, so with several
    candidates the one whose old lines stand in the document is meant."""
    if len(dividers) == 1:
        return dividers[0]
    fitting = [at for at in dividers if base and at and _stands(base, inner[:at])]
    return fitting[0] if len(fitting) == 1 else None


def _stands(base: str, lines: Sequence[str]) -> bool:
    return bool(find_snippet(base, "\n".join(lines), limit=1))


def _operation(
    path: str, old: list[str], new: list[str], base: str | None, number: int
) -> Op | Problem:
    if not any(line.strip() for line in old):
        if base:
            return Problem(number, path, "field missing", "the SEARCH part is empty")
        return Replace(path, Whole(), "".join(line + "\n" for line in new))
    if base and _is_inside_a_line(base, old):
        return Replace(path, Anchor("\n".join(old)), "\n".join(new))
    return Patch(path, ("@@", *_diffed(old, new)))


def _is_inside_a_line(base: str, old: Sequence[str]) -> bool:
    """The search stands in the document once, but not as whole lines."""
    places = find_snippet(base, "\n".join(old))
    if len(places) != 1:
        return False
    lines = split_lines(base)
    start, end = places[0]
    return start not in lines.starts or end not in lines.ends


def _diffed(old: Sequence[str], new: Sequence[str]) -> list[str]:
    """Equal lines as context, so that the document's own lines stay as they are."""
    result: list[str] = []
    for tag, i1, i2, j1, j2 in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if tag == "equal":
            result += [" " + line for line in old[i1:i2]]
        else:
            result += ["-" + line for line in old[i1:i2]]
            result += ["+" + line for line in new[j1:j2]]
    return result
