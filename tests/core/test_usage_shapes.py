"""Usage objects as servers send them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sill.core.certificate import Usage
from sill.core.usage_shapes import read_usage

SHAPES = [
    pytest.param({"prompt_tokens": 9, "completion_tokens": 3, "total_tokens": 12}, Usage(9, 3), id="OpenAI, old"),
    pytest.param(
        {
            "prompt_tokens": 2006,
            "completion_tokens": 300,
            "total_tokens": 2306,
            "prompt_tokens_details": {"cached_tokens": 1920, "audio_tokens": 0},
            "completion_tokens_details": {"reasoning_tokens": 192, "audio_tokens": 0},
        },
        Usage(2006, 300, 1920, 192),
        id="OpenAI chat",
    ),
    pytest.param(
        {
            "input_tokens": 75,
            "input_tokens_details": {"cached_tokens": 32},
            "output_tokens": 1186,
            "output_tokens_details": {"reasoning_tokens": 1024},
            "total_tokens": 1261,
        },
        Usage(75, 1186, 32, 1024),
        id="OpenAI responses",
    ),
    pytest.param(
        {
            "completion_tokens": 55,
            "prompt_tokens": 1408,
            "total_tokens": 1463,
            "prompt_tokens_details": {"cached_tokens": 1280},
            "completion_tokens_details": None,
        },
        Usage(1408, 55, 1280),
        id="Azure",
    ),
    pytest.param(
        {
            "prompt_tokens": 10339,
            "completion_tokens": 60,
            "total_tokens": 10399,
            "cost": 0.02,
            "cost_details": {"upstream_inference_cost": None},
            "prompt_tokens_details": {"cached_tokens": 10318, "cache_write_tokens": 21},
            "completion_tokens_details": {"reasoning_tokens": 0},
        },
        Usage(10339, 60, 10318, 0, 21),
        id="OpenRouter",
    ),
    pytest.param({"input_tokens": 2095, "output_tokens": 503}, Usage(2095, 503), id="Anthropic, no cache"),
    pytest.param(
        {
            "input_tokens": 50,
            "cache_creation_input_tokens": 248,
            "cache_read_input_tokens": 100000,
            "cache_creation": {"ephemeral_5m_input_tokens": 248, "ephemeral_1h_input_tokens": 0},
            "output_tokens": 503,
            "service_tier": "standard",
        },
        Usage(100298, 503, 100000, None, 248),
        id="Anthropic",
    ),
    pytest.param(
        {
            "prompt_tokens": 50,
            "completion_tokens": 10,
            "total_tokens": 310,
            "prompt_tokens_details": {"cached_tokens": 250},
        },
        Usage(300, 10, 250),
        id="Anthropic's numbers under OpenAI's names",
    ),
    pytest.param(
        {
            "promptTokenCount": 100,
            "candidatesTokenCount": 20,
            "thoughtsTokenCount": 30,
            "cachedContentTokenCount": 64,
            "totalTokenCount": 150,
        },
        Usage(100, 50, 64, 30),
        id="Gemini",
    ),
    pytest.param(
        {"promptTokenCount": 100, "candidatesTokenCount": 20, "thoughtsTokenCount": 30},
        Usage(100, 50, None, 30),
        id="Gemini without a total",
    ),
    pytest.param(
        {
            "promptTokenCount": 100,
            "toolUsePromptTokenCount": 40,
            "candidatesTokenCount": 20,
            "totalTokenCount": 160,
        },
        Usage(140, 20),
        id="Gemini with tools",
    ),
    pytest.param(
        {"prompt_tokens": 9, "completion_tokens": 3, "total_tokens": 40, "reasoning_tokens": 28},
        Usage(9, 31, None, 28),
        id="Gemini, OpenAI route",
    ),
    pytest.param(
        {
            "prompt_tokens": 37,
            "completion_tokens": 530,
            "total_tokens": 800,
            "prompt_tokens_details": {"text_tokens": 37, "cached_tokens": 8},
            "completion_tokens_details": {"reasoning_tokens": 233},
            "num_sources_used": 0,
        },
        Usage(37, 763, 8, 233),
        id="xAI",
    ),
    pytest.param(
        {
            "prompt_tokens": 5510,
            "completion_tokens": 12,
            "total_tokens": 5522,
            "prompt_cache_hit_tokens": 5504,
            "prompt_cache_miss_tokens": 6,
        },
        Usage(5510, 12, 5504),
        id="DeepSeek",
    ),
    pytest.param(
        {
            "prompt_tokens": 15,
            "total_tokens": 615,
            "completion_tokens": 600,
            "prompt_audio_seconds": None,
            "num_cached_tokens": 0,
        },
        Usage(15, 600, 0),
        id="Mistral",
    ),
    pytest.param(
        {
            "completion_tokens": 24,
            "prompt_tokens": 33,
            "total_tokens": 57,
            "prompt_tokens_details": {"cached_tokens": 32},
        },
        Usage(33, 24, 32),
        id="llama.cpp",
    ),
    pytest.param(
        {"cache_n": 236, "prompt_n": 1, "prompt_ms": 30.9, "predicted_n": 35, "predicted_ms": 661.0},
        Usage(237, 35, 236),
        id="llama.cpp timings",
    ),
    pytest.param(
        {"prompt_tokens": 20, "total_tokens": 23, "completion_tokens": 3, "prompt_tokens_details": None},
        Usage(20, 3),
        id="vLLM",
    ),
    pytest.param({"prompt_tokens": 5, "total_tokens": 5, "completion_tokens": 0}, Usage(5, 0), id="vLLM, first chunk"),
    pytest.param({"prompt_eval_count": 26, "eval_count": 298, "total_duration": 5}, Usage(26, 298), id="Ollama"),
    pytest.param(
        {"inputTokens": 30, "outputTokens": 628, "totalTokens": 658}, Usage(30, 628), id="Bedrock"
    ),
    pytest.param(
        {
            "inputTokens": 30,
            "outputTokens": 10,
            "totalTokens": 190,
            "cacheReadInputTokens": 100,
            "cacheWriteInputTokens": 50,
        },
        Usage(180, 10, 100, None, 50),
        id="Bedrock with a cache",
    ),
    pytest.param(
        {"prompt_tokens": 40, "completion_tokens": 8, "total_tokens": 48, "cached_tokens": 40},
        Usage(40, 8, 40),
        id="Moonshot",
    ),
    pytest.param(
        {
            "queue_time": 0.04,
            "prompt_tokens": 39,
            "prompt_time": 0.002,
            "completion_tokens": 2,
            "completion_time": 0.001,
            "total_tokens": 41,
        },
        Usage(39, 2),
        id="Groq",
    ),
    pytest.param({"prompt_tokens": 12, "total_tokens": 12}, Usage(12, 0), id="embeddings"),
    pytest.param({"prompt_tokens": 8.0, "completion_tokens": 2.0}, Usage(8, 2), id="whole floats"),
    pytest.param(
        {"prompt_tokens": 4, "completion_tokens": 1, "prompt_tokens_details": {"cached_tokens": 6}},
        Usage(10, 1, 6),
        id="more cached than there is",
    ),
    pytest.param({"prompt_tokens": -1, "completion_tokens": 4}, None, id="negative"),
    pytest.param({"prompt_tokens": True}, None, id="not a number"),
    pytest.param({"completion_tokens": 4}, None, id="no prompt"),
    pytest.param({}, None, id="empty"),
    pytest.param(None, None, id="null"),
    pytest.param([1], None, id="a list"),
]  # fmt: skip


@pytest.mark.parametrize("body, usage", SHAPES)
def test_usage_is_read(body, usage):
    assert read_usage(body) == usage


OBJECTS = [row.values[0] for row in SHAPES if isinstance(row.values[0], dict)]
numbers = st.none() | st.integers(-2, 300)
details = numbers | st.dictionaries(
    st.sampled_from(["cached_tokens", "reasoning_tokens", "cache_write_tokens"]), numbers
)


@st.composite
def odd_usages(draw):
    """A provider's object with other numbers in it."""
    shape = draw(st.sampled_from(OBJECTS))
    return {
        name: draw(details if isinstance(value, dict) else numbers) for name, value in shape.items()
    }


@given(odd_usages())
def test_cached_and_uncached_always_make_the_prompt(body):
    usage = read_usage(body)

    if usage is not None:
        assert usage.prompt - (usage.cached or 0) >= 0
        assert min(usage.prompt, usage.completion) >= 0
        assert (usage.cache_write or 0) + (usage.cached or 0) <= usage.prompt
        assert (usage.reasoning or 0) <= usage.completion
