"""The words around a request for edits: what the model is asked, and what people are told to leave out."""

from dataclasses import dataclass

from ..core.edits import Scope
from .prepare import Prepared


@dataclass(frozen=True, slots=True)
class Wish:
    instruction: str
    scope: Scope
    trace: str = ""  # the caller's own name for it, kept with the turn


def by_priority(scope: Scope) -> list[tuple[str, str | None]]:
    return sorted(scope.documents.items(), key=lambda item: item[0] != scope.active)


def asked(wish: Wish, told: str = "") -> str:
    """The user's words, with what they point at and what the model has to know before it reads them."""
    parts = [f"({told})"] if told else []
    parts.append(wish.instruction)
    scope = wish.scope
    text = scope.documents.get(scope.active) if scope.active else None
    if text is not None and scope.selection is not None:
        start, end = scope.selection.start, scope.selection.end
        first, last = _line(text, start), _line(text, max(start, end - 1))
        parts.append(f"Selected in {scope.active}, lines {first} to {last}:\n{text[start:end]}")
    if text is not None and scope.cursor is not None:
        before = text[: scope.cursor].rsplit("\n", 1)[-1]
        line = _line(text, scope.cursor)
        parts.append(f"The cursor is in {scope.active}, line {line}, after: {before!r}")
    return "\n\n".join(parts)


def _line(text: str, position: int) -> int:
    return text.count("\n", 0, position) + 1


def too_large(names: list[str], prepared: Prepared) -> str:
    """What to drop, in a sentence; files are never cut, because an edit of a part would be a guess."""
    room = prepared.plan.budget.room
    files = {i.name: i.reason for i in prepared.plan.items if i.kind == "file"}
    reasons = "; ".join(f"{name}: {files[name].split(';')[0]}" for name in names)
    return (
        f"The files do not fit into the {room:,} tokens of the prompt. Leave out or shorten"
        f" {', '.join(names)} ({reasons}), or choose a model with a larger window."
    )
