"""Asking again, asking differently and naming chats, through a whole application."""

import asyncio
import json

import pytest

from sill.app.branches import edit_question, regenerate, switch, tree
from sill.engine.events import Finished
from sill.records import Pin
from tests.models.fault_provider import FaultProvider, Reset, answer, head, said

from .workspace import ask, endpoint, says


def spoken(request) -> list[str]:
    return [m["content"] for m in json.loads(request.body)["messages"] if m["role"] != "system"]


async def collect(events) -> Finished:
    return [event async for event in events][-1]


def test_a_question_is_asked_again_beside_its_answer(workspace):
    async def run(provider):
        async with workspace.open(endpoint(provider)) as app:
            first = (await ask(app, "one"))[-1]
            second = (await ask(app, "two", first.chat))[-1]
            again = await collect(regenerate(app, second.turn))
            edited = await collect(edit_question(app, first.turn, "one, differently"))
            back = await switch(app.store, first.chat, again.turn)
            nodes = await tree(app.store, first.chat)
            return (first, second, again, edited), back, nodes

    with FaultProvider(says("A"), says("B"), says("C"), says("D")) as provider:
        (first, second, again, edited), back, nodes = asyncio.run(run(provider))

        assert [spoken(request) for request in provider.seen] == [
            ["one"],
            ["one", "A", "two"],
            ["one", "A", "two"],
            ["one, differently"],
        ]
        assert (again.text, edited.text, back) == ("C", "D", again.turn)
        assert {node.id: node.siblings for node in nodes} == {
            first.turn: (first.turn, edited.turn),
            second.turn: (second.turn, again.turn),
            again.turn: (second.turn, again.turn),
            edited.turn: (first.turn, edited.turn),
        }
        assert [node.on_path for node in nodes] == [True, False, True, False]


def test_an_answer_that_never_came_leaves_the_chat_where_it_was(workspace):
    async def run(provider):
        async with workspace.open(endpoint(provider)) as app:
            first = (await ask(app, "one"))[-1]
            failed = await collect(regenerate(app, first.turn))
            return first, failed, (await app.store.history(first.chat)).turns

    with FaultProvider(says("A"), answer(401, {"error": {"message": "no"}})) as provider:
        first, failed, turns = asyncio.run(run(provider))

        assert failed.outcome == "failed"
        assert [turn.id for turn in turns] == [first.turn]


def test_a_cut_answer_that_was_seen_is_where_the_chat_goes_on(workspace):
    async def run(provider):
        async with workspace.open(endpoint(provider)) as app:
            first = (await ask(app, "one"))[-1]
            cut = await collect(regenerate(app, first.turn))
            return cut, (await app.store.history(first.chat)).turns

    with FaultProvider(says("A"), [head(), said("half"), Reset()]) as provider:
        cut, turns = asyncio.run(run(provider))

        assert (cut.outcome, cut.text) == ("partial", "half")
        assert [turn.id for turn in turns] == [cut.turn]


def title_after(workspace, toml, *steps):
    async def run(provider):
        async with workspace.open(toml + endpoint(provider)) as app:
            finished = (await ask(app, "hi, why is the oven cold?"))[-1]
            await ask(app, "and the shed?", finished.chat)
            spent = [row.attempt.category for row in await app.store.attempts()]
            return (await app.store.chat(finished.chat)).title, spent

    with FaultProvider(*steps) as provider:
        return asyncio.run(run(provider))


def test_a_new_chat_is_named_after_its_first_question(workspace):
    assert title_after(workspace, "", says("A")) == ("Why is the oven cold?", ["main", "main"])


def test_the_model_names_a_chat_where_it_may(workspace):
    named = title_after(
        workspace, 'titles = "model"\n', says("A"), says('"Cold', ' oven"'), says("B")
    )

    assert named == ("Cold oven", ["main", "title", "main"])


def test_a_title_that_cannot_be_had_from_the_model_is_the_question(workspace):
    refused = answer(401, {"error": {"message": "no"}})
    named = title_after(workspace, 'titles = "model"\n', says("A"), refused, says("B"))

    assert named == ("Why is the oven cold?", ["main", "title", "main"])


@pytest.mark.parametrize("titles", ["extract", "model"])
def test_a_chat_whose_first_question_nobody_answered_is_named_after_it(workspace, titles):
    failed = answer(400, {"error": {"message": "no"}})
    named, spent = title_after(workspace, f'titles = "{titles}"\n', failed, says("B"))

    assert (named, spent) == ("Why is the oven cold?", ["main", "main"])


def test_a_chat_stays_without_a_title_where_that_is_wished(workspace):
    assert title_after(workspace, 'titles = "off"\n', says("A"))[0] == ""


def test_a_pinned_file_goes_with_every_question(workspace):
    note = workspace.folder / "a.md"
    note.write_text("beech only")

    async def run(provider):
        async with workspace.open(endpoint(provider)) as app:
            first = (await ask(app, "one"))[-1]
            await app.store.pin(first.chat, Pin(path="a.md"))
            second = (await ask(app, "two", first.chat))[-1]
            note.unlink()
            await ask(app, "three", first.chat)
            return json.loads((await app.store.turn(second.turn)).plan)["items"]

    with FaultProvider(says("A"), says("B"), says("C")) as provider:
        items = asyncio.run(run(provider))

        assert [item[3:5] for item in items if item[0] == "file"] == [
            ["sent", "pinned; not in the window yet"]
        ]
        assert '"content":"beech only"' in spoken(provider.seen[1])[-1]
        assert '"event":"deleted"' in spoken(provider.seen[2])[-1]
