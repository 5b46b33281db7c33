"""Values of the engine as shapes of the wire."""

import json
from typing import Any

from ..core.certificate import Certificate, Usage
from ..core.cost import DOLLAR
from ..core.messages import (
    FileDelta,
    FileNotice,
    FileState,
    Message,
    Recall,
    ToolCalls,
    ToolResult,
)
from ..core.plan import Plan
from ..core.references import Reference
from ..core.usage import breakdown, plan_from_json
from ..ports import StoredTurn
from ..records import ChatInfo, Note
from .schemas import chats as chat_shapes
from .schemas import workspace as workspace_shapes
from .schemas.common import Counted, PlanItem, PlanView, Share, SourceReference, Used


def dollars(amount: int | None) -> float | None:
    return None if amount is None else amount / DOLLAR


def counted(certificate: Certificate | None) -> Counted | None:
    if certificate is None:
        return None
    return Counted(
        kind=certificate.kind,
        tokenizer=certificate.tokenizer,
        predicted=certificate.predicted,
        actual=certificate.actual,
        template=certificate.template,
    )


def used(usage: Usage | None) -> Used | None:
    if usage is None:
        return None
    return Used(
        prompt=usage.prompt,
        cached=usage.cached,
        completion=usage.completion,
        reasoning=usage.reasoning,
        cache_write=usage.cache_write,
    )


def plan_view(plan: Plan) -> PlanView:
    added = breakdown(plan)
    return PlanView(
        tokens=added.used,
        window=added.window,
        room=added.room,
        reply=added.reply,
        margin=added.margin,
        left=added.left,
        percent=added.percent,
        next_evicts=added.next_evicts,
        epoch=plan.epoch.number,
        shares=[
            Share(share=row.share, used=row.used, budget=row.budget, percent=row.percent)
            for row in added.rows
        ],
        items=[
            PlanItem(
                kind=item.kind,
                name=item.name,
                tokens=item.tokens,
                fate=item.fate,
                reason=item.reason,
                new=item.new,
                in_prompt=item.in_prompt,
            )
            for item in plan.items
        ],
    )


def stored_plan(text: str) -> PlanView | None:
    """The plan of a stored turn; None for one that another version wrote."""
    try:
        return plan_view(plan_from_json(text)) if text else None
    except (ValueError, KeyError, TypeError):
        return None


def reference(one: Reference) -> SourceReference:
    return SourceReference(
        path=one.path,
        origin=one.origin,
        fingerprint=one.fingerprint,
        lines=one.lines,
        excerpt=one.excerpt,
        link=one.link,
        note=one.note,
        turn=one.turn,
    )


def stored_references(text: str) -> list[SourceReference]:
    rows: Any = json.loads(text) if text else []
    known = SourceReference.model_fields.keys()
    return [
        SourceReference.model_validate({key: row[key] for key in row.keys() & known})
        for row in rows
        if isinstance(row, dict) and "origin" in row
    ]


def chat(info: ChatInfo, busy: bool = False) -> chat_shapes.Chat:
    return chat_shapes.Chat(
        id=info.id,
        title=info.title,
        turns=info.turns,
        created_ms=info.created_ms,
        used_ms=info.used_ms,
        pinned=info.pinned,
        archived=info.archived,
        busy=busy,
    )


def note(one: Note) -> workspace_shapes.Note:
    return workspace_shapes.Note(
        id=one.id,
        text=one.text,
        turn=one.turn,
        created_ms=one.created_ms,
        updated_ms=one.updated_ms,
    )


# --- Turns ----------------------------------------------------------------------------------------


def question_of(turn: StoredTurn) -> str:
    """What the user said in it."""
    asked = (m.text for m in turn.messages if m.role == "user" and not m.hidden)
    return next(asked, "")


def answer_of(turn: StoredTurn) -> str:
    """Everything the model said in it, tool rounds included."""
    said = (m.text for m in turn.messages if m.role == "assistant" and not m.hidden)
    return "\n\n".join(filter(None, said))


def tools_of(turn: StoredTurn) -> list[chat_shapes.ToolUse]:
    results = {
        message.carries.call_id: message.text
        for message in turn.messages
        if isinstance(message.carries, ToolResult)
    }
    return [
        chat_shapes.ToolUse(
            name=call.name, arguments=call.arguments, result=results.get(call.id, "")
        )
        for message in turn.messages
        if isinstance(message.carries, ToolCalls)
        for call in message.carries.calls
    ]


def message(one: Message) -> chat_shapes.TurnMessage:
    label, path = labelled(one)
    return chat_shapes.TurnMessage(
        role=one.role, text=one.text, hidden=one.hidden, label=label, path=path
    )


def labelled(one: Message) -> tuple[str, str | None]:
    """What a message carries beside its text, in a word, and the file it is about."""
    match one.carries:
        case None:
            return "", None
        case FileState(stamp=stamp):
            return "file", stamp.path
        case FileDelta(stamp=stamp):
            return "delta", stamp.path
        case FileNotice(path=path):
            return "notice", path
        case Recall():
            return "recall", None
        case ToolCalls():
            return "call", None
        case ToolResult(name=name):
            return f"tool {name}", None
        case other:
            return _other(other)


def _other(carried: object) -> tuple[str, str | None]:
    """What later versions carry is named by its kind."""
    path = getattr(carried, "path", None)
    return type(carried).__name__.lower(), path if isinstance(path, str) else None


def turn(one: StoredTurn, on_path: bool, proposals: list[str]) -> chat_shapes.Turn:
    return chat_shapes.Turn(**turn_fields(one, on_path, proposals))


def turn_fields(one: StoredTurn, on_path: bool, proposals: list[str]) -> dict[str, Any]:
    return {
        "id": one.id,
        "chat": one.chat,
        "parent": one.parent,
        "sequence": one.sequence,
        "status": one.status,
        "outcome": one.outcome,
        "question": question_of(one),
        "answer": answer_of(one),
        "model": one.model,
        "endpoint": one.endpoint,
        "started_ms": one.started_ms,
        "took_ms": one.took_ms,
        "certificate": counted(one.certificate),
        "usage": used(one.usage),
        "references": stored_references(one.references),
        "tools": tools_of(one),
        "proposals": proposals,
        "on_path": on_path,
    }
