"""What a turn tells while it runs: the same for terminal, web and library."""

from dataclasses import dataclass
from typing import Literal

from ..core.certificate import Certificate, Usage
from ..core.cost import OverLimit, PriceUnknown
from ..core.plan import Plan
from ..core.references import Reference
from ..errors import LimitReached, ProviderError

Outcome = Literal["complete", "partial", "failed", "cancelled"]
ToolVerdict = Literal["done", "cut", "failed", "lost"]


@dataclass(frozen=True, slots=True)
class Started:
    """The turn is stored and the request is about to leave.

    Another ``Started`` takes its place where it is asked in vain, and ``Refused`` takes it back.
    """

    chat: str
    turn: str
    plan: Plan
    certificate: Certificate


@dataclass(frozen=True, slots=True)
class Delta:
    """More of the answer. ``tokens`` of all of it so far come with some of the pieces."""

    text: str
    tokens: int | None = None


@dataclass(frozen=True, slots=True)
class Thought:
    """Reasoning the model shows beside its answer; never stored as the answer."""

    text: str


@dataclass(frozen=True, slots=True)
class Notice:
    """Something the user should know, in one line."""

    text: str
    level: Literal["info", "warning"] = "info"


@dataclass(frozen=True, slots=True)
class ToolUsed:
    """The model called a tool, and what it brought goes out with the next request.

    ``arguments`` is one short line. ``cut``: the model sees the beginning and where to go on; ``failed``: it reads
    what went wrong; ``lost``: the tool did its work, but there is no room to say so, and the call is not kept.
    ``tokens`` are those of what it sees.
    """

    name: str
    arguments: str
    outcome: ToolVerdict
    tokens: int
    references: tuple[Reference, ...] = ()


@dataclass(frozen=True, slots=True)
class Finished:
    chat: str
    turn: str
    outcome: Outcome
    text: str
    certificate: Certificate
    usage: Usage | None
    took_ms: int
    reason: str = ""  # why it is not complete
    model: str = ""  # who really answered, and where
    endpoint: str = ""
    cost: int | None = None  # of everything it took, in billionths of a dollar; None is unknown
    error: ProviderError | LimitReached | None = None
    references: tuple[Reference, ...] = ()  # the files that the request showed
    counted: int | None = None  # tokens of the text, where the server billed none
    plan: Plan | None = None  # of the last request, where tool rounds followed the first

    @property
    def reply_tokens(self) -> int | None:
        """Of the last call's answer: as the server billed it, thoughts and all, or as it was counted here."""
        return self.usage.completion if self.usage is not None else self.counted


@dataclass(frozen=True, slots=True)
class Refused:
    """There is no answer, and nothing of the question is stored. ``needed`` and ``available`` are tokens.

    ``money`` says more where it is not about tokens but about what may be spent. ``cost`` is what calls
    that were made in vain have cost.
    """

    needed: int
    available: int
    reason: str
    money: OverLimit | PriceUnknown | None = None
    cost: int | None = 0


Event = Started | Delta | Thought | Notice | ToolUsed | Finished | Refused
