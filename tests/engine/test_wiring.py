"""What an application learns of its endpoint, how it speaks to it, and what it never gives away."""

import asyncio
import json
import logging

from click.testing import CliRunner

from sill.cli.main import cli
from sill.core.failover import Breaker
from sill.engine.events import Finished, Notice
from sill.errors import KeyRefused
from tests.models.fault_provider import FaultProvider, Reset, answer
from tests.models.test_ollama import LINES, done
from tests.models.test_ollama import says as ollama_says

from .workspace import ask, endpoint, fallback, says


def notices(events) -> list[str]:
    return [event.text for event in events if isinstance(event, Notice)]


# --- A window learned ------------------------------------------------------------------------------

OVERFLOW = {
    "error": {
        "code": 400,
        "message": "request (900 tokens) exceeds the available context size (1024 tokens)",
        "type": "exceed_context_size_error",
        "n_prompt_tokens": 900,
        "n_ctx": 1024,
    }
}


def test_a_window_learned_from_a_refusal_holds_and_is_shown(workspace):
    async def run(provider):
        async with workspace.open(endpoint(provider)) as app:
            before = app.description
            first = await ask(app, "hi")
            second = await ask(app, "hi again", first[-1].chat)
            return before, first, second, app.description, app.connection.window_source

    with FaultProvider(answer(400, OVERFLOW), says("Hello")) as provider:
        before, first, second, after, source = asyncio.run(run(provider))

        assert ("4,096" in before, "1,024" in after, "learned" in source) == (True, True, True)
        assert notices(first) == [
            "the endpoint's window is 1,024 tokens; planned for that from now on"
        ]
        assert [e[-1].outcome for e in (first, second)] == ["complete", "complete"]
        assert notices(second) == []
        assert len(provider.seen) == 3


def test_a_count_that_fell_short_is_corrected_once(workspace):
    said = {"error": {"code": "context_length_exceeded", "message": "x"}}
    said["error"]["message"] = (
        "This model's maximum context length is 4096 tokens."
        " However, your messages resulted in 4200 tokens."
    )

    async def run(provider):
        async with workspace.open(endpoint(provider)) as app:
            return await ask(app, "hi"), app.chat.call.shortfall

    with FaultProvider(answer(400, said)) as provider:
        events, shortfall = asyncio.run(run(provider))

        assert "the endpoint counts 4,200 tokens" in notices(events)[0]
        assert len(provider.seen) <= 2  # one more try, and no third
        assert shortfall > 1


# --- Ollama ----------------------------------------------------------------------------------------


def test_ollama_is_asked_by_its_own_api_and_the_exact_bytes_are_kept(workspace):
    routes = {
        "/v1/models": answer(200, {"object": "list", "data": [{"id": "first", "owned_by": "library"}]}),
        "/api/show": answer(200, {"model_info": {"qwen3.context_length": 8192}, "parameters": "num_ctx 2048"}),
        "/api/ps": answer(200, {"models": []}),
        "/api/version": answer(200, {"version": "0.9.0"}),
        "/api/chat": [LINES + ollama_says("Hello") + done()],
    }  # fmt: skip

    async def run(provider):
        async with workspace.open(endpoint(provider), SILL_PROBE="true") as app:
            events = await ask(app, "hi")
            return events, await app.store.turn(events[-1].turn), app.connection.server

    with FaultProvider(answer(404, b"404 page not found"), routes=routes) as provider:
        events, stored, server = asyncio.run(run(provider))

        [sent] = [seen for seen in provider.seen if seen.path == "/api/chat"]
    body = json.loads(sent.body)
    assert (server, events[-1].text, events[-1].cost) == ("ollama", "Hello", 0)
    assert sent.body == stored.request
    assert (body["truncate"], body["shift"], body["options"]["num_ctx"]) == (False, False, 2048)


# --- Keys ------------------------------------------------------------------------------------------

CANARY = "sk-canary-6f1d3c5b7a"


def test_no_key_ever_comes_to_rest_anywhere(workspace, monkeypatch, caplog):
    """A whole chat with failures, a failover and reports: the keys are in the requests' heads and nowhere else."""
    caplog.set_level(logging.DEBUG)
    echo = answer(401, {"error": {"message": f"bad key {CANARY}-one"}})

    async def run(first, second):
        toml = endpoint(first) + fallback(f"{second.url}/v1", "second", 'api_key_env = "SECOND"')
        keys = {"OPENAI_API_KEY": f"{CANARY}-one", "SECOND": f"{CANARY}-two"}
        async with workspace.open(toml, **keys) as app:
            events, chat = [], None
            for _ in range(4):
                events += await ask(app, "hi", chat)
                chat = events[-1].chat
                # The first endpoint is asked every time, however long that took.
                app.failover._stuck.clear()
                app.failover.places[0].breaker = Breaker()
            shown = [app.description, app.price, app.fallbacks, app.connection, app, app.chat.model]
            copied = await app.store.copy_chat(chat)
            return events, shown, copied

    with (
        FaultProvider(says("Hello"), [Reset()], echo) as first,
        FaultProvider(says("Hello")) as second,
    ):
        events, shown, copied = asyncio.run(run(first, second))

        carried = {seen.headers["authorization"] for seen in [*first.seen, *second.seen]}
    assert carried == {f"Bearer {CANARY}-one", f"Bearer {CANARY}-two"}
    ends = [event for event in events if isinstance(event, Finished)]
    assert [(one.outcome, one.text) for one in ends] == [
        ("complete", "Hello"),
        ("complete", "Hello"),  # from the other one
        ("failed", ""),
        ("failed", ""),
    ]
    assert isinstance(ends[2].error, KeyRefused)
    kept = b"".join(file.read_bytes() for file in workspace.folder.glob("sill.db*"))
    assert len(kept) > 10_000 and CANARY.encode() not in kept
    for name, value in {
        "SILL_DATABASE_URL": str(workspace.database),
        "OPENAI_API_KEY": f"{CANARY}-one",
        "SECOND": f"{CANARY}-two",
        "SILL_PROBE": "false",
        "SILL_MODEL": "first",
    }.items():
        monkeypatch.setenv(name, value)
    monkeypatch.chdir(workspace.folder)
    said = [
        CliRunner().invoke(cli, arguments)
        for arguments in (
            ["cost", "--detail", "--json"],
            ["explain", "--json"],
            ["explain", "--bytes"],
            ["doctor", "--json", "--base-url", "http://127.0.0.1:1"],
            ["ask", "hi", "--json", "--base-url", "http://127.0.0.1:1"],
        )
    ]
    everything = [events, shown, copied, caplog.text, workspace.told, *(r.output for r in said)]
    assert all(result.output for result in said)
    assert CANARY not in repr(everything)
