"""What servers say when they refuse, and what it means. Every body is one that a provider really sends."""

from datetime import UTC, datetime
from email.utils import format_datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sill.core.faults import Fault, classify, classify_object, error_in, retry_after

NOW = datetime(2026, 11, 1, 12, tzinfo=UTC)


def overflow(window=None, prompt=None):
    return "overflow", window, prompt


BODIES = [
    pytest.param(
        400,
        b'{"error":{"message":"This model\'s maximum context length is 8192 tokens. However, your messages '
        b'resulted in 8227 tokens. Please reduce the length of the messages.","type":"invalid_request_error",'
        b'"param":"messages","code":"context_length_exceeded"}}',
        overflow(8192, 8227),
        id="OpenAI",
    ),
    pytest.param(
        400,
        b'{"error":{"message":"This model\'s maximum context length is 4097 tokens, however you requested 4120 '
        b'tokens (3120 in the messages, 1000 in the completion). Please reduce the length of the messages or '
        b'completion.","type":"invalid_request_error","param":"messages","code":"context_length_exceeded"}}',
        overflow(4097, 3120),
        id="OpenAI, older",
    ),
    pytest.param(
        200,
        b'{"type":"error","sequence_number":2,"error":{"type":"invalid_request_error","code":'
        b'"context_length_exceeded","message":"Your input exceeds the context window of this model. Please '
        b'adjust your input and try again.","param":"input"}}',
        overflow(),
        id="OpenAI Responses, inside a 200",
    ),
    pytest.param(
        400,
        b'{"error":{"code":400,"message":"request (9031 tokens) exceeds the available context size (4096 tokens), '
        b'try increasing it","type":"exceed_context_size_error","n_prompt_tokens":9031,"n_ctx":4096}}',
        overflow(4096, 9031),
        id="llama.cpp",
    ),
    pytest.param(
        500,
        b'{"error":{"code":500,"message":"the request exceeds the available context size. try increasing the '
        b'context size or enable context shift","type":"server_error"}}',
        overflow(),
        id="llama.cpp before September 2025",
    ),
    pytest.param(
        400,
        b'{"error":{"message":"This model\'s maximum context length is 1024 tokens. However, you requested 10 output '
        b'tokens and your prompt contains at least 1015 input tokens, for a total of at least 1025 tokens. Please '
        b'reduce the length of the input prompt or the number of requested output tokens. (parameter=input_tokens, '
        b'value=1015)","type":"BadRequestError","param":"input_tokens","code":400}}',
        overflow(1024, 1015),
        id="vLLM",
    ),
    pytest.param(
        400,
        b'{"error":{"message":"You passed 1015 input tokens and requested 10 output tokens. However, the model\'s '
        b'context length is only 1024 tokens, resulting in a maximum input length of 1014 tokens.",'
        b'"type":"BadRequestError","param":null,"code":400}}',
        overflow(1024, 1015),
        id="vLLM 0.16",
    ),
    pytest.param(
        400,
        b'{"object":"error","message":"This model\'s maximum context length is 2048 tokens. However, you requested '
        b'2062 tokens (1806 in the messages, 256 in the completion).","type":"BadRequestError","code":400}',
        overflow(2048, 1806),
        id="vLLM without a wrapper",
    ),
    pytest.param(
        400,
        b'{"error":{"message":"the prompt is longer than the context length currently available to the model; '
        b'shorten the prompt, increase the context length","type":"invalid_request_error"}}',
        overflow(),
        id="Ollama, OpenAI route",
    ),
    pytest.param(
        400,
        b'{"error":"the prompt is longer than the context length currently available to the model"}',
        overflow(),
        id="Ollama, a string",
    ),
    pytest.param(
        400,
        b'{"error":{"message":"This endpoint\'s maximum context length is 131072 tokens. However, you requested about '
        b'141607 tokens (10535 of text input, 131072 in the output). Please reduce the length of either one, or use '
        b'the \\"middle-out\\" transform","code":400,"metadata":{"provider_name":"Chutes"}}}',
        overflow(131072, 10535),
        id="OpenRouter",
    ),
    pytest.param(
        400,
        b'{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 208310 tokens > '
        b'200000 maximum"},"request_id":"req_1"}',
        overflow(200000, 208310),
        id="Anthropic",
    ),
    pytest.param(
        400,
        b'{"type":"error","error":{"type":"invalid_request_error","message":"input length and `max_tokens` exceed '
        b'context limit: 199759 + 8192 > 200000, decrease input length or `max_tokens` and try again"}}',
        overflow(200000, 199759),
        id="Anthropic with max_tokens",
    ),
    pytest.param(
        413,
        b'{"type":"error","error":{"type":"request_too_large","message":"Request exceeds the maximum size"}}',
        overflow(),
        id="Anthropic, 32 MB",
    ),
    pytest.param(413, b"<html><title>413 Request Entity Too Large</title></html>", overflow(), id="nginx 413"),
    pytest.param(
        400,
        b'[{"error":{"code":400,"message":"The input token count (1100000) exceeds the maximum number of tokens '
        b'allowed (1048576).","status":"INVALID_ARGUMENT"}}]',
        overflow(1048576, 1100000),
        id="Gemini, a list",
    ),
    pytest.param(
        400, b'{"message":"Input is too long for requested model."}', overflow(), id="Bedrock"
    ),
    pytest.param(
        400,
        b'{"error":"This model\'s maximum prompt length is 131072 but the request contains 140000 tokens."}',
        overflow(131072, 140000),
        id="xAI",
    ),
    pytest.param(
        422,
        b'{"object":"error","message":"Prompt contains 40000 tokens, too large for model with 32,768 maximum context '
        b'length. context length is 32,768","type":"invalid_request_error","code":"3051"}',
        overflow(32768),
        id="Mistral",
    ),
    pytest.param(
        429,
        b'{"error":{"message":"Request too large for gpt-x on tokens per min (TPM): Limit 30000, Requested 41000. '
        b'The input or output tokens must be reduced","type":"tokens","code":"rate_limit_exceeded"}}',
        ("rate", None, None),
        id="a 429 that sounds like an overflow",
    ),
    pytest.param(
        400,
        b'{"error":{"message":"too many tokens per minute"}}',
        ("request", None, None),
        id="a 400 that speaks of a rate",
    ),
    pytest.param(
        429,
        b'{"error":{"message":"You exceeded your current quota, please check your plan and billing details.",'
        b'"type":"insufficient_quota","param":null,"code":"insufficient_quota"}}',
        ("quota", None, None),
        id="OpenAI quota",
    ),
    pytest.param(
        429,
        b'{"error":{"message":"Rate limit reached for gpt-x","type":"requests","code":"rate_limit_exceeded"}}',
        ("rate", None, None),
        id="OpenAI rate",
    ),
    pytest.param(
        429,
        b'{"object":"error","message":"Rate limit exceeded","type":"rate_limited","code":"1300"}',
        ("rate", None, None),
        id="Mistral rate",
    ),
    pytest.param(
        402,
        b'{"error":{"message":"This request requires more credits","code":402}}',
        ("quota", None, None),
        id="OpenRouter money",
    ),
    pytest.param(
        400,
        b'{"type":"error","error":{"type":"invalid_request_error","message":"Your credit balance is too low to access '
        b'the API"}}',
        ("quota", None, None),
        id="Anthropic money",
    ),
    pytest.param(
        529,
        b'{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}',
        ("server", None, None),
        id="Anthropic overloaded",
    ),
    pytest.param(
        401,
        b'{"error":{"message":"Invalid API Key","type":"authentication_error","code":401}}',
        ("key", None, None),
        id="llama.cpp key",
    ),
    pytest.param(
        400,
        b'[{"error":{"code":400,"message":"API key not valid. Please pass a valid API key.",'
        b'"status":"INVALID_ARGUMENT"}}]',
        ("key", None, None),
        id="Gemini key",
    ),
    pytest.param(
        404,
        b'{"error":{"message":"The model `x` does not exist or you do not have access to it.","type":'
        b'"invalid_request_error","param":null,"code":"model_not_found"}}',
        ("model", None, None),
        id="OpenAI model",
    ),
    pytest.param(
        404,
        b'{"error":{"message":"model \'x\' not found","type":"api_error","param":null,"code":null}}',
        ("model", None, None),
        id="Ollama model",
    ),
    pytest.param(
        404,
        b'{"object":"error","message":"The model `x` does not exist.","type":"NotFoundError","param":null,"code":404}',
        ("model", None, None),
        id="vLLM model",
    ),
    pytest.param(
        400,
        b'{"error":{"message":"x is not a valid model ID","code":400}}',
        ("model", None, None),
        id="OpenRouter model",
    ),
    pytest.param(
        404,
        b'{"error":{"message":"File Not Found","type":"not_found_error","code":404}}',
        ("address", None, None),
        id="llama.cpp, wrong path",
    ),
    pytest.param(404, b"404 page not found", ("address", None, None), id="Ollama, wrong path"),
    pytest.param(404, b'{"detail":"Not Found"}', ("address", None, None), id="FastAPI, wrong path"),
    pytest.param(404, b"<!DOCTYPE html><title>Not here</title>", ("page", None, None), id="a page"),
    pytest.param(
        503,
        b'{"error":{"code":503,"message":"Loading model","type":"unavailable_error"}}',
        ("loading", None, None),
        id="llama.cpp loading",
    ),
    pytest.param(
        400,
        b'{"error":{"code":400,"message":"Failed to initialize samplers: failed to parse grammar",'
        b'"type":"invalid_request_error"}}',
        ("format", None, None),
        id="llama.cpp grammar",
    ),
    pytest.param(
        400,
        b'{"error":{"message":"Invalid parameter: \'response_format\' of type \'json_schema\' is not supported with '
        b'this model.","type":"invalid_request_error","param":"response_format","code":null}}',
        ("format", None, None),
        id="OpenAI format",
    ),
    pytest.param(
        501,
        b'{"error":{"code":501,"message":"This server does not support embeddings. Start it with `--embeddings`",'
        b'"type":"not_supported_error"}}',
        ("unsupported", None, None),
        id="llama.cpp embeddings",
    ),
    pytest.param(
        422,
        b'{"detail":[{"loc":["body","messages"],"msg":"field required","type":"value_error.missing"}]}',
        ("request", None, None),
        id="pydantic",
    ),
    pytest.param(502, b"<html><title>502 Bad Gateway</title>", ("server", None, None), id="nginx 502"),
    pytest.param(500, b"", ("server", None, None), id="an empty body"),
    pytest.param(400, b"\xff\xfe\x00", ("request", None, None), id="bytes"),
    pytest.param(500, b'{"error": null}', ("server", None, None), id="a null error"),
]  # fmt: skip


