"""A running turn and its readers: whoever leaves and comes back sees everything once, in order."""

import asyncio

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sill.app.running import KEEP_SECONDS, Failed, Mark, Overloaded, Running, Turns
from sill.core.budget import PROFILES, budget
from sill.core.certificate import Certificate
from sill.core.messages import Epoch
from sill.core.plan import Plan
from sill.engine.events import Delta, Finished, Notice, Refused, Started, Thought
from sill.engine.streams import Stop
from sill.errors import SillError, TurnInProgress

PLAN = Plan((), (), Epoch(), 0, budget(PROFILES["chat"]), False)
COUNTED = Certificate("exact", "words", 5)
STARTED = Started("chat", "turn", PLAN, COUNTED)
FINISHED = Finished("chat", "turn", "complete", "hello", COUNTED, None, 1)

events = st.lists(
    st.one_of(
        st.text(max_size=5).map(Delta),
        st.text(max_size=5).map(Thought),
        st.text(max_size=5).map(Notice),
    ),
    max_size=20,
)


def taken(sequence):
    running = Running("ann")
    for event in sequence:
        running.take(event)
    return running


def told(marked):
    """What a reader has: text, thoughts joined, and everything else in order."""
    return (
        "".join(e.text for _, e in marked if isinstance(e, Delta)),
        "".join(e.text for _, e in marked if isinstance(e, Thought)),
        [e for _, e in marked if not isinstance(e, Delta | Thought)],
    )


@given(events, st.data())
def test_every_mark_is_a_place_to_go_on_from(sequence, data):
    running = taken(sequence)
    whole = running.since(Mark())
    mark = data.draw(st.sampled_from([Mark(), *(seen for seen, _ in whole)]))
    before = whole[: [seen for seen, _ in whole].index(mark) + 1] if mark != Mark() else []

    assert told([*before, *running.since(mark)]) == told(whole)
    assert told(whole)[0] == "".join(e.text for e in sequence if isinstance(e, Delta))


@given(events, st.integers(1, 5))
def test_a_reader_who_looks_again_and_again_sees_the_same_as_one_who_looks_once(sequence, every):
    running, seen, mark = Running("ann"), [], Mark()
    for number, event in enumerate(sequence):
        running.take(event)
        if number % every == 0:
            fresh = running.since(mark)
            seen += fresh
            mark = fresh[-1][0] if fresh else mark
    seen += running.since(mark)

    assert told(seen) == told(running.since(Mark()))


@given(st.integers(0, 10**11), st.integers(0, 10**11))
def test_a_mark_is_read_as_it_is_written(text, others):
    assert Mark.read(str(Mark(text, others))) == Mark(text, others)


@pytest.mark.parametrize(
    "written, expected",
    [
        pytest.param("7", Mark(7, 0), id="a plain number"),
        pytest.param("7.2", Mark(7, 2), id="both"),
        pytest.param("-1", None, id="negative"),
        pytest.param("1.x", None, id="not a number"),
        pytest.param("1.2.3", None, id="too many"),
        pytest.param("٣", None, id="digits of another script"),
        pytest.param("9" * 13, None, id="too large"),
        pytest.param("", None, id="nothing"),
    ],
)
def test_what_is_no_mark_is_not_read(written, expected):
    assert Mark.read(written) == expected


async def scripted(*sequence):
    for event in sequence:
        if isinstance(event, Exception):
            raise event
        yield event
        await asyncio.sleep(0)


def start(turns, *sequence, owner="ann"):
    return turns.start(owner, lambda stop: scripted(*sequence))


