"""What every store promises: in memory, on SQLite and on a real PostgreSQL server."""

import asyncio
from collections.abc import Callable, Coroutine
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from sill.adapters.store import open_store
from sill.core.certificate import Certificate, Usage
from sill.core.cost import Price, Rates
from sill.core.messages import Epoch, Message, fingerprint
from sill.errors import Fenced, TurnInProgress, UsageError
from sill.ports import Closing, History, SoFar, Store
from sill.records import (
    Attempt,
    Cap,
    OverCap,
    Recorded,
    Settlement,
    StoredProposal,
)
from sill.testing import MemoryStore
from tests.store.examples import (
    CERTIFICATE,
    EVERYTHING,
    asked,
    body,
    closing,
    opening,
    say,
    tool_round,
)
from tests.store.servers import new_postgres  # noqa: F401

Check = Callable[[Store], Coroutine[Any, Any, None]]
KINDS = [
    pytest.param("memory", id="memory"),
    pytest.param("sqlite", id="sqlite"),
    pytest.param("postgres", id="postgres", marks=pytest.mark.slow),
]


@pytest.fixture(params=KINDS)
def keep(request: pytest.FixtureRequest, tmp_path: Path) -> Callable[[Check], None]:
    """Runs a check against a new store."""

    async def opened() -> Store:
        match request.param:
            case "memory":
                return MemoryStore()
            case "sqlite":
                return await open_store(tmp_path / "sill.db")
            case _:
                return await open_store(request.getfixturevalue("new_postgres")())

    def run(check: Check) -> None:
        async def body() -> None:
            store = await opened()
            try:
                await check(store)
            finally:
                await store.close()

        if request.param == "postgres":
            request.getfixturevalue("new_postgres")
        asyncio.run(body())

    return run


def test_a_new_chat_is_empty_and_the_latest(keep):
    async def check(store):
        first, second = await store.new_chat("w"), await store.new_chat("w", "  Second\nchat ")

        assert await store.history(first) == History((), Epoch())
        assert await store.latest_chat("w") == second
        assert await store.latest_chat("elsewhere") is None

    keep(check)


def test_a_turn_comes_back_whole(keep):
    async def check(store):
        chat = await store.new_chat("w")
        epoch = Epoch(
            0, None, frozenset({("turn-1", 0), ("turn-2", 3)}), frozenset({("turn-2", 5)})
        )
        begun = replace(opening("q", epoch=epoch), messages=EVERYTHING)
        turn = await store.begin(chat, begun)
        await store.finish(turn, closing("done"))
        found = await store.turn(turn)

        assert found == replace(
            found,
            id=turn,
            chat=chat,
            status="complete",
            messages=(*EVERYTHING, Message("assistant", "done")),
            model="m",
            endpoint="http://localhost/v1",
            outcome="stop",
            certificate=Certificate("exact", "words", 12, "template", 13),
            usage=Usage(13, 4, 2, 1, 3),
            epoch=epoch,
            plan=begun.plan,
            request=begun.request,
            took_ms=5,
            references='["note.md"]',
            sequence=1,
            parent=None,
        )
        assert (await store.history(chat)).turns == (replace(found, plan="", request=b""),)
        assert await store.turns(chat) == [replace(found, request=b"")]
        assert await store.turn("nobody") is None

    keep(check)


@pytest.mark.parametrize("status", ["partial", "failed", "cancelled"])
def test_only_complete_turns_are_history(keep, status):
    async def check(store):
        chat = await store.new_chat("w")
        first = await say(store, chat, "one")
        turn = await store.begin(chat, opening("two"))
        await store.finish(turn, closing("half", status))
        third = await say(store, chat, "three")

        assert [turn.id for turn in (await store.history(chat)).turns] == [first, third]
        assert asked(await store.turns(chat)) == ["one", "two", "three"]
        assert asked(await store.turns(chat, limit=2)) == ["two", "three"]
        assert await store.turns(chat, limit=0) == []

    keep(check)


def test_history_starts_at_the_epochs_first_turn(keep):
    async def check(store):
        chat = await store.new_chat("w")
        ids = [await say(store, chat, str(number)) for number in range(4)]
        epoch = Epoch(1, ids[2])
        await say(store, chat, "4", epoch)
        history = await store.history(chat)

        assert (asked(history.turns), history.epoch, history.earlier) == (["2", "3", "4"], epoch, 2)

    keep(check)


