"""The editor's conversation: one for each tool, about files that the editor holds itself."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing, asynccontextmanager, suppress
from datetime import UTC, datetime
from typing import Annotated, Literal

from fastapi import APIRouter, Path, Query, Request
from starlette.responses import Response

from ..app.build import App
from ..app.running import Failed, Interrupted, Mark, Running
from ..app.service import EDITOR, Desk
from ..core.documents import Document
from ..core.usage import trace_of
from ..engine.events import Delta, Finished, Notice, Refused, Started, Thought, ToolUsed
from ..engine.prepare import Question
from ..errors import ProviderError, SettingsError, SillError, TurnInProgress, UsageError
from ..ports import StoredTurn
from . import convert
from .depend import TheDesk, contributor
from .schemas.editor import EditorChatRequest, EditorHistory, EditorMessage
from .schemas.events import EditorDelta, EditorDone, EditorMeta, EditorNotice
from .stream import EventStream, sse
from .tracing import correlation_id
from .turns import begin

router = APIRouter(prefix="/api/v1/editor", tags=["editor"])
ToolId = Annotated[str, Path(min_length=1, max_length=200)]
STOP_SECONDS = 5.0  # for a turn that nobody reads any more to make room for the next

_DISABLED = "Chat is switched off in the settings."


@router.post(
    "/tools/{tool_id}/chat",
    status_code=200,
    response_class=EventStream,
    dependencies=[contributor],
)
async def chat(
    request: Request, desk: TheDesk, tool_id: ToolId, body: EditorChatRequest
) -> Response:
    """A question about the editor's files, answered as events ``meta``, ``notice``, ``delta``, ``done``."""
    correlation = correlation_id(request)
    headers = {"x-correlation-id": correlation}
    app = await capability(desk, "chat", _DISABLED, EDITOR)
    if isinstance(app, EditorDone):
        return EventStream(_only(app), headers)
    await _make_room(desk, tool_id)
    async with conversation(desk, tool_id) as thread:
        running = await begin(desk, app, thread, _question(body, correlation))
    if body.base_version_id is not None:
        await desk.store.change_chat(thread, title=body.base_version_id)
    return EventStream(_told(running, correlation), headers)


def workspace_of(tool_id: str) -> str:
    """The name under which the store keeps a tool's conversation, apart from the folder's chats."""
    return f"editor:{tool_id}"


def _question(body: EditorChatRequest, trace: str) -> Question:
    files = body.virtual_files or {}
    order = sorted(files, key=lambda path: path != body.active_file)
    documents = tuple(Document(path, files[path]) for path in order)
    return Question(body.message, documents, trace=trace)


async def capability(desk: Desk, profile: str, disabled: str, name: str = "") -> App | EditorDone:
    """The application for a profile, or the one event that says why there is none."""
    if desk.settings.of_profile(profile, "enabled", bool) is False:
        return EditorDone(enabled=False, message=disabled, code="disabled")
    try:
        return await desk.app(name or profile)
    except SillError as error:
        return EditorDone(enabled=False, message=str(error), code=reason_code(error))


def reason_code(error: SillError) -> str:
    if isinstance(error, SettingsError):
        return "misconfigured"
    return "unreachable" if isinstance(error, ProviderError) else "unavailable"


@asynccontextmanager
async def conversation(desk: Desk, tool_id: str) -> AsyncIterator[str]:
    """The tool's one chat. One that is made for this and in which nothing was said is taken away again."""
    store, workspace = desk.store, workspace_of(tool_id)
    found = await store.latest_chat(workspace)
    made = None if found is not None else await store.new_chat(workspace)
    if made is not None:
        # Two first questions at the same moment make two chats; the older one is the tool's.
        all_made = await store.chats(workspace)
        found = min(all_made, key=lambda chat: (chat.created_ms, chat.id)).id
        if found != made:
            await store.delete_chat(made)
    assert found is not None
    try:
        yield found
    finally:
        if found == made:
            await asyncio.shield(_tidy(desk, found))


async def _tidy(desk: Desk, chat: str) -> None:
    if not await desk.store.turns(chat, 1):
        with suppress(TurnInProgress, UsageError):  # somebody else speaks in it
            await desk.store.delete_chat(chat)


