"""What a turn's stream says. The event's name and its ``kind`` are the same."""

from typing import Annotated, Literal

from pydantic import Field

from .common import Counted, Dollars, PlanView, SourceReference, Used, Wire


class StartedEvent(Wire):
    """The turn is stored and the request is about to leave. A later one takes the place of this one."""

    kind: Literal["started"] = "started"
    chat: str
    turn: str
    certificate: Counted
    plan: PlanView


class DeltaEvent(Wire):
    """More of the answer."""

    kind: Literal["delta"] = "delta"
    text: str
    tokens: int | None = Field(
        default=None, description="of the answer so far, when it was last counted"
    )


class ThoughtEvent(Wire):
    """Reasoning beside the answer; it is not stored."""

    kind: Literal["thought"] = "thought"
    text: str


class NoticeEvent(Wire):
    """One line the user should see."""

    kind: Literal["notice"] = "notice"
    text: str
    level: Literal["info", "warning"] = "info"


class ToolEvent(Wire):
    """The model used a tool."""

    kind: Literal["tool"] = "tool"
    name: str
    arguments: str
    outcome: str = ""
    tokens: int = 0
    references: list[SourceReference] = Field(default_factory=list)


class FinishedEvent(Wire):
    """The last event of a turn that is stored. ``text`` is the whole answer."""

    kind: Literal["finished"] = "finished"
    chat: str
    turn: str
    outcome: str = Field(description="complete, partial, failed, cancelled or interrupted")
    reason: str = ""
    text: str
    model: str = ""
    endpoint: str = ""
    certificate: Counted | None = None
    usage: Used | None = None
    cost: Dollars = None
    took_ms: int | None = None
    references: list[SourceReference] = Field(default_factory=list)
    proposals: list[str] = Field(default_factory=list, description="made in this turn, by id")
    reply_tokens: int | None = Field(default=None, description="of the last answer, where known")
    plan: PlanView | None = Field(default=None, description="the ledger of the last request")


class RefusedEvent(Wire):
    """The last event of a turn of which nothing is stored."""

    kind: Literal["refused"] = "refused"
    reason: str
    needed: int
    available: int
    over_limit: bool = Field(default=False, description="it is about money, not about tokens")
    cost: Dollars = None


TurnEvent = Annotated[
    StartedEvent
    | DeltaEvent
    | ThoughtEvent
    | NoticeEvent
    | ToolEvent
    | FinishedEvent
    | RefusedEvent,
    Field(discriminator="kind"),
]


# --- The editor's stream: the seed's four events ---------------------------------------------------


class EditorMeta(Wire):
    """``meta``: the first event, once."""

    enabled: Literal[True] = True
    correlation_id: str
    turn_id: str
    assistant_message_id: str


class EditorNotice(Wire):
    """``notice``: any number of them."""

    message: str
    variant: Literal["info", "warning"] = "info"


class EditorDelta(Wire):
    """``delta``: any number of them."""

    text: str


class EditorDone(Wire):
    """``done``: the last event, once. Where ``enabled`` is false it is the only one."""

    enabled: bool
    reason: Literal["stop", "cancelled", "error"] | None = None
    message: str | None = None
    code: str | None = None