def test_an_epoch_that_keeps_no_earlier_turn_starts_with_the_turn_that_began_it(keep):
    async def check(store):
        chat = await store.new_chat("w")
        await say(store, chat, "0")
        begun = await say(store, chat, "1", Epoch(1, None))
        await say(store, chat, "2", (await store.history(chat)).epoch)
        history = await store.history(chat)

        assert (asked(history.turns), history.epoch, history.earlier) == (
            ["1", "2"],
            Epoch(1, begun),
            1,
        )

    keep(check)


def test_every_turn_remembers_what_it_was_planned_from(keep):
    async def check(store):
        chat = await store.new_chat("w")
        ids, histories = [], []
        for number in range(6):
            histories.append(await store.history(chat))
            epoch = Epoch(1, ids[2]) if number > 3 else None
            ids.append(await say(store, chat, str(number), epoch))
        await store.branch(chat, ids[1])
        await say(store, chat, "elsewhere")

        assert [await store.history_at(id) for id in ids] == histories
        with pytest.raises(UsageError):
            await store.history_at("nobody")

    keep(check)


def test_a_second_open_turn_is_refused_and_writes_nothing(keep):
    async def check(store):
        chat = await store.new_chat("w")
        turn = await store.begin(chat, opening("one"))
        with pytest.raises(TurnInProgress):
            await store.begin(chat, opening("two"))
        with pytest.raises(TurnInProgress):
            await store.delete_chat(chat)
        with pytest.raises(TurnInProgress):
            await store.branch(chat, None)

        assert asked(await store.turns(chat)) == ["one"]
        await store.finish(turn, closing())
        await say(store, chat, "three")
        assert asked((await store.history(chat)).turns) == ["one", "three"]

    keep(check)


def test_two_chats_have_a_turn_in_flight_each(keep):
    async def check(store):
        chats = [await store.new_chat("w") for _ in range(2)]
        turns = [await store.begin(chat, opening("same words")) for chat in chats]
        for turn in turns:
            await store.finish(turn, closing())

        assert [len((await store.history(chat)).turns) for chat in chats] == [1, 1]

    keep(check)


def test_a_closed_turn_takes_no_more_writes(keep):
    async def check(store):
        chat = await store.new_chat("w")
        turn = await say(store, chat, "one")
        for late in (
            store.finish(turn, closing("again")),
            store.checkpoint(turn, "x" * 500),
            store.record_request(turn, CERTIFICATE, b"{}"),
            store.finish("nobody", closing()),
        ):
            with pytest.raises(Fenced):
                await late

        assert (await store.turn(turn)).messages[-1].text == "answer to one"

    keep(check)


LONG = "a question that is long enough to be a text of its own in the store "


@pytest.mark.parametrize(
    "before, between",
    [
        pytest.param([], [], id="the first turn of a chat"),
        pytest.param(["one", LONG], [], id="after others"),
        pytest.param(["one", LONG], ["checkpoint"], id="with half an answer"),
        pytest.param([LONG * 2], ["record", "checkpoint", "record"], id="after tool rounds"),
    ],
)
def test_a_discarded_turn_was_never_begun(keep, before, between):
    async def check(store):
        chat, other = await store.new_chat("w"), await store.new_chat("w")
        for question in before:
            await say(store, chat, question)
        await asyncio.sleep(0.002)  # so that the turn would change when the chat was used
        shared = await store.begin(other, opening(LONG * 3))
        was = (await store.copy_chat(chat), await store.history(chat), await store.chat(chat))
        epoch = Epoch(1, None, frozenset({("turn-9", 0)}))
        turn = await store.begin(chat, opening(LONG, LONG * 3, "harbour", epoch=epoch))
        for step in between:
            if step == "record":
                await store.record_request(turn, CERTIFICATE, body(LONG, LONG * 3, LONG * 4))
            else:
                await store.checkpoint(turn, "half an answer " * 40)
        await store.discard(turn)
        is_now = (await store.copy_chat(chat), await store.history(chat), await store.chat(chat))

        assert is_now == was
        assert (await store.turn(turn), await store.partial(turn)) == (None, "")
        assert (await store.requests(turn), await store.turn_ids(turn)) == ([], [])
        for late in (store.discard(turn), store.finish(turn, closing())):
            with pytest.raises(Fenced):
                await late
        again = await say(store, chat, LONG * 4)
        await store.finish(shared, closing())
        assert asked(await store.turns(chat)) == [*before, LONG * 4]
        assert (await store.turn(again)).request == body(LONG * 4)
        assert (await store.turn(shared)).request == body(LONG * 3)
        assert await store.search("harbour") == []

    keep(check)