async def _make_room(desk: Desk, tool_id: str) -> None:
    """A turn whose reader has gone gives way to the new question."""
    thread = await desk.store.latest_chat(workspace_of(tool_id))
    running = desk.turns.in_chat(desk.owner, thread) if thread is not None else None
    if running is not None and not running.readers:
        running.stop.set()
        async with aclosing(running.follow(running.mark)) as rest:
            try:
                async with asyncio.timeout(STOP_SECONDS):
                    async for _ in rest:
                        pass
            except TimeoutError:
                pass  # the store says that it is busy


async def _only(done: EditorDone) -> AsyncGenerator[bytes, None]:
    yield _event("done", done)


async def _told(running: Running, correlation: str) -> AsyncGenerator[bytes, None]:
    turn = running.ids[-1]
    yield _event(
        "meta",
        EditorMeta(
            correlation_id=correlation, turn_id=turn, assistant_message_id=f"{turn}:assistant"
        ),
    )
    async with aclosing(running.follow(Mark())) as marked:
        async for _, event in marked:
            match event:
                case Delta(text=text):
                    yield _event("delta", EditorDelta(text=text))
                case Notice(text=text, level=level):
                    yield _event("notice", EditorNotice(message=text, variant=level))
                case ToolUsed(name=name):
                    yield _event("notice", EditorNotice(message=f"used {name}"))
                case Started() | Thought():
                    pass
                case Finished(outcome=outcome, reason=why):
                    yield _event("done", _done(outcome, why))
                case Interrupted(finished=finished):
                    yield _event("done", _done("interrupted", finished.reason))
                case Refused(reason=why):
                    yield _event("done", EditorDone(enabled=True, reason="error", message=why))
                case Failed(error=error):
                    failed = EditorDone(enabled=True, reason="error", message=str(error))
                    yield _event("done", failed)


def _done(outcome: str, why: str) -> EditorDone:
    match outcome:
        case "complete":
            return EditorDone(enabled=True, reason="stop")
        case "cancelled":
            return EditorDone(enabled=True, reason="cancelled")
        case _:
            return EditorDone(enabled=True, reason="error", message=why or outcome)


def _event(
    name: Literal["meta", "notice", "delta", "done"],
    body: EditorMeta | EditorNotice | EditorDelta | EditorDone,
) -> bytes:
    return sse(name, body, without_none=True)


# --- History --------------------------------------------------------------------------------------


@router.get("/tools/{tool_id}/chat")
async def history(
    desk: TheDesk, tool_id: ToolId, limit: Annotated[int, Query(ge=1, le=200)] = 60
) -> EditorHistory:
    """The last messages of the conversation, oldest first. Hidden ones are never in it."""
    thread = await desk.store.latest_chat(workspace_of(tool_id))
    if thread is None:
        return EditorHistory(messages=[])
    info = await desk.store.chat(thread)
    found = await desk.store.turns(thread, limit)
    messages = [one for turn in found for one in await _messages(desk, turn)]
    return EditorHistory(
        messages=messages[-limit:], base_version_id=(info.title if info else "") or None
    )


async def _messages(desk: Desk, turn: StoredTurn) -> list[EditorMessage]:
    is_open = turn.status == "open"
    answer = await desk.store.partial(turn.id) if is_open else convert.answer_of(turn)
    said: list[tuple[Literal["user", "assistant"], str]] = [
        ("user", convert.question_of(turn)),
        ("assistant", answer),
    ]
    statuses: dict[str, Literal["pending", "complete", "failed", "cancelled"]] = {
        "open": "pending",
        "complete": "complete",
        "cancelled": "cancelled",
    }
    status = statuses.get(turn.status, "failed")
    return [
        EditorMessage(
            message_id=f"{turn.id}:{role}",
            turn_id=turn.id,
            role=role,
            content=text,
            created_at=datetime.fromtimestamp(turn.started_ms / 1000, UTC).isoformat(),
            status=status,
            correlation_id=trace_of(turn.plan) or None,
            failure_outcome=(turn.outcome or turn.status) if status == "failed" else None,
        )
        for role, text in said
    ]


@router.delete("/tools/{tool_id}/chat", status_code=204, dependencies=[contributor])
async def clear(desk: TheDesk, tool_id: ToolId) -> Response:
    """Forget the conversation. 409 while an answer is being written."""
    for chat in await desk.store.chats(workspace_of(tool_id)):
        await desk.store.delete_chat(chat.id)
    return Response(status_code=204)