@pytest.mark.parametrize("status, body, expected", BODIES)
def test_a_refusal_is_understood(status, body, expected):
    found = classify(status, body, {})

    assert (found.kind, found.window, found.prompt) == expected


def test_a_fault_keeps_the_servers_sentence_on_one_printable_line():
    body = b'{"error":{"message":"  bad\\n\\u001b[31mthing\\u0000  "}}'

    assert classify(400, body, {}) == Fault("request", "bad [31mthing", 400)


def test_a_page_is_known_by_its_title():
    assert classify(502, b"<html><head><title>\nBad gateway</title>", {}).said == "Bad gateway"


@pytest.mark.parametrize(
    "headers, seconds",
    [
        pytest.param({}, None, id="none"),
        pytest.param({"retry-after": "7"}, 7.0, id="seconds"),
        pytest.param({"retry-after": "0.5"}, 0.5, id="a fraction"),
        pytest.param({"retry-after-ms": "250", "retry-after": "9"}, 0.25, id="milliseconds first"),
        pytest.param({"retry-after": format_datetime(NOW.replace(second=30))}, 30.0, id="a date"),
        pytest.param(
            {"retry-after": format_datetime(NOW.replace(year=2025))}, 0.0, id="a past date"
        ),
        pytest.param({"retry-after": "-1"}, None, id="negative"),
        pytest.param({"retry-after": "inf"}, None, id="infinite"),
        pytest.param({"retry-after": "soon"}, None, id="words"),
    ],
)
def test_retry_after_is_read(headers, seconds):
    assert retry_after(headers, NOW) == seconds