def test_what_a_discarded_turn_has_cost_stays_in_the_ledger(keep):
    async def check(store):
        chat = await store.new_chat("w")
        turn = await store.begin(chat, opening("one"))
        row = await store.open_attempt(Attempt("main", "m", "e", chat, turn, 9, 600))
        await store.discard(turn)

        assert [found.id for found in await store.attempts(turn=turn)] == [row]

    keep(check)


def test_a_finished_turn_cannot_be_discarded(keep):
    async def check(store):
        chat = await store.new_chat("w")
        turn = await say(store, chat, "one")
        for late in (turn, "nobody"):
            with pytest.raises(Fenced):
                await store.discard(late)

        assert asked(await store.turns(chat)) == ["one"]

    keep(check)


def test_a_chat_that_is_not_there_is_a_mistake(keep):
    async def check(store):
        for call in (
            store.history("x"),
            store.begin("x", opening("q")),
            store.turns("x"),
            store.delete_chat("x"),
            store.change_chat("x", title="t"),
            store.branch("x", None),
        ):
            with pytest.raises(UsageError):
                await call

    keep(check)


def test_every_request_of_a_turn_has_its_plan_and_the_turn_the_last_one(keep):
    async def check(store):
        chat = await store.new_chat("w")
        plans = [f'{{"version":1,"items":[{n}]}}' + " " * 400 for n in range(5)]
        first = await store.begin(chat, replace(opening("one"), plan=plans[0]))
        await store.finish(first, closing("done"))
        second = await store.begin(chat, replace(opening("two"), plan=plans[1]))
        epoch = Epoch(1, second)
        rounds = [body("two", "2"), body("two", "2", "3")]
        for request, plan in zip(rounds, plans[2:4], strict=True):
            await store.record_request(second, CERTIFICATE, request, SoFar(plan=plan))
        await store.finish(second, replace(closing("done"), epoch=epoch))
        third = await store.begin(chat, replace(opening("three", epoch=epoch), plan=plans[4]))
        await store.finish(third, closing("done"))

        found = [await store.turn(turn) for turn in (first, second, third)]
        assert [one.plan for one in found] == [plans[0], plans[3], plans[4]]
        assert [one.plan for one in await store.turns(chat)] == [plans[0], plans[3], plans[4]]
        assert await store.requests(second) == [
            Recorded(CERTIFICATE, body("two"), plans[1]),
            Recorded(CERTIFICATE, rounds[0], plans[2]),
            Recorded(CERTIFICATE, rounds[1], plans[3]),
        ]
        assert [one.epoch for one in found] == [Epoch(), epoch, epoch]
        assert [one.id for one in (await store.history(chat)).turns] == [second, third]

    keep(check)


def test_every_request_of_a_turn_is_kept_byte_by_byte(keep):
    async def check(store):
        chat = await store.new_chat("w")
        requests = [
            body("a long question that is worth a row of its own " * 3),
            body("a long question that is worth a row of its own " * 3, "its tool result"),
            b"\xff not even text \x00",
            b"",
        ]
        turn = await store.begin(chat, opening("q", request=requests[0]))
        for request in requests[1:]:
            await store.record_request(turn, CERTIFICATE, request)
        await store.finish(turn, closing())

        plans = [opening("q").plan, "", "", ""]
        assert await store.requests(turn) == [
            Recorded(CERTIFICATE, *pair) for pair in zip(requests, plans, strict=True)
        ]
        assert (await store.turn(turn)).request == requests[-1]
        assert await store.requests("nobody") == []

    keep(check)


