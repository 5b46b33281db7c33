"""Clients that were not made for us, on the real tiny model."""

import json
import os
import subprocess
import sys
from pathlib import Path

import httpx
import openai
import pytest

from .live import Live

pytestmark = pytest.mark.slow

WEATHER = {
    "type": "function",
    "function": {
        "name": "weather",
        "description": "The weather at a place.",
        "parameters": {
            "type": "object",
            "properties": {"place": {"type": "string", "maxLength": 8}},
            "required": ["place"],
        },
        "strict": True,
    },
}
ANIMAL = {
    "type": "object",
    "properties": {"name": {"type": "string", "maxLength": 12}, "legs": {"type": "integer", "minimum": 0, "maximum": 8}},
    "required": ["name", "legs"],
    "additionalProperties": False,
}  # fmt: skip


@pytest.fixture
def client(live: Live) -> openai.OpenAI:
    return openai.OpenAI(base_url=live.url + "/v1", api_key=live.token, max_retries=0)


def test_the_openai_package_gets_a_whole_answer(client, live):
    raw = client.chat.completions.with_raw_response.create(
        model="sill",
        messages=[
            {"role": "system", "content": "Be brief."},
            {"role": "user", "content": "Hello there"},
        ],
        max_tokens=12,
        seed=1,
    )
    answer = raw.parse()
    choice = answer.choices[0]

    assert choice.finish_reason in ("stop", "length")
    assert choice.message.content
    assert 0 < answer.usage.completion_tokens <= 12
    assert (
        answer.sill["predicted_tokens"]
        == answer.usage.prompt_tokens
        == answer.sill["actual_tokens"]
    )
    assert answer.sill["mode"] == "plan"
    assert {name: raw.headers[name] for name in raw.headers if name.startswith("x-sill-")} == {
        "x-sill-planned": "true",
        "x-sill-evicted-turns": "0",
        "x-sill-recalled-turns": "0",
        "x-sill-predicted-tokens": str(answer.usage.prompt_tokens),
        "x-sill-kind": "exact",
        "x-sill-epoch": "0",
    }


def test_the_openai_package_streams(client):
    stream = client.chat.completions.create(
        model="sill",
        messages=[{"role": "user", "content": "Count to three"}],
        max_tokens=10,
        stream=True,
        stream_options={"include_usage": True},
    )
    chunks = list(stream)
    said = [chunk for chunk in chunks if chunk.choices]

    assert "".join(chunk.choices[0].delta.content or "" for chunk in said)
    assert said[-1].choices[0].finish_reason in ("stop", "length")
    assert chunks[-1].usage.completion_tokens <= 10
    assert said[-1].sill["actual_tokens"] == chunks[-1].usage.prompt_tokens
    assert len({chunk.id for chunk in chunks}) == 1


def test_tools_and_their_results_reach_the_model(client):
    call = {
        "id": "c1",
        "type": "function",
        "function": {"name": "weather", "arguments": '{"place":"Bath"}'},
    }
    messages = [
        {"role": "user", "content": "What is the weather in Bath?"},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c1", "content": "Rain, 9 degrees"},
    ]
    answer = client.chat.completions.create(
        model="sill", messages=messages, tools=[WEATHER], max_tokens=8
    )

    assert answer.choices[0].message.content
    assert answer.sill["predicted_tokens"] == answer.usage.prompt_tokens


def test_the_openai_package_gets_structured_output(client):
    answer = client.chat.completions.create(
        model="sill",
        messages=[{"role": "user", "content": "Describe an ant."}],
        response_format={
            "type": "json_schema",
            "json_schema": {"name": "animal", "schema": ANIMAL, "strict": True},
        },
        max_tokens=60,
    )
    found = json.loads(answer.choices[0].message.content)

    assert set(found) == {"name", "legs"}
    assert isinstance(found["legs"], int)


def test_the_openai_package_lists_models(client, live, tiny_server):
    assert [model.id for model in client.models.list()] == ["sill", tiny_server.model_name]
    assert client.models.retrieve(tiny_server.model_name).window == 2048
    with pytest.raises(openai.NotFoundError):
        client.models.retrieve("nobody")


@pytest.mark.parametrize(
    "change, error, code",
    [
        pytest.param({"model": "nobody"}, openai.NotFoundError, "model_not_found", id="unknown model"),
        pytest.param({"n": 2}, openai.BadRequestError, "unsupported", id="several answers"),
        pytest.param({"messages": []}, openai.BadRequestError, "invalid_request", id="no messages"),
        pytest.param({"temperature": 9}, openai.BadRequestError, "invalid_request", id="bad temperature"),
        pytest.param(
            {"messages": [{"role": "user", "content": "word " * 6000}]},
            openai.BadRequestError,
            "context_length_exceeded",
            id="one message larger than the window",
        ),
    ],
)  # fmt: skip
def test_errors_are_openais(client, change, error, code):
    wanted = {"model": "sill", "messages": [{"role": "user", "content": "hi"}], **change}
    with pytest.raises(error) as caught:
        client.chat.completions.create(**wanted)

    assert caught.value.code == code


