"""What servers tell about their models, read from their answers. Pure: bodies in, values out."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

Server = Literal["llama.cpp", "ollama", "vllm", "lm studio", "openrouter", "unknown"]
Ability = Literal[
    "tools", "system role", "json schema", "vision", "thinking", "infill", "embeddings"
]


@dataclass(frozen=True, slots=True)
class Window:
    """``source`` says who told, in words for people."""

    tokens: int
    source: str


@dataclass(frozen=True, slots=True)
class Listed:
    """One entry of a model list."""

    id: str
    window: Window | None = None
    trained: int | None = None  # what the model was made for; the server may run it with less
    owner: str = ""
    abilities: frozenset[Ability] | None = None  # None: the list does not tell


@dataclass(frozen=True, slots=True)
class Described:
    """What a server tells about one model beyond the list."""

    window: Window | None = None
    trained: int | None = None
    abilities: frozenset[Ability] | None = None
    template: str | None = None
    slots: int | None = None
    aliases: frozenset[str] = field(default_factory=frozenset)


def read_models(body: object) -> tuple[Listed, ...] | None:
    """The entries of ``GET /v1/models``; None if the body is not such a list."""
    data = body.get("data") if isinstance(body, Mapping) else body
    if data is None and isinstance(body, Mapping) and body.get("object") == "list":
        data = []  # an Ollama without models
    if not isinstance(data, list):
        return None
    return tuple(
        _read_listed(item) for item in data if isinstance(item, Mapping) and _text(item.get("id"))
    )


def server_of(models: tuple[Listed, ...], host: str) -> Server:
    """Who answers, as far as the list gives it away."""
    owners = {model.owner for model in models}
    if host.endswith("openrouter.ai"):
        return "openrouter"
    if "llamacpp" in owners:
        return "llama.cpp"
    if "vllm" in owners:
        return "vllm"
    if "library" in owners:
        return "ollama"
    if "organization_owner" in owners:
        return "lm studio"
    return "unknown"


def read_props(body: object) -> Described | None:
    """llama.cpp's ``GET /props``: the window is per slot, as requests meet it."""
    if not isinstance(body, Mapping) or "default_generation_settings" not in body:
        return None
    settings = body["default_generation_settings"]
    tokens = _count(settings.get("n_ctx")) if isinstance(settings, Mapping) else None
    caps = body.get("chat_template_caps")
    modalities = body.get("modalities")
    abilities: set[Ability] = {"json schema"}  # by grammar, with every model
    if isinstance(caps, Mapping):
        abilities |= {"tools"} if caps.get("supports_tools") else set()
        abilities |= {"system role"} if caps.get("supports_system_role") else set()
    if isinstance(modalities, Mapping) and modalities.get("vision"):
        abilities.add("vision")
    return Described(
        window=Window(tokens, "the server's /props") if tokens else None,
        abilities=frozenset(abilities),
        template=_text(body.get("chat_template")) or None,
        slots=_count(body.get("total_slots")),
    )


def read_ollama_show(body: object) -> Described | None:
    """Ollama's ``POST /api/show``: ``num_ctx`` if the model sets one, what it was trained for, abilities."""
    if not isinstance(body, Mapping):
        return None
    info = body.get("model_info")
    info = info if isinstance(info, Mapping) else {}
    trained = next(
        (_count(value) for key, value in info.items() if str(key).endswith(".context_length")), None
    )
    set_by_model = re.search(r"^num_ctx\s+(\d+)", _text(body.get("parameters")), re.MULTILINE)
    return Described(
        window=Window(int(set_by_model[1]), "num_ctx in the Modelfile") if set_by_model else None,
        trained=trained,
        abilities=_ollama_abilities(body.get("capabilities")),
        template=_text(body.get("template")) or None,
    )


def read_ollama_running(body: object, model: str) -> Window | None:
    """Ollama's ``GET /api/ps``: the window the model is really loaded with, if it is loaded."""
    running = body.get("models") if isinstance(body, Mapping) else None
    for item in running if isinstance(running, list) else []:
        if not isinstance(item, Mapping):
            continue
        names = {_text(item.get("name")), _text(item.get("model"))}
        if names & {model, f"{model}:latest"} and (tokens := _count(item.get("context_length"))):
            return Window(tokens, "Ollama's /api/ps: the model is loaded with it")
    return None


def read_lm_studio(body: object, model: str) -> Window | None:
    """LM Studio's ``GET /api/v0/models``: the loaded window where the model is loaded."""
    listed = body.get("data") if isinstance(body, Mapping) else None
    for item in listed if isinstance(listed, list) else []:
        is_it = isinstance(item, Mapping) and item.get("id") == model
        if is_it and (tokens := _count(item.get("loaded_context_length"))):
            return Window(tokens, "LM Studio's /api/v0/models: the model is loaded with it")
    return None


def _read_listed(item: Mapping[str, Any]) -> Listed:
    meta, top = item.get("meta"), item.get("top_provider")
    places: list[tuple[object, str, str]] = [
        (meta, "n_ctx", "the server's model list"),
        (item, "max_model_len", "the server's model list (max_model_len)"),
        (top, "context_length", "the model list, for the provider that serves it"),
        (item, "context_length", "the server's model list"),
        (item, "context_window", "the server's model list"),
        (item, "max_context_length", "the server's model list"),
    ]
    window = None
    for place, key, source in places:
        tokens = _count(place.get(key)) if isinstance(place, Mapping) else None
        if tokens is not None:
            window = Window(tokens, source)
            break
    return Listed(
        id=item["id"],
        window=window,
        trained=_count(meta.get("n_ctx_train")) if isinstance(meta, Mapping) else None,
        owner=_text(item.get("owned_by")),
        abilities=_listed_abilities(item),
    )


def _listed_abilities(item: Mapping[str, Any]) -> frozenset[Ability] | None:
    parameters = item.get("supported_parameters")  # OpenRouter
    if isinstance(parameters, list):
        known: dict[str, Ability] = {
            "tools": "tools",
            "structured_outputs": "json schema",
            "reasoning": "thinking",
        }
        return frozenset(known[name] for name in parameters if name in known)
    return None


def _ollama_abilities(names: object) -> frozenset[Ability] | None:
    if not isinstance(names, list):
        return None
    known: dict[str, Ability] = {
        "tools": "tools",
        "vision": "vision",
        "thinking": "thinking",
        "insert": "infill",
        "embedding": "embeddings",
    }
    return frozenset({"json schema", *(known[name] for name in names if name in known)})


def _count(value: object) -> int | None:
    is_number = isinstance(value, int) and not isinstance(value, bool)
    return value if is_number and value > 0 else None  # type: ignore[operator, return-value]


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""
