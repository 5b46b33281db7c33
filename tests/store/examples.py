"""Turns to store: small, whole and made of everything a turn can hold."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from sill.core.certificate import Certificate, Usage
from sill.core.messages import (
    Epoch,
    FileDelta,
    FileNotice,
    FileStamp,
    FileState,
    Message,
    Pinned,
    ProposalNews,
    Recall,
    Remembered,
    Summary,
    ToolCall,
    ToolCalls,
    ToolResult,
    fingerprint,
)
from sill.core.request import ChatRequest, WireMessage, encode
from sill.ports import Closing, Opening, Store

NOTE = "# Note\n" + "\n".join(f"line {n} of the note" for n in range(40))
STAMP = FileStamp("note.md", fingerprint(NOTE))
CERTIFICATE = Certificate("exact", "words", 12, "template")
EVERYTHING = (
    Message("assistant", NOTE, FileState(STAMP)),
    Message("assistant", "@@ -1 +1 @@", FileDelta(STAMP, fingerprint("before"))),
    Message("assistant", "gone", FileNotice("old.md", "renamed", None, "new.md")),
    Message("assistant", "earlier you said", Recall(("turn-1", "turn-2"))),
    Message("assistant", "what came before", Summary("turn-2", 2)),
    Message("assistant", "keep this in mind", Pinned("turn-1")),
    Message("assistant", "remember", Remembered(("note-1", "note-2"), ("note-3",))),
    Message("assistant", "your edits were refused", ProposalNews(("proposal-1 refused",))),
    Message("user", "What does the nöte say? \x00 🙂"),
    Message("assistant", "", ToolCalls((ToolCall("c1", "read", '{"path": "note.md"}'),))),
    Message("tool", "its text", ToolResult("c1", "read")),
)


def tool_round(number: int, brought: str) -> tuple[Message, Message]:
    """A call with words before it, and what it brought."""
    call = ToolCall(f"c{number}", "read", "{}")
    return (
        Message("assistant", f"looking up {number}", ToolCalls((call,))),
        Message("tool", brought, ToolResult(call.id, "read")),
    )


def body(*texts: str, system: str = "You are kind to people and to files. " * 3) -> bytes:
    wire = [WireMessage("system", system)]
    wire += [WireMessage("user", text) for text in texts]
    return encode(ChatRequest("m", tuple(wire), 100).body())


def opening(*texts: str, epoch: Epoch | None = None, request: bytes | None = None) -> Opening:
    return Opening(
        messages=tuple(Message("user", text) for text in texts),
        model="m",
        endpoint="http://localhost/v1",
        certificate=CERTIFICATE,
        epoch=epoch or Epoch(),
        plan='{"items": ["' + '", "'.join(texts) + '"]}',
        request=body(*texts) if request is None else request,
    )


def closing(text: str = "the answer", status: str = "complete") -> Closing:
    return Closing(
        status=status,  # type: ignore[arg-type]
        messages=(Message("assistant", text),),
        outcome="stop",
        certificate=Certificate("exact", "words", 12, "template", 13),
        usage=Usage(13, 4, 2, 1, 3),
        took_ms=5,
        references='["note.md"]',
    )


async def say(store: Store, chat: str, question: str, epoch: Epoch | None = None) -> str:
    """One whole turn; its id."""
    turn = await store.begin(chat, opening(question, epoch=epoch))
    await store.finish(turn, closing(f"answer to {question}"))
    return turn


def asked(turns: Sequence[object]) -> list[str]:
    return [turn.messages[0].text for turn in turns]  # type: ignore[attr-defined]


@dataclass(frozen=True)
class Place:
    """Somewhere a store can be opened, again and again."""

    kind: str
    address: str | Path
    open: Callable[..., Awaitable[Store]]