def test_tool_rounds_are_kept_as_they_come(keep):
    async def check(store):
        chat = await store.new_chat("w")
        turn = await store.begin(chat, opening("q"))
        await store.checkpoint(turn, "I look it up. " * 30)
        begun = (await store.turn(turn)).messages
        first, second = tool_round(1, "found"), tool_round(2, "found more")
        await store.record_request(turn, CERTIFICATE, body("1"), SoFar(first))
        one = (await store.turn(turn)).messages[len(begun) :], await store.partial(turn)
        await store.checkpoint(turn, "And then " * 40)
        two = await store.partial(turn)
        away = (*tool_round(1, "put away"), *second)
        await store.record_request(turn, CERTIFICATE, body("2"), SoFar(away, '["a.md"]'))
        three = (await store.turn(turn)).messages[len(begun) :]
        end = replace(closing(), messages=(*away, Message("assistant", "the answer")))
        await store.finish(turn, end)

        assert one == (first, "looking up 1")
        assert two == "looking up 1\n\n" + "And then " * 40
        assert three == away
        assert (await store.turn(turn)).messages == begun + end.messages

    keep(check)


def test_words_before_a_tool_call_are_found(keep):
    async def check(store):
        chat = await store.new_chat("w")
        turn = await store.begin(chat, opening("q"))
        rounds = tool_round(1, "brought")
        end = replace(closing(), messages=(*rounds, Message("assistant", "the answer")))
        await store.finish(turn, end)

        assert [hit.turn for hit in await store.search("looking answer")] == [turn]
        assert await store.search("brought") == []
        await store.delete_chat(chat)
        assert await store.search("looking") == []

    keep(check)


def test_what_has_arrived_can_be_read_while_the_turn_is_open(keep):
    async def check(store):
        chat = await store.new_chat("w")
        turn = await store.begin(chat, opening("q"))
        await store.checkpoint(turn, "héllo " * 60)
        await store.checkpoint(turn, "héllo " * 120)

        assert await store.partial(turn) == "héllo " * 120
        await store.checkpoint(turn, "started over " * 30)
        assert await store.partial(turn) == "started over " * 30
        await store.finish(turn, closing())
        assert await store.partial(turn) == ""

    keep(check)


@pytest.mark.parametrize("status", ["partial", "cancelled"])
def test_a_cut_turn_can_be_kept_while_it_is_the_last(keep, status):
    async def check(store):
        chat = await store.new_chat("w")
        await say(store, chat, "one")
        half = await store.begin(chat, opening("two"))
        await store.finish(half, closing("half", status))

        assert await store.keep(half) is True
        await say(store, chat, "three")
        assert asked((await store.history(chat)).turns) == ["one", "two", "three"]
        lost = await store.begin(chat, opening("four"))
        await store.finish(lost, closing("half", status))
        await say(store, chat, "five")
        assert await store.keep(lost) is False
        assert asked((await store.history(chat)).turns) == ["one", "two", "three", "five"]

    keep(check)


def test_a_branch_shares_what_came_before(keep):
    async def check(store):
        chat = await store.new_chat("w")
        first = await say(store, chat, "one")
        second = await say(store, chat, "two")
        await store.branch(chat, first)
        third = await say(store, chat, "two, said better")

        assert asked((await store.history(chat)).turns) == ["one", "two, said better"]
        assert (await store.turn(third)).parent == first
        await store.branch(chat, second)
        assert asked((await store.history(chat)).turns) == ["one", "two"]
        await store.branch(chat, None)
        assert await store.history(chat) == History((), Epoch())
        with pytest.raises(UsageError):
            await store.branch(chat, "nobody")

    keep(check)


def test_chats_are_listed_pinned_first_and_renamed(keep):
    async def check(store):
        one, two, three = [await store.new_chat("w", t) for t in ("one", "two", "three")]
        await store.new_chat("elsewhere", "four")
        await store.change_chat(one, pinned=True)
        await store.change_chat(three, title="Three", archived=True)
        chats = await store.chats("w")

        assert [(c.title, c.pinned, c.archived) for c in chats] == [
            ("one", True, False),
            ("Three", False, True),
            ("two", False, False),
        ]
        assert len(await store.chats()) == 4
        assert await store.latest_chat("w") == two
        assert (await store.chat(three)).title == "Three"
        assert await store.chat("nobody") is None

    keep(check)


