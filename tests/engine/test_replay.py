"""A turn that is planned again for the same model gives the same bytes; for another one it fits that."""

import asyncio
from dataclasses import replace

from sill.core.budget import Profile
from sill.core.documents import Document
from sill.core.request import encode
from sill.engine.chat import Chat
from sill.engine.events import Refused
from sill.engine.prepare import Call, Means, Question, prepare
from sill.engine.replay import question_of
from sill.engine.sizing import Sizer
from sill.testing import MemoryStore, ScriptedModel, WordCounter

WORDS = "every line of this note says something else about the sea and the boats on it\n"


async def recorded_chat(store: MemoryStore, call: Call, turns: int) -> str:
    """A chat about a note that changes, long enough for several epochs."""
    counter = WordCounter()
    model = ScriptedModel(*([f"answer {n} " * 9] for n in range(turns)))
    chat = Chat(store, model, counter, Sizer(counter, counter.count, "folded"), call, "w")
    id = None
    for number in range(turns):
        note = Document("note.md", WORDS * 5 + f"changed {number // 3} times\n")
        async for event in chat.ask(id, Question(f"question {number} " * 5, (note,))):
            id = getattr(event, "chat", id)
    assert id is not None
    return id


def test_replaying_a_turn():
    async def check():
        store = MemoryStore()
        call = Call("m", Profile(window=600, reply=60), 600, "be kind")
        chat = await recorded_chat(store, call, 16)
        small = replace(call, model="small", window=340)
        same, fits, epochs = [], [], set()
        for turn in await store.turns(chat):
            counter = WordCounter()
            sizer = Sizer(counter, counter.count, "folded")
            history = await store.history_at(turn.id)
            question = await question_of(turn, history, sizer)
            again = await prepare(Means(call, counter, sizer), history, question)
            less = await prepare(Means(small, counter, sizer), history, question)
            assert not isinstance(again, Refused) and not isinstance(less, Refused)
            sent = (await store.turn(turn.id)).request
            same.append(encode(again.request.body()) == sent)
            fits.append(less.certificate.predicted <= small.budget.room)
            epochs.add(turn.epoch.number)
        return same, fits, epochs

    same, fits, epochs = asyncio.run(check())

    assert (same, fits) == ([True] * 16, [True] * 16)
    assert len(epochs) > 1
