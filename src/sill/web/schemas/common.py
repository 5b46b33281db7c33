"""What several routes share."""

from typing import Annotated, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, StringConstraints

from ...core.ops import is_text

MOST_TEXT = 4_000_000  # characters of one message or file; bodies have a limit in bytes too


class Wire(BaseModel):
    """Unknown fields are an error, so that a misspelt one is not silently ignored."""

    model_config = ConfigDict(extra="forbid", frozen=True)


def _sound(text: str) -> str:
    if not is_text(text):
        raise ValueError("holds a NUL or half of a surrogate pair, which cannot be stored or sent")
    return text


Text = Annotated[str, StringConstraints(max_length=MOST_TEXT), AfterValidator(_sound)]
Message = Annotated[
    str, StringConstraints(min_length=1, max_length=MOST_TEXT), AfterValidator(_sound)
]
Name = Annotated[str, StringConstraints(min_length=1, max_length=1024), AfterValidator(_sound)]
Title = Annotated[str, StringConstraints(max_length=300), AfterValidator(_sound)]
Fingerprint = Annotated[str, StringConstraints(pattern=r"^sha256:[0-9a-f]{64}$")]
Dollars = Annotated[float | None, Field(description="US dollars; null where nobody knows")]
Moment = Annotated[int, Field(description="milliseconds since 1970, UTC")]
CountKind = Literal["exact", "bound", "estimate"]


class Problem(Wire):
    """Every error, of every route. ``code`` is for programs, ``message`` and ``hint`` for people."""

    code: str
    message: str
    hint: str = ""
    needed: int | None = Field(default=None, description="tokens, where the message does not fit")
    available: int | None = None
    retry_after: int | None = Field(default=None, description="seconds")


class Done(Wire):
    """It was done and there is nothing to say about it."""

    ok: Literal[True] = True


class Counted(Wire):
    """The certificate: how the prompt was counted, and what the server billed."""

    kind: CountKind
    tokenizer: str
    predicted: int
    actual: int | None = None
    template: str | None = None


class Used(Wire):
    prompt: int | None = None
    cached: int | None = None
    completion: int | None = None
    reasoning: int | None = None
    cache_write: int | None = None


class SourceReference(Wire):
    """A document or an earlier turn that an answer rests on."""

    path: str | None
    origin: str = Field(description="link, file, read, search or recall")
    fingerprint: str | None = None
    lines: tuple[int, int] | None = None
    excerpt: str = ""
    link: str = ""
    note: str = ""
    turn: str | None = None


class Share(Wire):
    """One group of the window: what it takes, what it was meant to have, its part of the room."""

    share: str = Field(description="system, tools, files, history or recall")
    used: int
    budget: int
    percent: float


class PlanItem(Wire):
    """One thing in the window or left out of it, and why. ``new`` tokens were not in the last request."""

    kind: str
    name: str
    tokens: int
    fate: str = Field(description="kept, sent, updated, omitted, evicted, recalled, reserved, …")
    reason: str = ""
    new: int = 0
    in_prompt: bool = True


class PlanView(Wire):
    """The ledger: how full the window is, by share and item by item."""

    tokens: int
    window: int
    room: int = Field(description="what the prompt may take: window less reply and margin")
    reply: int
    margin: int
    left: int
    percent: float
    next_evicts: bool = Field(description="the next turn would start a new epoch")
    epoch: int
    shares: list[Share]
    items: list[PlanItem]
