"""Edit operations as values, and the strict reading of their JSON.

    {"op": "insert",  "target_file", "target": "document" | "selection" | "cursor", "content"}
    {"op": "replace", "target_file", "target": "document" | "selection", "content"}
    {"op": "delete",  "target_file", "target": "document" | "selection"}
    {…, "target": "anchor", "anchor", "before"?, "after"?, "place"?}      with insert, replace or delete
    {"op": "patch",   "target_file", "patch_lines": […]}
    {…, "target": "span", "span": [start, end]}                           written by Sill, never read from a model

``delete`` of a document removes the file; ``insert`` into a document adds lines at its end.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, assert_never

Reason = Literal[
    "not an object",
    "unknown op",
    "unknown target",
    "unknown field",
    "field missing",
    "wrong type",
    "not valid text",
    "not a file of the request",
    "no such document",
    "no selection",
    "no cursor",
    "outside the document",
    "text not found",
    "text not unique",
    "edits overlap",
    "patch unreadable",
    "patch for another file",
    "patch does not fit",
    "patch fits in several places",
    "reply unreadable",
    "reply cut off",
    "nothing proposed",
]
Place = Literal["before", "after"]


@dataclass(frozen=True, slots=True)
class Whole:
    """The document."""


@dataclass(frozen=True, slots=True)
class Selected:
    """What the user had selected."""


@dataclass(frozen=True, slots=True)
class AtCursor:
    """Where the user's cursor was."""


@dataclass(frozen=True, slots=True)
class Anchor:
    """A snippet that stands exactly once in the document, between ``before`` and ``after`` if they are given."""

    text: str
    before: str = ""
    after: str = ""


@dataclass(frozen=True, slots=True)
class Span:
    """Characters ``start`` to ``end`` of the base text."""

    start: int
    end: int


Target = Whole | Selected | AtCursor | Anchor | Span


@dataclass(frozen=True, slots=True)
class Insert:
    path: str
    target: Target
    content: str
    place: Place = "after"


@dataclass(frozen=True, slots=True)
class Replace:
    path: str
    target: Target
    content: str


@dataclass(frozen=True, slots=True)
class Delete:
    path: str
    target: Target


@dataclass(frozen=True, slots=True)
class Patch:
    path: str
    lines: tuple[str, ...]


Op = Insert | Replace | Delete | Patch


@dataclass(frozen=True, slots=True)
class HunkTrouble:
    """Which hunk of a patch, what it expected, and what stands where it pointed."""

    hunk: int
    header: str
    expected: str
    found: str


@dataclass(frozen=True, slots=True)
class Problem:
    """Why operation ``op`` (None: the reply as a whole) cannot be used."""

    op: int | None
    path: str
    reason: Reason
    detail: str = ""
    hunk: HunkTrouble | None = None

    def __str__(self) -> str:
        who = "reply" if self.op is None else f"op {self.op + 1}"
        where = f" ({self.path})" if self.path else ""
        return f"{who}{where}: {self.reason}" + (f": {self.detail}" if self.detail else "")


_TARGETS = {
    "insert": ("document", "selection", "cursor", "anchor", "span"),
    "replace": ("document", "selection", "anchor", "span"),
    "delete": ("document", "selection", "anchor", "span"),
}


def read_op(body: object, number: int, *, trusted: bool = False) -> Op | Problem:
    """The operation, or the first thing that is wrong with it. Only ``trusted`` JSON may name spans."""
    if not isinstance(body, Mapping):
        return Problem(number, "", "not an object")
    path = body.get("target_file")
    if not isinstance(path, str):
        return Problem(number, "", *_absent_or_wrong(body, "target_file"))
    if not is_text(path):
        return Problem(number, "", "not valid text", "target_file")
    kind = body.get("op")
    if kind == "patch":
        return _read_patch(body, path, number)
    if not isinstance(kind, str) or kind not in _TARGETS:
        reason: Reason = "field missing" if "op" not in body else "unknown op"
        return Problem(number, path, reason, _short(kind) if "op" in body else "op")

    name = body.get("target")
    allowed = _TARGETS[kind] if trusted else _TARGETS[kind][:-1]
    if "target" not in body:
        return Problem(number, path, "field missing", "target")
    if not isinstance(name, str) or name not in allowed:
        return Problem(number, path, "unknown target", f"{kind} on {_short(name)}")
    return _read_plain(body, kind, name, number)


