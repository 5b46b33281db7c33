"""A chat is a tree on every store: turns beside each other, and ways through them."""

from dataclasses import replace

import pytest

from sill.app.branches import fork, switch, tree
from sill.core.branches import Node
from sill.errors import UsageError
from sill.records import Pin
from tests.store.examples import closing, opening, say
from tests.store.servers import new_postgres  # noqa: F401

from .test_store import keep  # noqa: F401


async def beside(store, chat, turn, question, status="complete"):
    """A turn instead of another; its id."""
    begun = await store.begin(chat, replace(opening(question), instead_of=turn))
    await store.finish(begun, closing(f"answer to {question}", status))
    return begun


async def way(store, chat):
    return [turn.id for turn in (await store.history(chat)).turns]


def test_a_turn_beside_another_continues_what_that_one_continued(keep):  # noqa: F811
    async def check(store):
        chat = await store.new_chat("w")
        one, two, three = [await say(store, chat, text) for text in ("one", "two", "three")]
        other = await beside(store, chat, two, "two again")

        assert await way(store, chat) == [one, other]
        assert await tree(store, chat) == (
            Node(one, None, (one,), 0, True),
            Node(two, one, (two, other), 1, False),
            Node(three, two, (three,), 2, False),
            Node(other, one, (two, other), 1, True),
        )
        assert [t.id for t in (await store.history_at(other)).turns] == [one]

    keep(check)


def test_the_first_turn_can_be_asked_differently(keep):  # noqa: F811
    async def check(store):
        chat = await store.new_chat("w")
        one = await say(store, chat, "one")
        other = await beside(store, chat, one, "other")

        assert await way(store, chat) == [other]
        assert (await store.turn(other)).parent is None

    keep(check)


@pytest.mark.parametrize("status", ["failed", "cancelled", "partial"])
def test_a_turn_beside_another_that_does_not_succeed_leaves_the_chat_where_it_was(keep, status):  # noqa: F811
    async def check(store):
        chat = await store.new_chat("w")
        one, two = await say(store, chat, "one"), await say(store, chat, "two")
        await beside(store, chat, one, "one again", status)

        assert await way(store, chat) == [one, two]

    keep(check)


def test_only_a_turn_of_the_chat_can_be_stood_beside(keep):  # noqa: F811
    async def check(store):
        chat, elsewhere = await store.new_chat("w"), await store.new_chat("w")
        foreign = await say(store, elsewhere, "one")
        for turn in (foreign, "nobody"):
            with pytest.raises(UsageError):
                await store.begin(chat, replace(opening("two"), instead_of=turn))

        assert await store.turns(chat) == []
        assert await say(store, chat, "three") in await way(store, chat)

    keep(check)


def test_forks_and_switches_go_back_and_forth(keep):  # noqa: F811
    async def check(store):
        chat = await store.new_chat("w")
        one, two, three = [await say(store, chat, text) for text in ("one", "two", "three")]
        await fork(store, chat, one)
        other = await say(store, chat, "other")
        later = await say(store, chat, "later")

        assert await way(store, chat) == [one, other, later]
        assert await switch(store, chat, two) == three
        assert await way(store, chat) == [one, two, three]
        assert await switch(store, chat, other) == later
        assert await switch(store, chat, one) == later
        with pytest.raises(UsageError):
            await switch(store, chat, "nobody")
        await fork(store, chat, None)
        assert await way(store, chat) == []

    keep(check)


def test_a_failed_turn_is_not_where_a_branch_ends(keep):  # noqa: F811
    async def check(store):
        chat = await store.new_chat("w")
        one, two = await say(store, chat, "one"), await say(store, chat, "two")
        failed = await store.begin(chat, opening("three"))
        await store.finish(failed, closing("half", "failed"))

        assert await switch(store, chat, one) == two

    keep(check)


def test_pins_stay_with_their_chat_in_the_order_they_were_made(keep):  # noqa: F811
    async def check(store):
        chat, elsewhere = await store.new_chat("w"), await store.new_chat("w")
        turn, foreign = await say(store, chat, "one"), await say(store, elsewhere, "one")
        for pin in (Pin(path="b.md"), Pin(turn=turn), Pin(path="a.md"), Pin(path="b.md")):
            await store.pin(chat, pin)
        with pytest.raises(UsageError):
            await store.pin(chat, Pin(turn=foreign))

        assert await store.pins(chat) == [Pin(path="b.md"), Pin(turn=turn), Pin(path="a.md")]
        assert (await store.copy_chat(chat)).pins == tuple(await store.pins(chat))
        assert await store.unpin(chat, Pin(path="b.md")) is True
        assert await store.unpin(chat, Pin(path="b.md")) is False
        assert await store.pins(chat) == [Pin(turn=turn), Pin(path="a.md")]
        assert await store.pins(elsewhere) == []
        await store.delete_chat(chat)
        with pytest.raises(UsageError):
            await store.pins(chat)

    keep(check)


def test_an_imported_chat_has_its_pins(keep):  # noqa: F811
    async def check(store):
        chat = await store.new_chat("w")
        turn = await say(store, chat, "one")
        await store.pin(chat, Pin(turn=turn))
        copy = await store.copy_chat(chat)
        await store.delete_chat(chat)
        await store.add_copy(copy)

        assert await store.pins(chat) == [Pin(turn=turn)]

    keep(check)
