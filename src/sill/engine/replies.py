"""What a model has said in one turn, over all its calls, and how the turn is closed with it."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, field

from ..core.messages import Message, Status
from ..core.references import Reference, rows_of
from ..errors import LimitReached, Overflow, ProviderError, Unsupported
from ..ports import Closing, Ended
from .events import Finished, Notice, Outcome, Refused
from .prepare import READER, Prepared

GAP = "\n\n"  # between what was said before a tool round and after it


@dataclass(slots=True)
class Reply:
    """What has come back so far; ``sent`` is the request that was sent last."""

    started: float
    sent: Prepared
    text: str = ""  # of the present call
    before: str = ""  # of the calls before it, as it was shown
    dropped: str = ""  # said before tool calls that there was no room for
    ended: Ended | None = None
    error: ProviderError | LimitReached | None = field(default=None)

    @property
    def shown(self) -> str:
        """Everything that was said, as people have seen it."""
        return joined(self.before, self.text)

    @property
    def last_words(self) -> str:
        """The turn's last message: what was said since the last tool round that was kept."""
        return joined(self.dropped, self.text)

    @property
    def verdict(self) -> tuple[Outcome, str]:
        if self.error is not None:
            return ("partial" if self.shown else "failed"), str(self.error)
        if self.ended is None:
            return "cancelled", "stopped; what came is kept"
        if self.ended.outcome == "complete":
            return "complete", ""
        return "partial", self.ended.reason or "the answer was cut"

    def go_on(self, *, kept: bool) -> None:
        """Another call may follow; ``kept`` says that what was said stands before a round of its own."""
        self.before, self.dropped = self.shown, "" if kept else self.last_words
        self.text, self.ended = "", None


def joined(*texts: str) -> str:
    return GAP.join(filter(None, texts))


def refused(reply: Reply, cost: int | None) -> Refused | None:
    """Why there is nothing to store: the endpoint has no room for it, or others were faster to spend."""
    sent = reply.sent
    needed, available = sent.certificate.predicted, sent.plan.budget.room
    if reply.shown:
        return None
    match reply.error:
        case Overflow(prompt=prompt, window=window):
            needed, available = prompt or needed, window or available
        case LimitReached():
            pass
        case Unsupported() if sent.request.tools:
            pass
        case _:
            return None
    return Refused(needed, available, str(reply.error), cost=cost)


def omissions(ready: Prepared) -> list[Notice]:
    """What the user should know of what is not in the request."""
    files = [
        Notice(f"{item.name} is not sent whole: {item.reason}")
        if READER in item.reason
        else Notice(f"{item.name} is not shown to the model: {item.reason}", "warning")
        for item in ready.plan.items
        if item.kind == "file" and item.fate == "omitted" and item.new
    ]
    files += [
        Notice(f"turn {item.name} is not shown to the model: {item.reason}", "warning")
        for item in ready.plan.items
        if item.kind == "pin" and item.fate == "omitted"
    ]
    if not ready.missed:
        return files
    share = f"tool schemas may take {ready.plan.budget.tools:,} tokens"
    return [*files, Notice(f"not offered to the model, as {share}: {', '.join(ready.missed)}")]


_STATUS: dict[Outcome, Status] = {
    "complete": "complete",
    "partial": "partial",
    "failed": "failed",
    "cancelled": "cancelled",
}


def stored_references(references: Sequence[Reference]) -> str:
    return json.dumps(rows_of(references)) if references else ""


def closing(
    finished: Finished, reply: Reply, rounds: Sequence[Message], first: Prepared
) -> Closing:
    """The end of a turn that began with the request ``first``; ``rounds`` are its tool rounds."""
    words, sent = reply.last_words, reply.sent
    spoke = words or finished.outcome == "complete"
    return Closing(
        status=_STATUS[finished.outcome],
        messages=(*rounds, *([Message("assistant", words)] if spoke else ())),
        outcome=finished.reason,
        certificate=finished.certificate,
        usage=finished.usage,
        took_ms=finished.took_ms,
        references=stored_references(finished.references),
        epoch=sent.plan.epoch if sent.plan.epoch != first.plan.epoch else None,
    )
