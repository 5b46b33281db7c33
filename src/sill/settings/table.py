"""What can be set: one row for each, and three groups that come in any number."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

PROFILES = ("chat", "chat_ops", "edit", "completion")

Scalar = str | int | float | bool


@dataclass(frozen=True, slots=True)
class Spec:
    """One thing that can be set."""

    kind: type[Scalar]
    help: str
    default: Scalar | None = None
    env: tuple[str, ...] = ()
    secret: bool = False
    low: float | None = None
    high: float | None = None
    choices: tuple[str, ...] = ()


_ENDPOINT = {
    "base_url": Spec(str, "address of an OpenAI-compatible endpoint, with or without /v1"),
    "api_key": Spec(str, "key for that endpoint", secret=True),
    "model": Spec(str, "model name at that endpoint"),
    "tokenizer": Spec(str, "`auto`, an encoding such as o200k_base, or a path to a tokenizer.json"),
    "window": Spec(int, "context window in tokens, where the endpoint does not tell", low=256),
}

_TOOLS_HELP = "let chats read, search and propose by tools; `auto`: all but the bundled model's"

_PROFILE = {
    **_ENDPOINT,
    "reply": Spec(int, "most tokens of an answer; kept free for it if you set this", low=1),
    "reply_least": Spec(
        int,
        "keep only so many free for the answer, or a sixteenth of the window if that is more; it may still grow to"
        " `reply` where the prompt leaves room",
        low=1,
    ),
    "margin": Spec(int, "tokens kept free beside that, at most a twentieth of the window", low=0),
    "system_cap": Spec(int, "most tokens the system prompt may take", low=64),
    "high_water": Spec(float, "share of the room at which old turns are evicted", low=0.1, high=1),
    "low_water": Spec(float, "share of the room they are evicted down to", low=0.05, high=1),
    **{
        f"share_{name}": Spec(float, f"share of the room that is meant for {what}", low=0, high=1)
        for name, what in (
            ("system", "the system prompt"),
            ("tools", "tool schemas"),
            ("files", "files; within it they outrank every old turn"),
            ("history", "the conversation"),
            ("recall", "what left the window and is needed again"),
        )
    },
    "temperature": Spec(float, "sampling temperature", low=0, high=2),
    "layout": Spec(str, "how hidden context is sent", choices=("folded", "separate")),
    "tools": Spec(str, _TOOLS_HELP, choices=("auto", "true", "false")),
    "link_share": Spec(
        float,
        "share of the free room up to which a linked note is sent; a longer one is left to be read by tool",
        low=0,
        high=1,
    ),
    "template": Spec(str, "id of the system prompt"),
    "enabled": Spec(bool, "`false` switches edits, suggestions or completions off"),
    "format": Spec(
        str, "how a model writes down edits (`chat_ops`)", choices=("schema", "json", "blocks")
    ),
    "stream": Spec(bool, "`false` asks for whole answers, where a proxy cannot pass on a stream"),
    "connect_timeout": Spec(float, "seconds to wait for a connection", low=0.01),
    "first_timeout": Spec(float, "seconds to wait for the first word of an answer", low=0.01),
    "idle_timeout": Spec(float, "seconds of silence that end an answer", low=0.01),
    "remote_fallback": Spec(
        bool, "let a fallback elsewhere answer when the model is on this machine"
    ),
}

# One of the endpoints that are asked, in their order, when a profile's own does not answer.
FALLBACK = {
    **_ENDPOINT,
    "api_key_env": Spec(str, "name of the environment variable that holds the key"),
}
# Dollars per million tokens.
PRICE = {
    "prompt": Spec(float, "what is sent", low=0),
    "completion": Spec(float, "what is answered, thoughts included", low=0),
    "cached": Spec(float, "the part of the prompt the server had already; else as `prompt`", low=0),
    "cache_write": Spec(float, "the part it stored for later; else as `prompt`", low=0),
}
# A server of tools, by its name: a program that is started, or an address.
MCP_SERVER = {
    "command": Spec(str, "program that is started; speaks over its standard input and output"),
    "args": Spec(str, "list of its arguments"),
    "env": Spec(
        str,
        "table of variables it gets; `${NAME}` stands for one of yours. It gets none of the others but"
        " PATH, HOME and the like",
        secret=True,
    ),
    "url": Spec(str, "address of a server that runs already, instead of `command`"),
    "headers": Spec(str, "table of HTTP headers for `url`; `${NAME}` as in `env`", secret=True),
    "tools": Spec(str, "list of the tools to offer; without it all are"),
    "timeout": Spec(float, "seconds to wait for its start, and for each result", 30.0, low=0.1),
    "enabled": Spec(bool, "`false` leaves it alone", True),
}
MCP_SERVERS = "mcpServers"
_SEVERAL = ("args", "tools", "env", "headers")  # what holds more than one value
NEEDED = {"fallback": ("base_url",), "price": ("prompt", "completion")}

_GLOBAL = {
    **_ENDPOINT,
    "probe": Spec(bool, "ask the endpoint how it counts and how large its window is", True),
    "database": Spec(
        str,
        "SQLite file, or postgresql:// URL, that keeps the chats; the latter the index too",
        secret=True,
    ),
    "chat_ttl_days": Spec(
        float, "delete chats that were not used for so many days; without it none is", low=1
    ),
    "local_model": Spec(str, "path to the GGUF file of the local model"),
    "local_window": Spec(int, "context window of the local model", low=256),
    "recall": Spec(bool, "bring back what left the window when a question needs it", True),
    "tools": Spec(str, _TOOLS_HELP, "auto", choices=("auto", "true", "false")),
    "memory": Spec(bool, "let remembered facts come with the questions they bear on", True),
    "summaries": Spec(
        str,
        "how turns that leave the window are summed up: by sentences of theirs, or by the model",
        "extract",
        choices=("extract", "model", "off"),
    ),
    "document_summaries": Spec(
        str,
        "what a file is about: from its own words, or by the model where it does not say (`sill index`)",
        "extract",
        choices=("extract", "model"),
    ),
    "titles": Spec(
        str,
        "how a new chat is named: from its first question, or by the model",
        "extract",
        choices=("extract", "model", "off"),
    ),
    "include": Spec(str, "patterns of files that are searched, with commas; none: all text"),
    "exclude": Spec(str, "patterns of files and folders that are left out of the search"),
    "embedder": Spec(
        str,
        "who finds by meaning: `auto` (the bundled one if it was fetched), `none`, or an http:// address",
        "auto",
    ),
    "embed_model": Spec(str, "model name at the embedder's address"),
    "embed_api_key": Spec(
        str, "key for the embedder's address, where it is not the endpoint's", secret=True
    ),
    "instructions": Spec(
        str, "what the model should always keep in mind; part of the system prompt"
    ),
    "max_file_bytes": Spec(int, "largest file that is read", 8_000_000, low=1),
    "remote_fallback": Spec(
        bool, "let a fallback elsewhere answer when the model is on this machine", False
    ),
    "users.turns_per_minute": Spec(
        float, "questions a user of a shared server may ask in a minute", 20.0, low=0.1
    ),
    "users.streams": Spec(int, "answers a user may have written at once", 3, low=1),
    "limits.request": Spec(float, "most dollars one question may cost", low=0),
    "limits.chat": Spec(float, "most dollars one chat may cost", low=0),
    "limits.day": Spec(float, "most dollars a day may cost, from midnight on", low=0),
    "limits.user": Spec(float, "most dollars that may be spent altogether", low=0),
    "limits.warn_at": Spec(
        float, "share of a limit from which on you are warned", 0.8, low=0, high=1
    ),
    "limits.unknown_price": Spec(
        str,
        "a model whose price nobody knows, where a limit is set",
        "refuse",
        choices=("refuse", "allow"),
    ),
}

_ENVIRONMENT = {
    "base_url": ("SILL_BASE_URL", "OPENAI_BASE_URL"),
    "api_key": ("SILL_API_KEY", "OPENAI_API_KEY"),
    "database": ("SILL_DATABASE_URL",),
}


def _table() -> dict[str, Spec]:
    table = {
        key: replace(spec, env=_ENVIRONMENT.get(key, (_variable("SILL", key),)))
        for key, spec in _GLOBAL.items()
    }
    for profile in PROFILES:
        for key, spec in _PROFILE.items():
            table[f"profile.{profile}.{key}"] = replace(spec, env=(_variable("LLM", profile, key),))
    return table


def _variable(*parts: str) -> str:
    return "_".join(parts).replace(".", "_").upper()


TABLE: Mapping[str, Spec] = _table()


def spec_of(key: str) -> Spec | None:
    """What may stand under ``key``: in the table, or in one of any number of fallbacks and prices."""
    group, name = group_of(key), key.rsplit(".", 1)[-1]
    if group is None:
        return TABLE.get(key)
    if group.startswith(f"{MCP_SERVERS}."):
        return MCP_SERVER.get(key.split(".")[2])
    return (PRICE if group.startswith("prices.") else FALLBACK).get(name)


def group_of(key: str) -> str | None:
    """``prices.MODEL``, ``profile.NAME.fallback.N`` or ``mcpServers.NAME``, set as a whole; else None.

    A model's name may hold dots: what follows the last one is always the field.
    """
    match key.split("."):
        case ["prices", _, *_, _]:
            return key.rsplit(".", 1)[0]
        case ["profile", profile, "fallback", _, _] if profile in PROFILES:
            return key.rsplit(".", 1)[0]
        case [servers, name, field, *more] if servers == MCP_SERVERS:
            is_known = len(more) == 1 if field in _SEVERAL else not more and field in MCP_SERVER
            return f"{servers}.{name}" if is_known else None
        case _:
            return None


def has_general(key: str) -> bool:
    """A profile that lacks this has the general one."""
    return key in _GLOBAL
