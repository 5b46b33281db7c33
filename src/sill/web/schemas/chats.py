"""Chats, turns, and asking."""

from typing import Annotated, Literal, Self

from pydantic import Field, StrictBool, model_validator

from .common import (
    Counted,
    Dollars,
    Message,
    Moment,
    Name,
    PlanView,
    SourceReference,
    Title,
    Used,
    Wire,
)


class Chat(Wire):
    id: str
    title: str
    turns: int
    created_ms: Moment
    used_ms: Moment
    pinned: bool = False
    archived: bool = False
    busy: bool = Field(default=False, description="a turn is in flight in this server")


class Chats(Wire):
    chats: list[Chat]


class NewChat(Wire):
    title: Title = ""


class ChangeChat(Wire):
    """What is given is changed."""

    title: Title | None = None
    pinned: StrictBool | None = None
    archived: StrictBool | None = None


class FoundTurn(Wire):
    chat: str
    title: str
    turn: str
    started_ms: Moment
    excerpt: str


class FoundTurns(Wire):
    results: list[FoundTurn]


class TurnMessage(Wire):
    """One message of a turn. ``hidden`` ones were put in for the model; ``label`` says what they are."""

    role: str
    text: str
    hidden: bool = False
    label: str = Field(
        default="",
        description="of a hidden message: file, delta, notice, recall, summary; else tool, call",
    )
    path: str | None = None


class ToolUse(Wire):
    name: str
    arguments: str
    result: str = ""


class Turn(Wire):
    """A turn as a person reads it. Hidden messages are only in the detail."""

    id: str
    chat: str
    parent: str | None = None
    sequence: int
    status: str
    outcome: str = ""
    question: str
    answer: str
    model: str = ""
    endpoint: str = ""
    started_ms: Moment
    took_ms: int | None = None
    certificate: Counted | None = None
    usage: Used | None = None
    references: list[SourceReference] = Field(default_factory=list)
    tools: list[ToolUse] = Field(default_factory=list)
    proposals: list[str] = Field(default_factory=list)
    on_path: bool = Field(default=True, description="part of the branch the chat goes on from")


class Turns(Wire):
    """Oldest first, of every branch; ``head`` is the turn the next one continues."""

    turns: list[Turn]
    head: str | None = None


class TurnDetail(Turn):
    """With everything that was sent for it."""

    messages: list[TurnMessage]
    plan: PlanView | None = None
    requests: int = 0
    cost: Dollars = None


class Ask(Wire):
    """A question. ``chat`` null begins a new one."""

    text: Message
    chat: str | None = None
    files: list[Name] = Field(default_factory=list, max_length=2000)


class Asked(Wire):
    """The turn runs; read its events. It goes on when nobody reads them."""

    turn: str
    chat: str
    events: str = Field(description="path of its event stream")


class Stopped(Wire):
    """``ended``: it was over before it could be stopped. ``stopping``: it was told to end, and has not yet."""

    stopped: bool = Field(description="it has ended, and this is why")
    state: Literal["stopped", "ended", "stopping"]


class PlanQuestion(Wire):
    """What would be sent; nothing is."""

    text: Annotated[str, Field(max_length=4_000_000)] = ""
    chat: str | None = None
    files: list[Name] = Field(default_factory=list, max_length=2000)


class FileToken(Wire):
    """A file of the question and what it takes. ``tokens`` 0: it is in the window already."""

    path: str
    fate: str
    tokens: int
    reason: str = ""


class LinkState(Wire):
    link: str
    path: str | None
    note: str = ""


class Planned(Wire):
    """Whether it fits, what it takes, and what it would cost."""

    fits: bool
    reason: str = ""
    needed: int
    available: int
    certificate: Counted | None = None
    plan: PlanView | None = None
    files: list[FileToken] = Field(default_factory=list)
    links: list[LinkState] = Field(default_factory=list)
    refused: list[str] = Field(
        default_factory=list, description="files that cannot be sent, and why"
    )
    cost_prompt: Dollars = None
    cost_most: Dollars = Field(default=None, description="with the whole reply reserve used")
    model: str = ""


class Branch(Wire):
    """Let the next turn continue ``turn``; null begins anew."""

    turn: str | None = None


class Pin(Wire):
    """A turn, or a file by its path: exactly one of them."""

    turn: Name | None = None
    path: Name | None = None

    @model_validator(mode="after")
    def _is_one(self) -> Self:
        if (self.turn is None) == (self.path is None):
            raise ValueError("either turn or path")
        return self


class Pins(Wire):
    """What stays in the chat's window when others leave, in the order in which it was pinned."""

    pins: list[Pin]


class EditQuestion(Wire):
    text: Message
    files: list[Name] | None = None