def test_a_deleted_chat_is_gone_and_others_keep_their_texts(keep):
    async def check(store):
        shared = "the same long question in two chats, stored once for both of them"
        one, two = await store.new_chat("w"), await store.new_chat("w")
        await say(store, one, shared)
        turn = await say(store, two, shared)
        await store.delete_chat(one)

        assert [chat.id for chat in await store.chats()] == [two]
        assert (await store.turn(turn)).request == body(shared)
        assert [found.chat for found in await store.search("question")] == [two]

    keep(check)


def test_pruning_spares_what_was_used_or_pinned(keep):
    async def check(store):
        old, pinned = await store.new_chat("w"), await store.new_chat("w")
        await store.change_chat(pinned, pinned=True)
        await say(store, old, "hello")
        used = (await store.chat(old)).used_ms

        assert await store.prune(used) == []
        assert await store.prune(used + 60_000) == [old]
        assert [chat.id for chat in await store.chats()] == [pinned]

    keep(check)


@pytest.mark.parametrize(
    "words, expected",
    [
        pytest.param("harbour", [0], id="one word"),
        pytest.param("HARBOUR boats", [0], id="all of them, in any case"),
        pytest.param("harbour sheep", [], id="not only some of them"),
        pytest.param('"a red harbour"', [0], id="words that stand together"),
        pytest.param('"harbour red"', [], id="not the other way round"),
        pytest.param("answer", [1, 0], id="replies too"),
        pytest.param("港の船", [1], id="scripts without spaces"),
        pytest.param('" *:^(AND', [], id="signs are not commands"),
        pytest.param("  ", [], id="nothing"),
        pytest.param("secret", [], id="not what only the model saw"),
    ],
)
def test_search(keep, words, expected):
    async def check(store):
        chat = await store.new_chat("w", "Title")
        hidden = replace(EVERYTHING[0], text="a secret harbour in a file")
        first = await store.begin(
            chat,
            replace(
                opening("q"), messages=(hidden, Message("user", "boats in a red harbour, see"))
            ),
        )
        await store.finish(first, closing("answer"))
        second = await say(store, chat, "sheep? 古い港の船です")
        found = await store.search(words)

        assert sorted(f.turn for f in found) == sorted([first, second][n] for n in expected)
        assert all((f.chat, f.title) == (chat, "Title") for f in found)
        assert await store.search(words, workspace="elsewhere") == []
        assert len(await store.search(words, limit=1)) == min(1, len(expected))

    keep(check)


def test_counts_are_remembered_by_tokenizer(keep):
    async def check(store):
        a, b = fingerprint("a"), fingerprint("b")
        await store.remember_counts("words", {a: 1, b: 2})
        await store.remember_counts("words", {a: 3})
        await store.remember_counts("bytes", {b: 9})

        assert await store.known_counts("words", [a, b, fingerprint("c")]) == {a: 3, b: 2}
        assert await store.known_counts("bytes", [a, b]) == {b: 9}
        assert await store.known_counts("other", [a]) == {}
        assert await store.known_counts("words", []) == {}

    keep(check)


def test_an_attempt_reserves_before_it_pays(keep):
    async def check(store):
        caps = [Cap(1_000, chat="c"), Cap(1_500)]
        call = Attempt("main", "m", "http://x", "c", "t", 9, 600, tokenizer="words", ratio=1.25)
        first = await store.open_attempt(call, caps)
        refused = await store.open_attempt(call, caps)

        assert refused == OverCap(caps[0], spent=600, wanted=600)
        await store.settle_attempt(first, Settlement("complete", 200, Usage(9, 3), cost=100))
        second = await store.open_attempt(call, caps)
        other = await store.open_attempt(replace(call, chat="d", reserved=801), caps)
        assert other == OverCap(caps[1], spent=700, wanted=801)
        await store.settle_attempt(second, Settlement("failed", 500))
        rows = await store.attempts(chat="c", turn="t")
        assert [(row.id, row.attempt, row.settlement) for row in rows] == [
            (first, call, Settlement("complete", 200, Usage(9, 3), cost=100)),
            (second, call, Settlement("failed", 500)),
        ]
        # What a call cost is not known: its reservation still counts.
        assert [await store.spent(cap) for cap in (*caps, Cap(0, chat="nobody"))] == [700, 700, 0]
        assert (await store.open_attempt(replace(call, reserved=301), caps)).spent == 700
        assert await store.attempts(since_ms=rows[-1].started_ms + 60_000) == []
        assert await store.attempts(chat="nobody") == []

    keep(check)


