"""Formats by name, and what each adds to a text."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, assert_never

from ..certificate import Kind
from . import open_weights, openai
from .chat import Chat, ChatMessage, Measure

Format = Literal[
    "gpt-3.5",
    "gpt-4",
    "gpt-4o",
    "o1-mini",
    "harmony",
    "gpt-oss",
    "mistral",
    "mistral-small",
    "tekken",
    "chatml",
    "deepseek",
    "llama3",
    "llama4",
    "agent",
]

AGENT_TOKENS = 16_384
"""Services that search and plan by themselves bill their own prompts too; nobody can know how many."""


@dataclass(frozen=True, slots=True)
class Billed:
    """What a service will bill for a chat. Exact only for plain talk in a format that is known to the token."""

    tokens: int
    kind: Kind


def billed(chat: Chat, style: Format, measure: Measure) -> Billed:
    """The prompt tokens of ``chat``; never below the bill where ``kind`` is exact or bound."""
    kind: Kind = "estimate" if style == "agent" else "exact" if _known(chat, style) else "bound"
    return Billed(_total(chat, style, measure), kind)


def _total(chat: Chat, style: Format, measure: Measure) -> int:
    match style:
        case "gpt-3.5":
            return openai.classic(chat, measure, "early", result=0)
        case "gpt-4":
            return openai.classic(chat, measure, "late", result=0)
        case "gpt-4o":
            return openai.classic(chat, measure, "late", result=3)
        case "o1-mini":
            return openai.harmony(chat, measure) + max(8, 4 * len(chat.messages))
        case "harmony":
            return openai.harmony(chat, measure)
        case "gpt-oss":
            return openai.harmony(chat, measure) + measure(open_weights.OSS_SYSTEM) + 8
        case "mistral":
            return open_weights.mistral(chat, measure)
        case "mistral-small" | "tekken":
            extra = open_weights.MISTRAL_SMALL_EXTRA
            return open_weights.mistral(chat, measure, extra=extra)
        case "chatml":
            return open_weights.chatml(chat, measure)
        case "deepseek":
            return open_weights.deepseek(chat, measure)
        case "llama3":
            return open_weights.llama3(chat, measure)
        case "llama4":
            return open_weights.llama4(chat, measure)
        case "agent":
            return open_weights.chatml(chat, measure) + AGENT_TOKENS
        case never:
            assert_never(never)


_PLAIN = frozenset({"system", "developer", "user", "assistant"})


def _known(chat: Chat, style: Format) -> bool:
    """Plain talk in a format whose recorded bills all come out to the token."""
    exact = style in {"gpt-3.5", "gpt-4", "gpt-4o", "harmony", "mistral", "mistral-small"}
    plain = not chat.tools and not chat.reply and all(map(_is_plain, chat.messages))
    return exact and plain


def _is_plain(message: ChatMessage) -> bool:
    # Several texts are billed as one wherever that is recorded; one record is not what was billed any more: a bound.
    calls = message.calls or message.legacy_call
    return message.role in _PLAIN and not calls and message.images == 0 and message.parts <= 1


def message_overhead(style: Format, measure: Measure) -> tuple[Mapping[str, int], int, int]:
    """Per role, per request and per tool call: never less than the format adds to the bare texts."""
    roles = ("system", "user", "assistant", "tool")
    match style:
        case "gpt-3.5" | "gpt-4" | "gpt-4o":
            return dict.fromkeys(roles, 4) | {"tool": 10}, 4, 8
        case "harmony":
            return dict.fromkeys(roles, 4) | {"tool": 8}, 2, 14
        case "o1-mini":
            return dict.fromkeys(roles, 8) | {"tool": 12}, 10, 14
        case "gpt-oss":
            constant = 2 + measure(open_weights.OSS_SYSTEM) + 8
            return dict.fromkeys(roles, 4) | {"tool": 8}, constant, 14
        case "mistral" | "mistral-small" | "tekken":
            extra = 0 if style == "mistral" else open_weights.MISTRAL_SMALL_EXTRA
            return dict.fromkeys(roles, 2) | {"tool": 19}, 1 + extra, 19
        case "chatml":
            return dict.fromkeys(roles, 5) | {"tool": 11}, 7, 16
        case "deepseek":
            return dict.fromkeys(roles, 2) | {"tool": 8}, 4, 20
        case "llama3":
            return dict.fromkeys(roles, 5), 31, 14
        case "llama4":
            return dict.fromkeys(roles, 5), 5, 14
        case "agent":
            return dict.fromkeys(roles, 5) | {"tool": 11}, 7 + AGENT_TOKENS, 16
        case never:
            assert_never(never)
