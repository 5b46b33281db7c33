"""Which request of a turn is explained."""

import asyncio
from dataclasses import replace

from sill.cli.explain import Shown, shown_request
from sill.core.usage import plan_json
from tests.engine.test_rounds import ask, calls, make_chat


def test_the_request_that_is_explained_is_the_one_its_numbers_are_of():
    chat = make_chat(calls(("read", {"path": "a"})), ["done"], tools={"read": lambda _: "x"})

    async def run():
        started, *_ = await ask(chat, "go")
        return started, await chat.store.turn("turn-1"), await chat.store.requests("turn-1")

    started, turn, requests = asyncio.run(run())
    # A process that is killed leaves the plan of the first request, and the bytes of the last.
    killed = replace(turn, status="interrupted", plan=plan_json(started.plan))

    assert shown_request(turn, requests) == Shown(2, 2, turn.certificate)
    assert shown_request(killed, requests) == Shown(1, 2, started.certificate)
    assert shown_request(killed, requests[:1]) == Shown(1, 1, turn.certificate)