@pytest.mark.parametrize(
    "sequence, expected",
    [
        pytest.param(
            [STARTED, Delta("hello"), FINISHED], [STARTED, Delta("hello"), FINISHED], id="whole"
        ),
        pytest.param(
            [STARTED, Delta("hel"), SillError("broke")],
            ["started", "text", "failed"],
            id="breaks after it began",
        ),
    ],
)
def test_a_turn_runs_to_its_end_without_a_reader(sequence, expected):
    async def check():
        turns = Turns()
        running = await start(turns, *sequence)
        await turns.wind_down(5)
        return running, [event async for _, event in running.follow(Mark())]

    running, seen = asyncio.run(check())

    assert running.is_ended
    if isinstance(expected[0], str):
        assert [type(event) for event in seen] == [Started, Delta, Failed]
    else:
        assert seen == expected


@pytest.mark.parametrize(
    "sequence, error",
    [
        pytest.param([TurnInProgress("busy")], TurnInProgress, id="refused by the store"),
        pytest.param([ValueError("bug")], ValueError, id="a bug"),
        pytest.param([], SillError, id="nothing came"),
    ],
)
def test_what_fails_before_the_turn_begins_is_raised_to_whoever_asked(sequence, error):
    async def check():
        with pytest.raises(error):
            await start(Turns(), *sequence)

    asyncio.run(check())


def test_a_refusal_is_a_value():
    refused = Refused(9, 5, "too long")

    assert asyncio.run(start(Turns(), Notice("x"), refused)) == refused


def test_nobody_finds_the_turn_of_another():
    async def check():
        turns = Turns()
        running = await start(turns, STARTED, FINISHED)
        return (
            turns.find("ann", "turn") is running,
            turns.find("bob", "turn"),
            turns.find("ann", "x"),
        )

    assert asyncio.run(check()) == (True, None, None)


def test_an_ended_turn_is_forgotten_after_a_while():
    now = 0.0

    async def check():
        nonlocal now
        turns = Turns(clock=lambda: now)
        await start(turns, STARTED, FINISHED)
        await turns.wind_down(5)
        now = KEEP_SECONDS
        kept = turns.find("ann", "turn") is not None
        now += 1
        return kept, turns.find("ann", "turn")

    assert asyncio.run(check()) == (True, None)


def test_turns_that_nobody_asks_for_again_are_forgotten_when_others_begin():
    now = 0.0

    async def check():
        nonlocal now
        turns = Turns(clock=lambda: now)
        first = await start(turns, STARTED, FINISHED)
        async for _ in first.follow(Mark()):
            pass
        await asyncio.sleep(0)  # the task ends after its last event
        now = KEEP_SECONDS + 1
        later = Started("chat", "later", PLAN, COUNTED)
        await start(turns, later, FINISHED)
        return list(turns._by_id)

    assert asyncio.run(check()) == ["later"]


def test_who_waits_for_the_end_is_told_with_the_last_event_and_once():
    calls = []
    running = taken([STARTED, Delta("x")])
    running.when_over(lambda: calls.append("while it runs"))
    assert calls == []

    running.take(FINISHED)
    running.end(1.0)
    running.when_over(lambda: calls.append("after it"))

    assert calls == ["while it runs", "after it"]


def test_an_answer_that_is_no_turn_is_waited_for_and_then_interrupted():
    async def check():
        turns, quick, slow = Turns(), Stop(), Stop()
        with turns.guest(slow):
            with turns.guest(quick):
                winding = asyncio.create_task(turns.wind_down(0.05))
                await asyncio.sleep(0)
            with pytest.raises(Overloaded), turns.guest(Stop()):
                pass
            await winding
            return quick.is_set(), slow.is_interrupt

    assert asyncio.run(check()) == (False, True)


def test_a_server_that_winds_down_takes_no_more_and_stops_what_does_not_end():
    async def check():
        turns = Turns()

        async def endless(stop):
            yield STARTED
            await stop.wait()
            yield FINISHED

        running = await turns.start("ann", endless)
        await turns.wind_down(0.01)
        with pytest.raises(Overloaded) as refused:
            await start(turns, STARTED)
        return running.is_ended, turns.in_flight, refused.value.code

    assert asyncio.run(check()) == (True, 0, "shutting_down")
