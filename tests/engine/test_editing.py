"""Edits are asked of another endpoint when one does not answer: whole applications over real sockets."""

import asyncio
import json
from functools import partial

import pytest

from sill.app.edits import editor_for
from sill.core.edits import Scope
from sill.engine.edit import EditReply, Wish
from tests.models.fault_provider import CHUNKED, FaultProvider, Reset, answer, chunked, said

from .workspace import endpoint, fallback, says

OP = {"op": "replace", "target_file": "a.md", "target": "anchor", "anchor": "two", "content": "2"}
GOOD = json.dumps({"assistant_message": "Shorter.", "ops": [OP]})
WISH = Wish("Shorten it.", Scope({"a.md": "one two\n"}, "a.md"))
SMALL = "profile.chat_ops.reply = 100\nprofile.chat_ops.margin = 0\n"
TOO_LONG = {"error": {"message": "maximum context length is 1024 tokens", "code": "context_length_exceeded"}}  # fmt: skip


def both(first: FaultProvider, second: FaultProvider, more: str = "") -> str:
    other = fallback(f"{second.url}/v1", "second", more).replace(
        "profile.chat.", "profile.chat_ops."
    )
    return endpoint(first) + other


def propose(workspace, toml: str, *times: float, wish: Wish = WISH):
    """The replies to the wish, asked at these times in one chat; then the turns and the ledger."""

    async def run():
        async with workspace.open(toml, profile="chat_ops") as app:
            editor, chat, replies = editor_for(app, workspace.settings), None, []
            for now in times or (0.0,):
                app.failover.clock = partial(float, now)
                replies.append(await editor.ask(chat, wish))
                chat = replies[-1].chat or chat
            turns = await app.store.turns(chat) if chat else []
            return replies, turns, await app.store.attempts(), await app.store.chats()

    return asyncio.run(run())


@pytest.mark.parametrize(
    "script",
    [
        pytest.param([Reset()], id="connection reset"),
        pytest.param(answer(402, {"error": {"message": "no credit"}}), id="quota used up"),
        pytest.param(answer(507, {"error": {"message": "sorry"}}), id="fails by itself"),
    ],
)
def test_the_next_endpoint_proposes_and_the_failure_leaves_no_turn(workspace, script):
    with FaultProvider(script) as first, FaultProvider(says(GOOD, prompt=70)) as second:
        [reply], turns, rows, _ = propose(workspace, both(first, second))

        assert (reply.outcome, len(reply.ops), reply.rounds) == ("proposed", 1, 1)
        assert reply.notices[-1] == f"second at {second.url}/v1 is asked instead"
        assert [(turn.id, turn.status, turn.model) for turn in turns] == [
            (reply.turn, "complete", "second")
        ]
        # Both calls are in the books, with what is needed to learn from their bills.
        assert [(r.attempt.model, r.attempt.category, r.attempt.tokenizer) for r in rows] == [
            ("first", "edit", "o200k_base"),
            ("second", "edit", "o200k_base"),
        ]
        assert rows[1].attempt.predicted == reply.certificate.predicted
        assert [len(first.seen), len(second.seen)] == [1, 1]


@pytest.mark.parametrize(
    "script",
    [
        pytest.param(answer(401, {"error": "bad key"}), id="the key is refused"),
        pytest.param([CHUNKED, chunked(said("{"))], id="after the first word"),
    ],
)
def test_what_another_endpoint_cannot_mend_stays_where_it_is(workspace, script):
    with FaultProvider(script) as first, FaultProvider(says(GOOD)) as second:
        [reply], turns, _, _ = propose(workspace, both(first, second))

        assert (reply.outcome, reply.ops, second.seen) == ("upstream_error", (), [])
        assert [(turn.status, turn.model) for turn in turns] == [("failed", "first")]


def test_where_nobody_answers_the_last_failure_is_stored(workspace):
    with FaultProvider([Reset()]) as first, FaultProvider([Reset()]) as second:
        [reply], turns, rows, _ = propose(workspace, both(first, second))

        assert (reply.outcome, reply.ops) == ("upstream_error", ())
        assert [(turn.status, turn.model) for turn in turns] == [("failed", "second")]
        assert {row.attempt.model for row in rows} == {"first", "second"}


def test_a_chat_stays_with_the_fallback_and_goes_back(workspace):
    with (
        FaultProvider([Reset()], says(GOOD)) as first,
        FaultProvider(says(GOOD)) as second,
    ):
        _, turns, _, _ = propose(workspace, both(first, second), 0.0, 599.0, 601.0)

    assert [turn.model for turn in turns] == ["second", "second", "first"]


def test_a_remote_fallback_is_not_asked_without_consent(workspace):
    remote = '[[profile.chat_ops.fallback]]\nbase_url = "https://models.example/v1"\nmodel = "x"\n'
    with FaultProvider([Reset()]) as first:
        [reply], turns, _, _ = propose(workspace, endpoint(first) + remote)

    assert reply.outcome == "upstream_error"
    assert [(turn.status, turn.model) for turn in turns] == [("failed", "first")]


def test_a_smaller_window_is_learned_and_planned_for(workspace):
    with FaultProvider(answer(400, TOO_LONG), says(GOOD)) as provider:
        replies, turns, rows, _ = propose(workspace, SMALL + endpoint(provider), 0, 1)

    assert [reply.outcome for reply in replies] == ["proposed", "proposed"]
    assert replies[0].notices == (
        "the endpoint's window is 1,024 tokens; planned for that from now on",
    )
    assert replies[1].notices == ()
    assert [turn.status for turn in turns] == ["complete", "complete"]
    assert len(provider.seen) == len(rows) == 3


def test_an_overflow_that_teaches_nothing_stores_nothing(workspace):
    with FaultProvider(answer(400, {"error": {"message": "context_length_exceeded"}})) as provider:
        [reply], turns, rows, chats = propose(workspace, endpoint(provider))

    assert (reply.outcome, reply.ops, turns, chats) == ("over_budget", (), [], [])
    assert len(rows) == 1


def test_the_limit_for_one_question_holds_over_all_its_calls(workspace):
    """The repair round would be the call too much."""
    money = '[prices."first"]\nprompt = 100.0\ncompletion = 0.0\n[limits]\nrequest = 0.09\n'
    with FaultProvider(says("no JSON", prompt=700)) as provider:
        toml = SMALL + endpoint(provider) + money
        [reply], turns, rows, _ = propose(workspace, toml)

    assert isinstance(reply, EditReply)
    assert (reply.outcome, reply.ops, len(rows)) == ("over_limit", (), 1)
    assert [turn.status for turn in turns] == ["failed"]
