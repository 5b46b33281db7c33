"""OpenAI's chat completions, as far as the gateway looks into them; what it does not know is passed on."""

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, StrictBool, StrictInt


class Loose(BaseModel):
    """Fields nobody here knows are kept."""

    model_config = ConfigDict(extra="allow", frozen=True)


class SillWish(BaseModel):
    """What a client can ask of Sill itself."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    mode: Literal["plan", "passthrough"] = "plan"


class StreamOptions(Loose):
    include_usage: bool = False


class ChatCompletionRequest(Loose):
    """A chat completion. The messages may be longer than any window."""

    model: str = Field("sill", description="`sill`, or a name from /v1/models")
    messages: list[dict[str, Any]] = Field(min_length=1)
    max_tokens: StrictInt | None = Field(None, ge=1)
    max_completion_tokens: StrictInt | None = Field(None, ge=1)
    temperature: float | None = Field(None, ge=0, le=2)
    stream: bool | None = None
    stream_options: StreamOptions | None = None
    n: StrictInt | None = Field(None, description="1")
    tools: list[dict[str, Any]] | None = None
    tool_choice: str | dict[str, Any] | None = None
    response_format: dict[str, Any] | None = None
    logprobs: bool | None = Field(None, description="not given out here")
    sill: SillWish | None = None


class SillReport(BaseModel):
    """What was done with the messages, and how well the prompt was counted."""

    mode: Literal["plan", "passthrough"]
    evicted_turns: int = Field(description="turns of the chat that are not in the prompt")
    recalled_turns: int = Field(description="turns outside the window that are quoted")
    masked_results: int = Field(description="old results of tools that one line stands for")
    epoch: int = Field(description="changes when turns are evicted; within it prompts only grow")
    predicted_tokens: int
    actual_tokens: int | None = None
    kind: Literal["exact", "bound", "estimate"]
    tokenizer: str
    window: int
    notes: list[str] = Field(default_factory=list)


class FunctionCalled(BaseModel):
    name: str
    arguments: str


class ToolCalled(BaseModel):
    index: int | None = None
    id: str
    type: Literal["function"] = "function"
    function: FunctionCalled


class AnswerMessage(BaseModel):
    role: Literal["assistant"] = "assistant"
    content: str | None
    reasoning_content: str | None = None
    tool_calls: list[ToolCalled] | None = None
    refusal: None = None


class Choice(BaseModel):
    index: Literal[0] = 0
    message: AnswerMessage
    finish_reason: str
    logprobs: None = None


class PromptDetails(BaseModel):
    cached_tokens: int = 0


class Usage(BaseModel):
    prompt_tokens: int
    completion_tokens: int
    total_tokens: int
    prompt_tokens_details: PromptDetails | None = None


class ChatCompletion(BaseModel):
    id: str
    object: Literal["chat.completion"] = "chat.completion"
    created: int
    model: str
    choices: list[Choice]
    usage: Usage | None = None
    sill: SillReport


class ModelCard(BaseModel):
    id: str
    object: Literal["model"] = "model"
    created: int = 0
    owned_by: str = "sill"
    window: int | None = None
    counts: str | None = Field(None, description="exact, bound or estimate")


class ModelList(BaseModel):
    object: Literal["list"] = "list"
    data: list[ModelCard]


class EmbeddingRequest(Loose):
    input: str | list[str] = Field(description="texts; token arrays are not taken")
    model: str = ""
    encoding_format: Literal["float", "base64"] = "float"
    dimensions: StrictInt | None = None


class Embedding(BaseModel):
    object: Literal["embedding"] = "embedding"
    index: int
    embedding: list[float] | str


class EmbeddingUsage(BaseModel):
    prompt_tokens: int = Field(description="an estimate")
    total_tokens: int


class EmbeddingList(BaseModel):
    object: Literal["list"] = "list"
    data: list[Embedding]
    model: str
    usage: EmbeddingUsage


class TokenizeRequest(Loose):
    content: str
    add_special: StrictBool = False
    parse_special: StrictBool = True
    with_pieces: StrictBool = Field(False, description="not given out here")
    model: str = "sill"


class Tokens(BaseModel):
    """As llama.cpp answers. A token is -1 where only the number of tokens is known."""

    tokens: list[int]
    kind: Literal["exact", "bound", "estimate"]


class ErrorBody(BaseModel):
    message: str
    type: str
    param: str | None = None
    code: str | None = None


class OpenAIError(BaseModel):
    error: ErrorBody
