"""A model that answers."""

from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Literal, Protocol

from ..core.certificate import Usage
from ..core.messages import ToolCall
from ..core.request import ChatRequest


@dataclass(frozen=True, slots=True)
class TextDelta:
    text: str


@dataclass(frozen=True, slots=True)
class ReasoningDelta:
    text: str


@dataclass(frozen=True, slots=True)
class ToolCallDelta:
    """More of tool call ``index``; the whole calls come with ``Ended``."""

    index: int
    name: str
    arguments: str


@dataclass(frozen=True, slots=True)
class Ended:
    """The last event of a stream, always.

    ``complete`` only if the server finished by itself, said so, and every tool call parses.
    Anything else is ``partial`` with the reason in words; its text is kept, its calls are not.
    """

    outcome: Literal["complete", "partial"]
    finish_reason: str | None
    usage: Usage | None
    tool_calls: tuple[ToolCall, ...] = ()
    reason: str = ""


ModelEvent = TextDelta | ReasoningDelta | ToolCallDelta | Ended


class Model(Protocol):
    """One model at one endpoint."""

    @property
    def name(self) -> str: ...

    @property
    def endpoint(self) -> str:
        """Its base URL, without any key."""
        ...

    def stream(self, request: ChatRequest) -> AsyncIterator[ModelEvent]:
        """The reply as it arrives, closed by one ``Ended``.

        A failure before the first payload raises a ``ProviderError``; after it, it is a partial end.
        Closing the iterator closes the connection at once.
        """
        ...
