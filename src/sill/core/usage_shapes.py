"""What any server calls usage, as one ``Usage``.

Providers disagree on three things: the names, whether cached tokens are part of the prompt number, and
whether reasoning tokens are part of the completion number. Where a total is given it settles the last two.
"""

from collections.abc import Mapping
from typing import Any

from .certificate import Usage

# Names in order of preference; dots lead into nested objects.
_PROMPT = ("prompt_tokens", "promptTokenCount", "prompt_eval_count", "prompt_n")
_COMPLETION = (
    "completion_tokens",
    "output_tokens",
    "outputTokens",
    "candidatesTokenCount",
    "eval_count",
    "predicted_n",
)
_TOTAL = ("total_tokens", "totalTokens", "totalTokenCount")
_CACHED = (
    "prompt_tokens_details.cached_tokens",
    "input_tokens_details.cached_tokens",
    "prompt_cache_hit_tokens",
    "cache_read_input_tokens",
    "cacheReadInputTokens",
    "cachedContentTokenCount",
    "cached_tokens",
    "num_cached_tokens",
    "cache_n",
)
_WRITTEN = (
    "cache_creation_input_tokens",
    "cacheWriteInputTokens",
    "prompt_tokens_details.cache_write_tokens",
    "prompt_tokens_details.cache_creation_tokens",
)
_REASONING = (
    "completion_tokens_details.reasoning_tokens",
    "output_tokens_details.reasoning_tokens",
    "thoughtsTokenCount",
    "reasoning_tokens",
)


def read_usage(body: object) -> Usage | None:
    """The usage in ``body``, or None if there is none worth the name.

    cached + uncached = prompt always holds, and reasoning is part of the completion: numbers that
    contradict that were counted beside the others, so they are added.
    """
    if not isinstance(body, Mapping):
        return None
    cached, written = _first(body, _CACHED), _first(body, _WRITTEN)
    reasoning, total = _first(body, _REASONING), _first(body, _TOTAL)
    completion = _first(body, _COMPLETION)
    prompt = _prompt(body, cached or 0, written or 0)
    if prompt is None:
        return None

    completion = completion or 0
    if total is not None:
        missing = total - prompt - completion
        if reasoning and missing == reasoning:
            completion += reasoning  # xAI and Gemini count thoughts beside the answer
        elif cached and missing == cached + (written or 0):
            prompt += missing  # proxies that copy Anthropic's numbers into OpenAI's names
    elif "candidatesTokenCount" in body:
        completion += reasoning or 0
    beside = (cached or 0) + (written or 0)
    if beside > prompt:
        prompt += beside
    if reasoning is not None and reasoning > completion:
        completion += reasoning
    return Usage(prompt, completion, cached=cached, reasoning=reasoning, cache_write=written)


def _prompt(body: Mapping[str, Any], cached: int, written: int) -> int | None:
    """Tokens of the whole prompt, cached ones included."""
    if "prompt_n" in body and "cache_n" in body:  # llama.cpp's timings
        return (_first(body, ("prompt_n",)) or 0) + cached
    if (prompt := _first(body, _PROMPT)) is not None:
        return prompt + (_first(body, ("toolUsePromptTokenCount",)) or 0)
    if (rest := _first(body, ("inputTokens",))) is not None:  # Bedrock
        return rest + cached + written
    rest = _first(body, ("input_tokens",))
    if rest is None:
        return None
    # OpenAI's Responses puts the cached ones in a detail of the whole; Anthropic counts them beside it.
    is_whole = "input_tokens_details" in body
    return rest if is_whole else rest + cached + written


def _first(body: Mapping[str, Any], names: tuple[str, ...]) -> int | None:
    for name in names:
        value: object = body
        for part in name.split("."):
            value = value.get(part) if isinstance(value, Mapping) else None
        if isinstance(value, float) and value.is_integer():
            value = int(value)
        if isinstance(value, int) and not isinstance(value, bool) and value >= 0:
            return value
    return None
