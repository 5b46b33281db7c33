"""Text at the cursor, and another text for a selection. Nothing of it is stored but what it cost."""

from fastapi import APIRouter, Request
from starlette.responses import Response

from ..app.complete import TextProfile
from ..app.service import Desk
from ..engine.complete import Spot, Suggested
from ..engine.streams import Stop
from ..engine.writing import Writing
from ..errors import SillError
from .depend import TheDesk, contributor
from .editor import reason_code
from .schemas.editor import CompletionReply, CompletionRequest, SuggestReply, SuggestRequest
from .stream import while_connected
from .tracing import correlation_id, measure

router = APIRouter(prefix="/api/v1/editor", tags=["editor"], dependencies=[contributor])


@router.post("/completions")
async def complete(
    request: Request, response: Response, desk: TheDesk, body: CompletionRequest
) -> CompletionReply:
    """What to put at the cursor; stops when the caller goes away."""
    response.headers["X-Correlation-ID"] = correlation_id(request)
    writer = await _writer(desk, "completion")
    if isinstance(writer, SillError):
        return CompletionReply(
            completion="",
            enabled=False,
            outcome="disabled",
            code=reason_code(writer),
            message=str(writer),
        )
    spot = Spot(body.active_file, body.prefix, body.suffix)
    stop = Stop()
    with desk.turns.guest(stop):
        async with while_connected(request, stop):
            found = await writer.complete(spot, stop)
    _measured(request, response, writer, found, spot)
    is_on = found.outcome != "disabled"
    return CompletionReply(
        completion=found.text,
        enabled=is_on,
        outcome=found.outcome,
        code=None if is_on else "disabled",
        message=found.message,
        notices=list(found.notices),
    )


@router.post("/edits")
async def suggest(
    request: Request, response: Response, desk: TheDesk, body: SuggestRequest
) -> SuggestReply:
    """Another text for the selection, as the instruction says; the selection is sent whole or not at all."""
    response.headers["X-Correlation-ID"] = correlation_id(request)
    writer = await _writer(desk, "edit")
    if isinstance(writer, SillError):
        return SuggestReply(
            suggestion="",
            enabled=False,
            outcome="disabled",
            code=reason_code(writer),
            message=str(writer),
        )
    spot = Spot(body.active_file, body.prefix, body.suffix, body.selection)
    stop = Stop()
    with desk.turns.guest(stop):
        async with while_connected(request, stop):
            found = await writer.suggest(body.instruction, spot, stop=stop)
    _measured(request, response, writer, found, spot, instruction_chars=len(body.instruction))
    is_on = found.outcome != "disabled"
    return SuggestReply(
        suggestion=found.text,
        enabled=is_on,
        outcome=found.outcome,
        code=None if is_on else "disabled",
        message=found.message,
        notices=list(found.notices),
    )


async def _writer(desk: Desk, profile: TextProfile) -> Writing | SillError:
    try:
        return await desk.writer(profile)
    except SillError as error:
        return error


def _measured(
    request: Request,
    response: Response,
    writer: Writing,
    found: Suggested,
    spot: Spot,
    **more: int,
) -> None:
    measure(
        request,
        response,
        outcome=found.outcome,
        system_prompt_chars=len(writer.prompt.composed()),
        prefix_chars=len(spot.prefix),
        suffix_chars=len(spot.suffix),
        selection_chars=len(spot.selection),
        **more,
    )
