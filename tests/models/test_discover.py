"""What servers tell about themselves, in the shapes they really send, over real sockets."""

import asyncio

import pytest

from sill.adapters.models.catalogue import Described, Window, read_props
from sill.adapters.models.discover import Discovery, LocalEndpoint, discover, find_local_endpoints
from sill.adapters.models.scan import recognise
from sill.core.request import encode
from sill.errors import ProviderError

from .fault_provider import FaultProvider, Hang, Pause, Repeat, answer, head

LLAMA_MODELS = {
    "object": "list",
    "data": [
        {
            "id": "smol.gguf",
            "object": "model",
            "owned_by": "llamacpp",
            "meta": {"n_vocab": 49152, "n_ctx": 4096, "n_ctx_train": 8192},
        }
    ],
}
LLAMA_PROPS = {
    "default_generation_settings": {"n_ctx": 2048, "params": {}},
    "total_slots": 2,
    "chat_template": "{{ messages }}",
    "chat_template_caps": {"supports_tools": True, "supports_system_role": True},
    "modalities": {"vision": False},
}
VLLM_MODELS = {
    "object": "list",
    "data": [
        {"id": "q", "object": "model", "owned_by": "vllm", "root": "q", "max_model_len": 1024}
    ],
}
OLLAMA_MODELS = {
    "object": "list",
    "data": [
        {"id": "llama3.2:latest", "object": "model", "created": 1, "owned_by": "library"},
        {"id": "qwen3:8b", "object": "model", "created": 1, "owned_by": "library"},
    ],
}
OLLAMA_SHOW = {
    "parameters": 'num_ctx                        8192\nstop                           "<|eot|>"',
    "template": "{{ .Prompt }}",
    "details": {"family": "llama"},
    "model_info": {"general.architecture": "llama", "llama.context_length": 131072},
    "capabilities": ["completion", "tools", "insert"],
}
OLLAMA_PS = {
    "models": [{"name": "qwen3:8b", "model": "qwen3:8b", "context_length": 4096, "size_vram": 1}]
}
OPENROUTER_MODELS = {
    "data": [
        {
            "id": "a/b",
            "context_length": 200000,
            "top_provider": {"context_length": 131072, "max_completion_tokens": 8192},
            "supported_parameters": ["tools", "structured_outputs", "temperature"],
        }
    ]
}
LM_STUDIO_MODELS = {
    "object": "list",
    "data": [{"id": "g", "object": "model", "owned_by": "organization_owner"}],
}
LM_STUDIO_OWN = {
    "object": "list",
    "data": [
        {"id": "g", "state": "loaded", "max_context_length": 131072, "loaded_context_length": 4096}
    ],
}

ROWS = [
    pytest.param(
        {"/v1/models": LLAMA_MODELS, "/props": LLAMA_PROPS},
        None,
        Discovery(
            "", "llama.cpp", ("smol.gguf",), "smol.gguf", Window(2048, "the server's /props"), 8192,
            frozenset({"json schema", "tools", "system role"}), "{{ messages }}", 2,
        ),
        id="llama.cpp",
    ),
    pytest.param(
        {"/v1/models": LLAMA_MODELS},
        "any-name",
        Discovery(
            "", "llama.cpp", ("smol.gguf",), "any-name", Window(4096, "the server's model list"), 8192
        ),
        id="llama.cpp without /props, under any name",
    ),
    pytest.param(
        {"/v1/models": VLLM_MODELS},
        None,
        Discovery("", "vllm", ("q",), "q", Window(1024, "the server's model list (max_model_len)")),
        id="vLLM",
    ),
    pytest.param(
        {"/v1/models": OLLAMA_MODELS, "/api/show": OLLAMA_SHOW, "/api/ps": OLLAMA_PS},
        "qwen3:8b",
        Discovery(
            "", "ollama", ("llama3.2:latest", "qwen3:8b"), "qwen3:8b",
            Window(4096, "Ollama's /api/ps: the model is loaded with it"), 131072,
            frozenset({"json schema", "tools", "infill"}), "{{ .Prompt }}",
        ),
        id="Ollama, loaded",
    ),
    pytest.param(
        {"/v1/models": OLLAMA_MODELS, "/api/show": OLLAMA_SHOW, "/api/ps": {"models": []}},
        "llama3.2",
        Discovery(
            "", "ollama", ("llama3.2:latest", "qwen3:8b"), "llama3.2",
            Window(8192, "num_ctx in the Modelfile"), 131072,
            frozenset({"json schema", "tools", "infill"}), "{{ .Prompt }}",
        ),
        id="Ollama, not loaded",
    ),
    pytest.param(
        {"/v1/models": {"object": "list", "data": None}, "/api/version": {"version": "0.12.1"}},
        None,
        Discovery("", "ollama"),
        id="Ollama without models",
    ),
    pytest.param(
        {"/v1/models": OPENROUTER_MODELS},
        "a/b",
        Discovery(
            "", "unknown", ("a/b",), "a/b",
            Window(131072, "the model list, for the provider that serves it"), None,
            frozenset({"tools", "json schema"}),
        ),
        id="OpenRouter's list",
    ),
    pytest.param(
        {"/v1/models": LM_STUDIO_MODELS, "/api/v0/models": LM_STUDIO_OWN},
        None,
        Discovery(
            "", "lm studio", ("g",), "g",
            Window(4096, "LM Studio's /api/v0/models: the model is loaded with it"),
        ),
        id="LM Studio",
    ),
    pytest.param({}, "m", Discovery("", "unknown", (), "m"), id="no model list"),
    pytest.param(
        {"/v1/models": {"data": [{"id": "m"}, {"id": 7}, "x", None]}},
        None,
        Discovery("", "unknown", ("m",), "m"),
        id="odd entries",
    ),
]  # fmt: skip


