"""Completion at the cursor and suggestions for a selection: what is sent, what is cut, how it ends."""

import asyncio
import json

import pytest

from sill.core.budget import Profile
from sill.engine.complete import Hole, Prompt, Said, Spot, Suggested, Writer
from sill.engine.prepare import Call
from sill.errors import LimitReached, Overflow, Unreachable
from sill.ports import Ended, TextDelta
from sill.testing import ScriptedModel, WordCounter

PROMPT = Prompt("Write on.\n\n{{EDIT_RULES}}")
RULES = "Change only what was asked. Keep the file's indentation, line ends and language."
CUT = Ended("partial", "length", None, reason="limit")
BROKEN = Ended("partial", None, None, reason="the connection ended")


def make_writer(
    *replies, window=400, prefix=100, suffix=50, **more
) -> tuple[Writer, ScriptedModel]:
    model = ScriptedModel(*replies)

    async def booked(request):
        return model

    numbers = Profile(window=window, reply=20, prefix=prefix, suffix=suffix, temperature=0.0)
    call = Call("scripted", numbers, window, "")
    return Writer(call, WordCounter(), booked, PROMPT, **more), model


def complete(writer: Writer, spot: Spot, stop=None) -> Suggested:
    return asyncio.run(writer.complete(spot, stop))


def sent(model: ScriptedModel) -> dict[str, str]:
    content = model.sent[-1].messages[-1].content or ""
    return json.loads(content.partition("\n\n")[0])


def lines(name: str, count: int) -> str:
    return "".join(f"{name} {n}\n" for n in range(count))


def test_a_completion_sends_both_sides_of_the_cursor():
    writer, model = make_writer(["three"])

    done = complete(writer, Spot("a.md", "one two ", " four"))

    assert (done.outcome, done.text, done.cut) == ("complete", "three", ())
    assert sent(model) == {
        "path": "a.md",
        "language": "markdown",
        "before_cursor": "one two ",
        "after_cursor": " four",
    }
    assert done.certificate is not None and done.certificate.drift == 0


@pytest.mark.parametrize(
    "window, cut",
    [
        pytest.param(400, (), id="all fits"),
        pytest.param(150, ("suffix",), id="first the suffix"),
        pytest.param(80, ("suffix", "prefix"), id="then the prefix"),
        pytest.param(60, ("suffix", "prefix", "conversation"), id="then the conversation"),
        pytest.param(33, ("suffix", "prefix", "conversation", "system"), id="the system last"),
    ],
)
def test_the_order_of_cuts_and_the_selection_stays_whole(window, cut):
    writer, model = make_writer(["ok"], window=window, prefix=1000, suffix=1000)
    spot = Spot("a.md", lines("before", 30), lines("after", 30), "this selection stays as it is")
    talk = [Said("user", "what " * 9), Said("assistant", "that " * 9)]

    done = asyncio.run(writer.suggest("Make it shorter", spot, talk))

    assert (done.outcome, done.cut) == ("complete", cut)
    assert sent(model)["selection"] == "this selection stays as it is"
    assert (model.sent[-1].messages[-1].content or "").endswith("\n\nMake it shorter")
    assert (RULES in (model.sent[-1].messages[0].content or "")) == ("system" not in cut)
    assert done.certificate is not None
    assert done.certificate.predicted <= writer.call.budget.room


def test_what_is_nearest_to_the_cursor_stays():
    writer, model = make_writer(["ok"], prefix=4, suffix=2)

    complete(writer, Spot("a.md", lines("before", 9), lines("after", 9)))

    assert (sent(model)["before_cursor"], sent(model)["after_cursor"]) == (
        "before 7\nbefore 8\n",
        "after 0\n",
    )


@pytest.mark.parametrize(
    "reply, expected",
    [
        pytest.param(["```py\nx = 1\n```"], ("complete", "x = 1"), id="a fence is taken off"),
        pytest.param(["  indented"], ("complete", "  indented"), id="white space stays"),
        pytest.param([""], ("nothing", ""), id="nothing"),
        pytest.param(["half", BROKEN], ("upstream_error", ""), id="connection lost"),
        pytest.param([Unreachable("gone")], ("upstream_error", ""), id="unreachable"),
        pytest.param([Overflow("long")], ("over_budget", ""), id="the endpoint has no room"),
    ],
)
def test_how_a_reply_ends(reply, expected):
    writer, _ = make_writer(reply)

    done = complete(writer, Spot("a.py", "x"))

    assert (done.outcome, done.text) == expected


def test_a_cut_completion_is_used_and_a_cut_suggestion_is_not():
    writer, _ = make_writer(["half of", CUT], ["half of", CUT])

    completed = complete(writer, Spot("a.md", "x"))
    suggested = asyncio.run(writer.suggest("Do it", Spot("a.md", "x", "", "y")))

    assert (completed.outcome, completed.text) == ("complete", "half of")
    assert (suggested.outcome, suggested.text) == ("truncated", "")


def test_a_selection_that_does_not_fit_is_not_sent():
    writer, model = make_writer()

    done = asyncio.run(writer.suggest("Do it", Spot("a.md", "", "", "word " * 1000)))

    assert (done.outcome, done.text, model.sent) == ("over_budget", "", [])
    assert "select less" in done.message


def test_what_is_switched_off_sends_nothing():
    writer, model = make_writer(is_enabled=False)

    assert complete(writer, Spot("a.md", "x")).outcome == "disabled"
    assert asyncio.run(writer.suggest("Do", Spot("a.md", "x"))).outcome == "disabled"
    assert model.sent == []


def test_what_could_cost_too_much_is_not_asked():
    writer, _ = make_writer()

    async def refuse(request):
        raise LimitReached("too dear", limit=1, spent=1, wanted=1)

    done = complete(Writer(writer.call, writer.counter, refuse, PROMPT), Spot("a.md", "x"))

    assert (done.outcome, done.message) == ("over_limit", "too dear")


def test_a_model_that_fills_holes_gets_the_bare_texts():
    holes = []

    async def fill(hole):
        holes.append(hole)
        yield TextDelta("middle")
        yield CUT

    writer, model = make_writer(prefix=4, suffix=2, fill=fill)

    done = complete(writer, Spot("a.py", lines("before", 9), lines("after", 9)))

    assert holes == [Hole("before 7\nbefore 8\n", "after 0\n", 20, 0.0)]
    assert (done.outcome, done.text, done.cut) == ("complete", "middle", ("suffix", "prefix"))
    assert model.sent == []


def test_a_stopped_completion_is_cancelled():
    stop = asyncio.Event()

    class Slow(ScriptedModel):
        async def stream(self, request):
            yield TextDelta("so far")
            stop.set()
            await asyncio.sleep(3600)

    writer, _ = make_writer()

    async def booked(request):
        return Slow()

    done = complete(Writer(writer.call, writer.counter, booked, PROMPT), Spot("a.md", "x"), stop)

    assert (done.outcome, done.text) == ("cancelled", "")