def _read_plain(body: Mapping[str, Any], kind: str, name: str, number: int) -> Op | Problem:
    path: str = body["target_file"]
    texts = [] if kind == "delete" else ["content"]
    optional: list[str] = []
    if name == "anchor":
        texts.append("anchor")
        optional = ["before", "after"]
        if kind == "insert":
            optional.append("place")
    known = {
        "op",
        "target_file",
        "target",
        *texts,
        *optional,
        *(["span"] if name == "span" else []),
    }
    trouble = _fields(body, known, texts, optional)
    if trouble:
        return Problem(number, path, *trouble)

    target = _read_target(body, name)
    if target is None:
        return Problem(number, path, "wrong type", "anchor is empty" if name == "anchor" else name)
    if kind == "delete":
        return Delete(path, target)
    if kind == "replace":
        return Replace(path, target, body["content"])
    place = body.get("place", "after")
    if place not in ("before", "after"):
        return Problem(number, path, "wrong type", "place is before or after")
    return Insert(path, target, body["content"], place)


def _read_target(body: Mapping[str, Any], name: str) -> Target | None:
    match name:
        case "document":
            return Whole()
        case "selection":
            return Selected()
        case "cursor":
            return AtCursor()
        case "anchor":
            anchor = Anchor(body["anchor"], body.get("before", ""), body.get("after", ""))
            return anchor if anchor.text else None
        case _:
            span = body.get("span")
            if not isinstance(span, Sequence) or [type(number) for number in span] != [int, int]:
                return None
            return Span(span[0], span[1]) if 0 <= span[0] <= span[1] else None


def _read_patch(body: Mapping[str, Any], path: str, number: int) -> Op | Problem:
    trouble = _fields(body, {"op", "target_file", "target", "patch_lines"}, [], [])
    if trouble:
        return Problem(number, path, *trouble)
    if body.get("target", "document") != "document":
        return Problem(number, path, "unknown target", f"patch on {_short(body['target'])}")
    lines = body.get("patch_lines")
    if not isinstance(lines, list) or not all(isinstance(line, str) for line in lines):
        return Problem(number, path, *_absent_or_wrong(body, "patch_lines"))
    if not all(is_text(line) for line in lines):
        return Problem(number, path, "not valid text", "patch_lines")
    return Patch(path, tuple(lines))


def _fields(
    body: Mapping[str, Any], known: set[str], texts: Sequence[str], optional: Sequence[str]
) -> tuple[Reason, str] | None:
    unknown = sorted(str(name) for name in body.keys() - known)
    if unknown:
        return "unknown field", _short(", ".join(unknown))
    for name in (*texts, *(name for name in optional if name in body)):
        value = body.get(name)
        if not isinstance(value, str):
            return _absent_or_wrong(body, name)
        if not is_text(value):
            return "not valid text", name
    return None


def _absent_or_wrong(body: Mapping[str, Any], name: str) -> tuple[Reason, str]:
    return ("wrong type" if name in body else "field missing"), name


def is_text(value: str) -> bool:
    """Whether the string can be written as text and read back: no lone surrogates, no NUL."""
    try:
        value.encode()
    except UnicodeEncodeError:
        return False
    return "\0" not in value


def _short(value: object) -> str:
    shown = value if isinstance(value, str) else type(value).__name__
    printable = "".join(character if character.isprintable() else "?" for character in shown)
    return printable if len(printable) <= 60 else printable[:59] + "…"


def op_body(op: Op) -> dict[str, Any]:
    """The operation as JSON; ``read_op(…, trusted=True)`` gives it back."""
    match op:
        case Patch(path=path, lines=lines):
            return {"op": "patch", "target_file": path, "patch_lines": list(lines)}
        case Insert(path=path, target=target, content=content, place=place):
            body = {"op": "insert", "target_file": path, **_target_body(target), "content": content}
            return body if place == "after" else {**body, "place": place}
        case Replace(path=path, target=target, content=content):
            return {
                "op": "replace",
                "target_file": path,
                **_target_body(target),
                "content": content,
            }
        case Delete(path=path, target=target):
            return {"op": "delete", "target_file": path, **_target_body(target)}
        case _:
            assert_never(op)


def _target_body(target: Target) -> dict[str, Any]:
    match target:
        case Whole():
            return {"target": "document"}
        case Selected():
            return {"target": "selection"}
        case AtCursor():
            return {"target": "cursor"}
        case Span(start=start, end=end):
            return {"target": "span", "span": [start, end]}
        case Anchor(text=text, before=before, after=after):
            body = {"target": "anchor", "anchor": text, "before": before, "after": after}
            return {name: value for name, value in body.items() if value or name == "anchor"}
        case _:
            assert_never(target)
