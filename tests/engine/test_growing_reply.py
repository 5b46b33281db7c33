"""The answer's tokens are known while it is still coming."""

import asyncio
from functools import partial

from sill.core.budget import PROFILES
from sill.engine.chat import Chat
from sill.engine.events import Delta, Event, Finished
from sill.engine.prepare import Call, Question
from sill.engine.sizes import COUNTED_EVERY, Growing
from sill.engine.sizing import Sizer
from sill.testing import MemoryStore, ScriptedModel, WordCounter

PIECES = [f"word{number} " for number in range(200)]


def told(*, grows: bool) -> list[Event]:
    async def run() -> list[Event]:
        counter = WordCounter()
        chat = Chat(
            store=MemoryStore(),
            model=ScriptedModel(PIECES),
            counter=counter,
            sizer=Sizer(counter, counter.count, "folded"),
            call=Call("m", PROFILES["chat"], 4096, "Be brief."),
            workspace="w",
            grows=partial(Growing, counter) if grows else None,
        )
        return [event async for event in chat.ask(None, Question("Count"))]

    return asyncio.run(run())


def test_now_and_then_a_piece_tells_the_tokens_of_all_that_came():
    deltas = [event for event in told(grows=True) if isinstance(event, Delta)]
    text, wrong, counted = "", [], 0
    for delta in deltas:
        text += delta.text
        if delta.tokens is not None:
            counted += 1
            if delta.tokens != len(text.split()):
                wrong.append((delta.tokens, text))

    assert wrong == []
    # Counted often enough for a meter, and not with every piece.
    assert 2 <= counted <= len(text) / COUNTED_EVERY + 1


def test_without_it_nothing_is_counted_on_the_way():
    events = told(grows=False)

    assert {event.tokens for event in events if isinstance(event, Delta)} == {None}
    assert isinstance(events[-1], Finished)
