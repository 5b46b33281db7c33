"""What the planner adds up is never below what the whole request is counted as."""

import asyncio
from dataclasses import replace

import httpx
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sill.adapters.tokens._http import Endpoint
from sill.adapters.tokens.choose import counter_for
from sill.adapters.tokens.probe import Probes
from sill.core.budget import PROFILES
from sill.core.documents import Document
from sill.engine.chat import Chat
from sill.engine.events import Started
from sill.engine.prepare import Call, Question
from sill.engine.sizing import Sizer
from sill.testing import MemoryStore, ScriptedModel

TRICKY = st.one_of(
    st.sampled_from(["", " ", "\n", "\n\n", "\t\tx", " lead", "trail ", "x\n", "\n\nx", "{", '"', "}\n\n", "<|im_end|>"]),
    st.text(max_size=40),
    st.text("ab \n\t{}\"\\'.,#*-0123456789éß世", max_size=60),
)  # fmt: skip
NAMES = st.sampled_from(["a.md", "b.py", "notes/c d.md"])
TURNS = st.lists(
    st.tuples(TRICKY, TRICKY, st.dictionaries(NAMES, TRICKY, max_size=3)), min_size=1, max_size=4
)


async def shortest_margin(counter, turns, layout) -> int:
    """The smallest planned minus counted over a scripted chat; below 0 the planner fell short."""
    model = ScriptedModel(*([answer] for _, answer, _ in turns))
    sizer = Sizer(counter, counter.count, layout)
    call = Call("m", replace(PROFILES["chat"], reply=64), 4096, "Be brief.", layout)
    chat = Chat(MemoryStore(), model, counter, sizer, call, "w")
    id, margins = None, []
    for question, _, files in turns:
        documents = tuple(Document(path, text) for path, text in files.items())
        async for event in chat.ask(id, Question(question, documents)):
            if isinstance(event, Started):
                id = event.chat
                margins.append(event.plan.tokens - event.certificate.predicted)
    return min(margins, default=0)


@pytest.mark.parametrize("layout", ["folded", "separate"])
@pytest.mark.parametrize(
    "model", ["gpt-4o", "gpt-5", "gpt-4", "devstral-small-2", "llama-3.1-8b", "deepseek-v3"]
)
@settings(max_examples=60, deadline=None)
@given(turns=TURNS)
def test_planned_is_never_below_counted(model, layout, turns):
    async def run():
        return await shortest_margin((await counter_for(model)).counter, turns, layout)

    assert asyncio.run(run()) >= 0


@pytest.mark.slow
@settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(turns=TURNS)
def test_planned_is_never_below_counted_by_the_real_server(tiny_server, turns):
    async def run():
        async with httpx.AsyncClient(trust_env=False) as client:
            endpoint = Endpoint(tiny_server.base_url, client, tiny_server.api_key)
            chosen = await counter_for("any", endpoint=endpoint, probes=Probes())
            return await shortest_margin(chosen.counter, turns, "folded")

    assert asyncio.run(run()) >= 0