def test_gemini_hides_the_delay_in_a_list():
    body = b'[{"error":{"code":429,"message":"slow down","details":[{"@type":"x"},{"retryDelay":"26s"}]}}]'

    assert classify(429, body, {}) == Fault("rate", "slow down", 429, retry_after=26.0)


@pytest.mark.parametrize(
    "chunk, is_error",
    [
        pytest.param({"error": {"message": "x"}}, True, id="an object"),
        pytest.param({"error": "x"}, True, id="a string"),
        pytest.param([{"error": {}}, {"error": {"code": 1}}], True, id="in a list"),
        pytest.param({"type": "error"}, True, id="by type"),
        pytest.param({"object": "error"}, True, id="by object"),
        pytest.param({"error": None, "choices": []}, False, id="null"),
        pytest.param({"choices": []}, False, id="none"),
        pytest.param("error", False, id="not an object"),
    ],
)
def test_an_error_inside_an_answer_is_found(chunk, is_error):
    assert (error_in(chunk) is not None) is is_error


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=20),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["error", "message", "code", "type", "detail", "details", "x"]), inner
        )
    ),
    max_leaves=12,
)


@given(
    st.integers(300, 599),
    st.binary(max_size=60),
    st.dictionaries(st.just("retry-after"), st.text(max_size=9)),
)
def test_no_body_is_too_odd_to_classify(status, body, headers):
    assert classify(status, body, headers).status == status


@given(json_values)
def test_no_object_is_too_odd_to_classify(body):
    found = classify_object(body, 400)

    assert len(found.said) <= 300
    assert found.said.isprintable()