def test_an_attempt_keeps_the_price_that_was_applied(keep):
    tiered = Price(Rates(3, 15, cached=1, cache_write=4), "a list", ((200_000, Rates(6, 22)),))
    dearer = Price(Rates(4, 16), "the settings")
    calls = [
        Attempt("main", "m", "http://x", price=tiered),
        Attempt("main", "m", "http://x", price=dearer),
        Attempt("edit", "m", "http://x", price=tiered),
        Attempt("main", "m", "http://y", price=tiered),
        Attempt("main", "n", "http://x"),
    ]

    async def check(store):
        for call in calls:
            await store.open_attempt(call)
        rows = await store.attempts()

        assert [row.attempt for row in rows] == calls
        # Since it was first applied: one price of one model at one place is one.
        assert rows[2].price_since_ms == rows[0].price_since_ms
        assert all(abs(row.price_since_ms - row.started_ms) < 60_000 for row in rows[:4])
        assert rows[4].price_since_ms is None

    keep(check)


def test_proposals_remember_who_decided(keep):
    async def check(store):
        chat = await store.new_chat("w")
        await store.add_proposal(StoredProposal("p1", chat, "t", '{"ops": []}'))
        await store.add_proposal(StoredProposal("p2", chat, "t", "{}"))
        await store.decide_proposal("p1", "applied", "ann")
        first, second = await store.proposals(chat)

        assert first == await store.proposal("p1")
        assert (first.body, first.status, first.decided_by) == ('{"ops": []}', "applied", "ann")
        assert (second.status, second.decided_ms, second.decided_by) == ("open", None, "")
        assert await store.proposal("p3") is None

    keep(check)


def test_a_document_is_noted_once_and_never_again_once_it_was_forgotten(keep):
    async def check(store):
        assert await store.note_document("w", "a.md", "a.md is used often")
        assert not await store.note_document("w", "a.md", "again")
        assert await store.note_document("elsewhere", "a.md", "a.md is used often")
        (note,) = await store.notes("w")
        assert (note.text, note.turn, note.document) == ("a.md is used often", "", "a.md")
        await store.change_note(note.id, "a.md: ask Ann")
        assert [one.text for one in await store.notes("w")] == ["a.md: ask Ann"]
        await store.forget_note(note.id)

        assert await store.notes("w") == []
        assert not await store.note_document("w", "a.md", "again")
        assert [one.document for one in await store.notes("elsewhere")] == ["a.md"]

    keep(check)


def test_references_are_told_by_turn(keep):
    async def check(store):
        here, there = await store.new_chat("w"), await store.new_chat("elsewhere")
        for chat, status, references in (
            (here, "complete", "[1]"),
            (here, "failed", "[2]"),
            (there, "complete", "[3]"),
        ):
            turn = await store.begin(chat, opening("question"))
            await store.finish(turn, Closing(status, (), references=references))

        assert await store.referred_to("w") == [(here, "[1]")]

    keep(check)


def test_notes_are_kept_by_workspace(keep):
    async def check(store):
        one = await store.note("w", "tea, no sugar\x00", "turn-1")
        two = await store.note("w", "lives in Ghent")
        await store.note("elsewhere", "another")
        await store.change_note(one, "tea")
        await store.forget_note(two)
        (note,) = await store.notes("w")

        assert (note.id, note.workspace, note.text, note.turn) == (one, "w", "tea", "turn-1")

    keep(check)


def test_a_turn_whose_answer_holds_nothing_is_still_a_turn(keep):
    async def check(store):
        chat = await store.new_chat("w")
        turn = await store.begin(chat, opening(""))
        await store.finish(turn, Closing("complete", ()))
        (found,) = (await store.history(chat)).turns

        assert found.messages == (Message("user", ""),)

    keep(check)
