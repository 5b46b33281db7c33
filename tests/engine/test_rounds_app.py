"""Tool rounds of a whole application over a real socket: booked, limited, recorded as sent, explained."""

import asyncio
import json

from sill.core.cost import DOLLAR
from sill.core.usage import plan_from_json
from sill.engine.events import Finished, Notice, ToolUsed
from tests.models.fault_provider import DONE, FaultProvider, Reset, answer, event, head

from .workspace import ask, endpoint, fallback, says

# A prompt token costs a dollar, a token of the reply ten: limits can be checked by eye.
PRICED = '[prices."first"]\nprompt = 1_000_000\ncompletion = 10_000_000\n'


def calls(name: str, arguments: dict, prompt: int = 500) -> list:
    """An answer that asks for one tool; ``prompt`` tokens are billed, and two of the reply."""
    function = {"name": name, "arguments": json.dumps(arguments)}
    call = {"index": 0, "id": "call-1", "type": "function", "function": function}
    usage = {"prompt_tokens": prompt, "completion_tokens": 2}
    return [
        head(),
        event({"choices": [{"index": 0, "delta": {"tool_calls": [call]}, "finish_reason": None}]}),
        event({"choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls"}]})
        + event({"choices": [], "usage": usage})
        + DONE,
    ]


READ = ("read_document", {"path": "note.md"})


def played(workspace, *replies, settings="", second=None, **environment):
    """One question to an application over a folder with one note; events, ledger, turn, bodies."""
    (workspace.folder / "note.md").write_text("# Note\n\nThe plot has number 14.\n")

    async def run(provider):
        async with workspace.open(
            endpoint(provider) + settings, SILL_EMBEDDER="none", **environment
        ) as app:
            events = await ask(app, "which number has the plot?")
            turn = await app.store.turn(events[-1].turn)
            return events, await app.store.attempts(), turn, await app.store.requests(turn.id)

    with FaultProvider(*replies) as provider:
        events, attempts, turn, requests = asyncio.run(run(provider))
        return events, attempts, turn, requests, [seen.body for seen in provider.seen]


def test_a_round_is_carried_out_booked_and_recorded_as_it_was_sent(workspace):
    events, attempts, turn, requests, bodies = played(
        workspace, calls(*READ), says("Number 14.", prompt=600), settings=PRICED
    )

    finished = events[-1]
    assert [event.name for event in events if isinstance(event, ToolUsed)] == ["read_document"]
    assert (finished.outcome, finished.text, finished.cost) == (
        "complete",
        "Number 14.",
        (500 + 20 + 600 + 20) * DOLLAR,
    )
    assert [row.attempt.category for row in attempts] == ["main", "tool"]
    assert [row.attempt.predicted for row in attempts] == [
        one.certificate.predicted for one in requests
    ]
    assert [one.request for one in requests] == bodies
    assert json.loads(bodies[1])["messages"][-1]["content"].startswith("# Note")
    assert [(r.origin, r.path, r.lines) for r in finished.references] == [
        ("read", "note.md", (1, 3))
    ]
    assert plan_from_json(turn.plan).tokens == finished.plan.tokens


def test_a_limit_that_is_reached_between_two_calls_ends_the_turn(workspace):
    events, attempts, turn, _, bodies = played(
        workspace,
        calls(*READ),
        settings="limits.request = 1000\n" + PRICED,
        LLM_CHAT_REPLY="10",
    )

    finished = events[-1]
    assert isinstance(finished, Finished)
    assert (finished.outcome, "limits.request" in finished.reason) == ("failed", True)
    assert (len(bodies), [row.attempt.category for row in attempts]) == (1, ["main"])
    assert [message.role for message in turn.messages] == ["user", "assistant", "tool"]


def test_another_model_is_not_asked_once_a_tool_was_used(workspace):
    with FaultProvider(says("from elsewhere")) as other:
        events, *_ = played(
            workspace,
            calls(*READ),
            [Reset()],
            settings=fallback(f"{other.url}/v1", "second"),
        )

        assert events[-1].outcome == "failed"
        assert other.seen == []


def test_a_model_that_takes_no_tools_is_asked_without_them(workspace):
    no = answer(400, {"error": {"message": "registry.example/first does not support tools"}})

    events, *_, bodies = played(workspace, no, says("Hello"))

    assert events[-1].text == "Hello"
    assert ["tools" in json.loads(body) for body in bodies] == [True, False]
    assert [event.text for event in events if isinstance(event, Notice)] == [
        "first takes no tools; none are offered from now on"
    ]


def test_tools_can_be_switched_off(workspace):
    _, _, _, _, [body] = played(workspace, says("Hello", prompt=100), settings="tools = false\n")

    assert "tools" not in json.loads(body)