def test_passing_through_sends_the_messages_as_they_are(client):
    answer = client.chat.completions.create(
        model="sill",
        messages=[{"role": "user", "content": "hi", "name": "ann"}],
        max_tokens=4,
        extra_body={"sill": {"mode": "passthrough"}},
    )

    assert answer.sill["mode"] == "passthrough"
    assert answer.sill["predicted_tokens"] == answer.usage.prompt_tokens


def test_a_wrong_token_and_a_cookie_are_refused(live):
    body = {"messages": [{"role": "user", "content": "hi"}]}
    cookie = live.site.sessions.enter(live.site.sessions.invite())
    with httpx.Client(base_url=live.url, trust_env=False, timeout=120) as http:
        wrong = http.post("/v1/chat/completions", json=body, headers={"authorization": "Bearer x"})
        nothing = http.get("/v1/models")
        page = http.get("/v1/models", headers={"cookie": f"{live.site.rules.cookie}={cookie}"})

    assert [answer.status_code for answer in (wrong, nothing, page)] == [401, 401, 401]


def test_a_wrong_token_is_an_error_that_the_openai_package_understands(live: Live):
    stranger = openai.OpenAI(base_url=f"{live.url}/v1", api_key="wrong", max_retries=0)

    with pytest.raises(openai.AuthenticationError) as caught:
        stranger.models.list()

    assert isinstance(caught.value.body, dict)
    assert (caught.value.status_code, caught.value.body["type"]) == (401, "invalid_request_error")
    assert caught.value.body["message"]


def test_tokenize_answers_as_llama_cpp_does(live, tiny_server):
    text = "Zwölf Boxkämpfer jagen Viktor."
    theirs = httpx.post(
        tiny_server.base_url.removesuffix("/v1") + "/tokenize",
        json={"content": text},
        headers={"authorization": f"Bearer {tiny_server.api_key}"},
        trust_env=False,
        timeout=120,
    ).json()
    ours = httpx.post(
        live.url + "/tokenize",
        json={"content": text},
        headers=live.headers,
        trust_env=False,
        timeout=120,
    ).json()

    assert ours == {"tokens": theirs["tokens"], "kind": "exact"}


def test_every_call_is_in_the_ledger(client, live):
    before = len(live.run(live.service.desk().store.attempts()))
    client.chat.completions.create(
        model="sill", messages=[{"role": "user", "content": "hi"}], max_tokens=2
    )
    rows = live.run(live.service.desk().store.attempts())

    assert len(rows) == before + 1
    assert (rows[-1].attempt.category, rows[-1].settlement.outcome) == ("main", "partial")
    assert rows[-1].attempt.predicted == rows[-1].settlement.usage.prompt


def test_curl_streams(live):
    body = json.dumps(
        {"messages": [{"role": "user", "content": "hi"}], "max_tokens": 4, "stream": True}
    )
    done = subprocess.run(
        [
            *("curl", "-sSN", "--noproxy", "*", live.url + "/v1/chat/completions", "-d", body),
            *("-H", "content-type: application/json", "-H", f"authorization: Bearer {live.token}"),
        ],
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
    )
    events = [line.removeprefix("data: ") for line in done.stdout.split("\n\n") if line]

    assert events[-1] == "[DONE]"
    assert json.loads(events[0])["choices"][0]["delta"] == {"role": "assistant", "content": ""}
    assert json.loads(events[-2])["sill"]["mode"] == "plan"


def test_the_llm_command_answers(live: Live, tmp_path: Path):
    home = tmp_path / "llm"
    home.mkdir()
    (home / "extra-openai-models.yaml").write_text(
        f"- model_id: sill\n  model_name: sill\n  api_base: {live.url}/v1\n  api_key_name: sill\n"
    )
    (home / "keys.json").write_text(json.dumps({"sill": live.token}))
    environment = {
        "PATH": os.environ["PATH"],
        "HOME": str(tmp_path),
        "LLM_USER_PATH": str(home),
        "NO_PROXY": "*",
    }
    command = [
        str(Path(sys.executable).parent / "llm"),
        "-m",
        "sill",
        "-o",
        "max_tokens",
        "6",
        "Say hello",
    ]
    for more in ([], ["--no-stream"]):
        done = subprocess.run(
            [*command, *more], capture_output=True, text=True, env=environment, timeout=120
        )

        assert (done.returncode, done.stderr) == (0, "")
        assert done.stdout.strip()
