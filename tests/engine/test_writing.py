"""Completions and suggestions come from another endpoint when one does not answer: over real sockets."""

import asyncio
from contextlib import AsyncExitStack
from functools import partial

import pytest

from sill.app.complete import open_writer
from sill.engine.complete import Spot
from tests.models.fault_provider import CHUNKED, FaultProvider, Reset, answer, chunked, said

from .workspace import endpoint, fallback, says

SPOT = Spot("a.md", "one two ", " four", selection="three")
LONG = Spot("a.md", "".join(f"line {n} of many\n" for n in range(400)), "", selection="three")
NUMBERS = "profile.{0}.reply = 100\nprofile.{0}.margin = 0\n"
TOO_LONG = {"error": {"message": "maximum context length is 1024 tokens", "code": "context_length_exceeded"}}  # fmt: skip


def both(first: FaultProvider, second: FaultProvider, profile: str) -> str:
    other = fallback(f"{second.url}/v1", "second").replace("profile.chat.", f"profile.{profile}.")
    return endpoint(first) + other


def write(workspace, toml: str, profile: str, *times: float, spot: Spot = SPOT):
    """What came at these times, the ledger, and the chats that were stored."""

    async def run():
        async with (
            workspace.open(toml, profile=profile) as app,
            AsyncExitStack() as stack,
        ):
            writer, found = open_writer(app, workspace.settings, profile, stack), []
            for now in times or (0.0,):
                app.failover.clock = partial(float, now)
                if profile == "completion":
                    found.append(await writer.complete(spot))
                else:
                    found.append(await writer.suggest("Shorter.", spot))
            return found, await app.store.attempts(), await app.store.chats()

    return asyncio.run(run())


@pytest.mark.parametrize("profile", ["completion", "edit"])
@pytest.mark.parametrize(
    "script",
    [
        pytest.param([Reset()], id="connection reset"),
        pytest.param(answer(402, {"error": {"message": "no credit"}}), id="quota used up"),
        pytest.param(answer(507, {"error": {"message": "sorry"}}), id="fails by itself"),
    ],
)
def test_the_next_endpoint_answers_and_nothing_is_stored_but_the_cost(workspace, profile, script):
    with FaultProvider(script) as first, FaultProvider(says("3", prompt=70)) as second:
        [found], rows, chats = write(workspace, both(first, second, profile), profile)

        assert (found.outcome, found.text, found.error) == ("complete", "3", None)
        assert found.notices[-1] == f"second at {second.url}/v1 is asked instead"
        assert [(row.attempt.model, row.attempt.category) for row in rows] == [
            ("first", profile),
            ("second", profile),
        ]
        assert rows[1].attempt.predicted == found.certificate.predicted
        assert [len(first.seen), len(second.seen), chats] == [1, 1, []]


@pytest.mark.parametrize(
    "script",
    [
        pytest.param(answer(401, {"error": "bad key"}), id="the key is refused"),
        pytest.param([CHUNKED, chunked(said("th"))], id="after the first word"),
    ],
)
def test_what_another_endpoint_cannot_mend_stays_where_it_is(workspace, script):
    with FaultProvider(script) as first, FaultProvider(says("3")) as second:
        [found], _, _ = write(workspace, both(first, second, "edit"), "edit")

        assert (found.outcome, found.text, second.seen) == ("upstream_error", "", [])


def test_where_nobody_answers_the_first_failure_is_told(workspace):
    no_credit = answer(402, {"error": {"message": "no credit"}})
    with FaultProvider(no_credit) as first, FaultProvider([Reset()]) as second:
        [found], rows, chats = write(workspace, both(first, second, "edit"), "edit")

        assert (found.outcome, found.text, found.error, chats) == ("upstream_error", "", None, [])
        assert "no credit" in found.message
        assert {row.attempt.model for row in rows} == {"first", "second"}


def test_it_stays_with_the_fallback_for_a_while_and_goes_back(workspace):
    with FaultProvider([Reset()], says("3")) as first, FaultProvider(says("3")) as second:
        toml = both(first, second, "completion")
        found, rows, _ = write(workspace, toml, "completion", 0.0, 599.0, 601.0)

        assert [one.outcome for one in found] == ["complete"] * 3
        assert [row.attempt.model for row in rows] == ["first", "second", "second", "first"]


def test_a_remote_fallback_is_not_asked_without_consent(workspace):
    remote = '[[profile.edit.fallback]]\nbase_url = "https://models.example/v1"\nmodel = "x"\n'
    with FaultProvider([Reset()]) as first:
        [found], rows, _ = write(workspace, endpoint(first) + remote, "edit")

    assert found.outcome == "upstream_error"
    assert {row.attempt.model for row in rows} == {"first"}


@pytest.mark.parametrize("profile", ["completion", "edit"])
def test_a_smaller_window_is_learned_and_planned_for(workspace, profile):
    with FaultProvider(answer(400, TOO_LONG), says("3")) as provider:
        toml = NUMBERS.format(profile) + endpoint(provider)
        found, rows, chats = write(workspace, toml, profile, 0, 1, spot=LONG)

        assert [one.outcome for one in found] == ["complete", "complete"]
        assert [one.notices for one in found] == [
            ("the endpoint's window is 1,024 tokens; planned for that from now on",),
            (),
        ]
        assert len(provider.seen) == len(rows) == 3
        assert rows[0].attempt.predicted > 1024 - 100
        assert all(row.attempt.predicted <= 1024 - 100 for row in rows[1:])
        assert chats == []


def test_an_overflow_that_teaches_nothing_is_told(workspace):
    with FaultProvider(answer(400, {"error": {"message": "context_length_exceeded"}})) as provider:
        [found], rows, _ = write(workspace, endpoint(provider), "edit")

    assert (found.outcome, found.text, len(rows)) == ("over_budget", "", 1)
