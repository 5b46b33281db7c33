"""A model's answer in OpenAI's words, whole or as it comes."""

import json
import secrets
import time
from collections.abc import AsyncGenerator, AsyncIterator
from dataclasses import dataclass, field, replace
from typing import Any, assert_never

from ...core.certificate import Usage as Billed
from ...core.messages import ToolCall
from ...engine.relay import Begun
from ...ports import Ended, ModelEvent, ReasoningDelta, TextDelta, ToolCallDelta
from ..schemas.openai import (
    AnswerMessage,
    ChatCompletion,
    Choice,
    FunctionCalled,
    PromptDetails,
    SillReport,
    ToolCalled,
    Usage,
)
from .failures import Failure

_CUT_BY_RULE = ("length", "content_filter")  # ends that every client knows


@dataclass(frozen=True, slots=True)
class Head:
    """What every piece of one answer says."""

    begun: Begun
    notes: tuple[str, ...] = ()
    id: str = field(default_factory=lambda: "chatcmpl-" + secrets.token_hex(12))
    created: int = field(default_factory=lambda: int(time.time()))

    def report(self, usage: Billed | None = None) -> SillReport:
        fitted = self.begun.fitted
        plan, certificate = fitted.plan, fitted.certificate
        return SillReport(
            mode="passthrough" if plan is None else "plan",
            evicted_turns=fitted.evicted,
            recalled_turns=fitted.recalled,
            masked_results=fitted.masked,
            epoch=plan.epoch.number if plan else 0,
            predicted_tokens=certificate.predicted,
            actual_tokens=usage.prompt if usage else None,
            kind=certificate.kind,
            tokenizer=certificate.tokenizer,
            window=plan.budget.window if plan else 0,
            notes=[*self.notes, *self.begun.warnings],
        )

    @property
    def headers(self) -> dict[str, str]:
        report = self.report()
        return {
            "x-sill-planned": str(report.mode == "plan").lower(),
            "x-sill-evicted-turns": str(report.evicted_turns),
            "x-sill-recalled-turns": str(report.recalled_turns),
            "x-sill-predicted-tokens": str(report.predicted_tokens),
            "x-sill-kind": report.kind,
            "x-sill-epoch": str(report.epoch),
        }


@dataclass(frozen=True, slots=True)
class Said:
    """An answer that is over."""

    text: str = ""
    thought: str = ""
    ended: Ended | None = None

    @property
    def finish_reason(self) -> str:
        """``Failure`` for an answer that was cut: half of one is never passed on as a whole."""
        ended = self.ended
        if ended is None:
            raise Failure(502, "the answer broke off", "upstream_error")
        if ended.tool_calls:
            return "tool_calls"
        if ended.outcome == "complete":
            return "stop"
        if ended.finish_reason in _CUT_BY_RULE:
            return ended.finish_reason
        raise Failure(502, ended.reason or "the answer broke off", "upstream_error")


async def whole(head: Head, events: AsyncIterator[ModelEvent]) -> ChatCompletion:
    said = Said()
    async for event in events:
        said = _after(said, event)
    calls = said.ended.tool_calls if said.ended else ()
    message = AnswerMessage(
        content=said.text or (None if calls else ""),
        reasoning_content=said.thought or None,
        tool_calls=_calls(calls) or None,
    )
    usage = said.ended.usage if said.ended else None
    return ChatCompletion(
        id=head.id,
        created=head.created,
        model=head.begun.model,
        choices=[Choice(message=message, finish_reason=said.finish_reason)],
        usage=usage_of(usage),
        sill=head.report(usage),
    )


async def streamed(
    head: Head, events: AsyncIterator[ModelEvent], *, with_usage: bool
) -> AsyncGenerator[bytes, None]:
    """The answer as server-sent events. What goes wrong on the way is an event, too, and ends it."""
    said = Said()
    yield _chunk(head, {"role": "assistant", "content": ""})
    try:
        async for event in events:
            said = _after(said, event)
            match event:
                case TextDelta(text=text):
                    yield _chunk(head, {"content": text})
                case ReasoningDelta(text=text):
                    yield _chunk(head, {"reasoning_content": text})
                case ToolCallDelta() | Ended():
                    pass  # calls are passed on whole, once they are known to be
                case never:
                    assert_never(never)
        reason = said.finish_reason
    except Failure as failure:
        yield _event(failure.body)
        yield b"data: [DONE]\n\n"
        return
    ended = said.ended
    assert ended is not None
    if ended.tool_calls:
        listed = [one.model_dump() for one in _calls(ended.tool_calls, numbered=True)]
        yield _chunk(head, {"tool_calls": listed})
    report = head.report(ended.usage).model_dump()
    yield _chunk(head, {}, reason, sill=report)
    usage = usage_of(ended.usage)
    if with_usage and usage is not None:
        frame = _frame(head) | {"choices": [], "usage": usage.model_dump(), "sill": report}
        yield _event(frame)
    yield b"data: [DONE]\n\n"


def usage_of(billed: Billed | None) -> Usage | None:
    if billed is None:
        return None
    return Usage(
        prompt_tokens=billed.prompt,
        completion_tokens=billed.completion,
        total_tokens=billed.prompt + billed.completion,
        prompt_tokens_details=PromptDetails(cached_tokens=billed.cached or 0),
    )


def _after(said: Said, event: ModelEvent) -> Said:
    match event:
        case TextDelta(text=text):
            return replace(said, text=said.text + text)
        case ReasoningDelta(text=text):
            return replace(said, thought=said.thought + text)
        case ToolCallDelta():
            return said
        case Ended():
            return replace(said, ended=event)
        case never:
            assert_never(never)


def _calls(calls: tuple[ToolCall, ...], *, numbered: bool = False) -> list[ToolCalled]:
    return [
        ToolCalled(
            index=at if numbered else None,
            id=call.id,
            function=FunctionCalled(name=call.name, arguments=call.arguments),
        )
        for at, call in enumerate(calls)
    ]


def _frame(head: Head) -> dict[str, Any]:
    kind = "chat.completion.chunk"
    return {"id": head.id, "object": kind, "created": head.created, "model": head.begun.model}


def _chunk(head: Head, delta: dict[str, Any], reason: str | None = None, **more: Any) -> bytes:
    choice = {"index": 0, "delta": delta, "finish_reason": reason, "logprobs": None}
    return _event(_frame(head) | {"choices": [choice]} | more)


def _event(body: dict[str, Any]) -> bytes:
    text = json.dumps(body, ensure_ascii=False, separators=(",", ":"))
    return b"data: " + text.encode(errors="replace") + b"\n\n"
