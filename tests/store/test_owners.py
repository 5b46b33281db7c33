"""What belongs to one owner does not exist for another."""

import asyncio

import pytest

from sill.adapters.store import open_store
from sill.adapters.store.schema import OWNED
from sill.core.messages import fingerprint
from sill.errors import Fenced, StoreError, UsageError
from sill.records import Attempt, Settlement, StoredProposal
from tests.store.examples import closing, opening, say

SECRET = "the harbour is where the treasure lies, and nobody else may know about it"


def test_nothing_of_one_owner_can_be_reached_by_another(place):
    async def check():
        ann = await open_store(place, "ann")
        bob = ann.as_owner("bob")
        chat = await ann.new_chat("w", "Ann's")
        turn = await say(ann, chat, SECRET)
        open_turn = await ann.begin(chat, opening("open"))
        await ann.checkpoint(open_turn, SECRET * 9)
        await ann.remember_counts("words", {fingerprint(SECRET): 14})
        await ann.add_proposal(StoredProposal("p", chat, turn, "{}"))
        note = await ann.note("w", SECRET)
        attempt = await ann.open_attempt(Attempt("main", "m", "x", chat=chat, reserved=5))

        assert await bob.chats() == []
        assert await bob.chat(chat) is None
        assert await bob.latest_chat("w") is None
        assert await bob.turn(turn) is None
        assert await bob.requests(turn) == []
        assert await bob.partial(open_turn) == ""
        assert await bob.search("harbour") == []
        assert await bob.known_counts("words", [fingerprint(SECRET)]) == {}
        assert await bob.proposals(chat) == []
        assert await bob.proposal("p") is None
        assert await bob.notes("w") == []
        assert await bob.attempts() == []
        assert await bob.prune(2**50) == []
        for call in (
            bob.history(chat),
            bob.turns(chat),
            bob.begin(chat, opening("mine now")),
            bob.delete_chat(chat),
            bob.change_chat(chat, title="Bob's"),
            bob.branch(chat, None),
            bob.keep(turn),
            bob.decide_proposal("p", "applied", "bob"),
            bob.change_note(note, "x"),
        ):
            with pytest.raises(UsageError):
                await call
        for call in (bob.finish(open_turn, closing()), bob.checkpoint(open_turn, "x")):
            with pytest.raises(Fenced):
                await call
        await bob.forget_note(note)
        await bob.settle_attempt(attempt, Settlement("stolen"))

        assert [row.settlement for row in await ann.attempts()] == [None]
        assert [row.text for row in await ann.notes("w")] == [SECRET]
        assert (await ann.turn(turn)).messages[0].text == SECRET
        await ann.close()

    asyncio.run(check())


def test_the_same_words_of_two_owners_are_stored_for_each(place):
    async def check():
        ann = await open_store(place, "ann")
        bob = ann.as_owner("bob")
        chats = [await ann.new_chat("w"), await bob.new_chat("w")]
        await say(ann, chats[0], SECRET)
        turn = await say(bob, chats[1], SECRET)
        await ann.delete_chat(chats[0])

        assert (await bob.turn(turn)).messages[0].text == SECRET
        await ann.close()

    asyncio.run(check())


@pytest.mark.slow
def test_row_level_security_holds_where_a_query_forgets_its_owner(new_postgres):
    place = new_postgres()

    async def check():
        ann = await open_store(place, "ann")
        chat = await ann.new_chat("w")
        await say(ann, chat, SECRET)
        bob = ann.as_owner("bob")

        async def everything(transaction):
            return {
                table: (await transaction.row(f"SELECT COUNT(*) FROM {table}"))[0]
                for table in (*OWNED, "words")
            }

        async def theft(transaction):
            return await transaction.run("UPDATE chats SET title = 'mine'")

        async def planted(transaction):
            await transaction.run(
                "INSERT INTO memories (owner, id, workspace, text, turn, created, updated)"
                " VALUES ('ann', 'x', 'w', '', '', 0, 0)"
            )

        own = await ann._database.read(everything)
        seen = await bob._database.read(everything)
        stolen = await bob._database.write(theft)
        with pytest.raises(StoreError):
            await bob._database.write(planted)
        await ann.close()

        assert own["chats"] == own["turns"] == own["words"] == 1
        assert set(seen.values()) == {0}
        assert stolen == 0

    asyncio.run(check())