@pytest.mark.parametrize("bodies, model, expected", ROWS)
def test_an_endpoint_tells_what_it_is(bodies, model, expected):
    routes = {path: answer(200, body) for path, body in bodies.items()}
    with FaultProvider(routes=routes) as provider:
        found = asyncio.run(discover(provider.url, model=model, seconds=60))

        assert found.endpoint == f"{provider.url}/v1"
    assert Discovery("", *(getattr(found, name) for name in Discovery.__slots__[1:])) == expected


def test_ollama_is_asked_about_the_model_by_name():
    routes = {"/v1/models": answer(200, OLLAMA_MODELS)}
    with FaultProvider(routes=routes) as provider:
        asyncio.run(discover(provider.url, model="qwen3:8b", seconds=60))
        asked = {(seen.method, seen.path, seen.body) for seen in provider.seen}

    assert asked == {
        ("GET", "/v1/models", b""),
        ("POST", "/api/show", encode({"model": "qwen3:8b"})),
        ("GET", "/api/ps", b""),
    }


@pytest.mark.parametrize(
    "script, error",
    [
        pytest.param(answer(401, {"error": {"message": "no"}}), "KeyRefused", id="key refused"),
        pytest.param(answer(200, b"<html>"), "BadAnswer", id="a page"),
        pytest.param(answer(500, b""), "BadAnswer", id="a broken server"),
        pytest.param(answer(302, b"", location="http://x/"), "BadAnswer", id="a redirect"),
        pytest.param([Hang()], "TimedOut", id="a silent server"),
        pytest.param([head(type="application/json"), Repeat(b" ")], "TimedOut", id="a slow loris"),
        pytest.param([b"SSH-2.0-OpenSSH_9\r\n"], "BadAnswer", id="not HTTP"),
    ],
)
def test_an_endpoint_that_cannot_chat_is_refused(script, error):
    with FaultProvider(script) as provider, pytest.raises(ProviderError) as caught:
        asyncio.run(discover(provider.url, "sk-canary", seconds=0.4 if error == "TimedOut" else 60))

    assert type(caught.value).__name__ == error
    assert len(provider.seen) == 1


def test_local_servers_are_found_and_strangers_are_not():
    llama = answer(200, LLAMA_MODELS, server="llama.cpp")
    locked = answer(401, {"error": {"message": "Invalid API Key"}}, server="llama.cpp")
    web = answer(200, b"<html>hello</html>")
    with (
        FaultProvider(locked) as wants_key,
        FaultProvider(web) as website,
        FaultProvider([Hang()]) as silent,
        FaultProvider(llama) as ready,
    ):
        ports = [wants_key.port, website.port, silent.port, ready.port, 1]
        found = asyncio.run(find_local_endpoints(ports, seconds=4.0))

    assert found == [
        LocalEndpoint(f"{ready.url}/v1", "llama.cpp", ("smol.gguf",)),
        LocalEndpoint(f"{wants_key.url}/v1", "llama.cpp", (), "wants a key"),
    ]
    assert {seen.path for one in (wants_key, website, silent, ready) for seen in one.seen} == {
        "/v1/models"
    }


def test_a_local_server_that_answers_in_pieces_and_never_hangs_up_is_found():
    whole = b"".join(answer(200, LLAMA_MODELS))
    with FaultProvider(
        [whole[:40], Pause(0.05), whole[40:-9], Pause(0.05), whole[-9:], Hang()]
    ) as slow:
        found = asyncio.run(find_local_endpoints([slow.port], seconds=60.0))

        assert slow.hung_up.wait(60)
    assert found == [LocalEndpoint(f"{slow.url}/v1", "llama.cpp", ("smol.gguf",))]


@pytest.mark.parametrize(
    "port, reply, found",
    [
        pytest.param(
            11434,
            answer(200, {"object": "list", "data": None}),
            LocalEndpoint("http://127.0.0.1:11434/v1", "ollama"),
            id="a list that is null",
        ),
        pytest.param(
            11434,
            answer(200, {"object": "list", "data": []}),
            LocalEndpoint("http://127.0.0.1:11434/v1", "ollama"),
            id="an Ollama without models",
        ),
        pytest.param(8080, answer(200, {"ok": True}), None, id="another JSON API"),
        pytest.param(8080, answer(503, {}), None, id="another server in trouble"),
        pytest.param(
            8080,
            answer(503, {}, Server="llama.cpp"),
            LocalEndpoint("http://127.0.0.1:8080/v1", "llama.cpp", (), "loading"),
            id="llama.cpp while it loads",
        ),
        pytest.param(8080, [b"HTTP/1.0"], None, id="half a line"),
        pytest.param(8080, [b""], None, id="nothing"),
    ],
)
def test_a_local_server_is_recognised_by_its_answer(port, reply, found):
    assert recognise(port, b"".join(reply)) == found


def test_props_of_something_else_are_no_props():
    assert (read_props({"a": 1}), read_props([]), read_props(None)) == (None, None, None)
    assert read_props({"default_generation_settings": None}) == Described(
        abilities=frozenset({"json schema"})
    )
