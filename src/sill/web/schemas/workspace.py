"""Who is asking, the model, settings, costs, the index, notes to remember."""

from typing import Literal

from pydantic import Field

from .common import CountKind, Dollars, Message, Moment, Wire

Role = Literal["viewer", "contributor", "admin"]


class Session(Wire):
    owner: str
    role: Role
    workspace: str = Field(description="the folder's name")
    version: str
    multi_user: bool = False
    requested_by: str = Field(
        description="value of the X-Requested-By header that writes must carry"
    )


class ModelState(Wire):
    """The model that answers, or why there is none yet."""

    state: Literal["starting", "ready", "failed"]
    message: str = ""
    model: str = ""
    endpoint: str = ""
    window: int | None = None
    window_source: str = ""
    counts: CountKind | None = None
    tokenizer: str = ""
    counting: str = ""
    price: str = ""
    is_local: bool = False
    fallbacks: list[str] = Field(default_factory=list)


class ModelRow(Wire):
    model: str
    window: int | None
    kind: CountKind
    tokenizer: str
    why: str


class Models(Wire):
    current: ModelState
    models: list[ModelRow]


class Setting(Wire):
    key: str
    value: str = Field(description="“(set)” for a secret")
    source: str


class SettingsView(Wire):
    settings: list[Setting]


class CostSums(Wire):
    calls: int
    prompt: int
    cached: int
    completion: int
    cost: Dollars
    open: Dollars = Field(description="may come on top of it")
    unknown: int
    priceless: int
    compared: int
    wrong: int = Field(description="predictions more than a tenth away from the bill")


class CostGroup(CostSums):
    day: str
    model: str
    category: str


class ChatCost(CostSums):
    chat: str
    title: str


class Cost(Wire):
    groups: list[CostGroup]
    chats: list[ChatCost]
    total: CostSums
    limits: dict[str, float] = Field(default_factory=dict, description="in dollars, by scope")


class IndexState(Wire):
    files: int
    notes: int
    passages: int
    links: int
    embedded: int
    to_embed: int
    embedder: str
    bytes: int
    state: Literal["reading", "embedding", "ready", "failed"]
    done: int = 0
    total: int = 0
    message: str = ""
    problems: list[str]


class Note(Wire):
    id: str
    text: str
    turn: str = ""
    created_ms: Moment
    updated_ms: Moment


class Notes(Wire):
    notes: list[Note]


class NoteText(Wire):
    text: Message


class Health(Wire):
    status: Literal["ok"] = "ok"


class Readiness(Wire):
    ready: bool
    store: str
    model: str
    streams: int = Field(description="turns in flight")
