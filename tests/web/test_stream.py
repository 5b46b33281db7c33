"""Server-sent events on their way to a reader, who may be silent, slow or gone."""

import asyncio

from sill.web.schemas.events import DeltaEvent, EditorDone
from sill.web.stream import PING, EventStream, sse


class Quick(EventStream):
    ping_seconds = 0.02
    send_seconds = 0.1


async def answered(stream, send_slowly=False, leaves_after=None, pinged=None):
    """What was sent to a reader who stays, stops taking anything, or leaves."""
    sent = []

    async def send(message):
        sent.append(message)
        if message.get("body") == PING and pinged is not None:
            pinged.set()
        if send_slowly and message.get("body"):
            await asyncio.Event().wait()

    async def receive():
        if leaves_after is None:
            await asyncio.Event().wait()
        await asyncio.sleep(leaves_after)
        return {"type": "http.disconnect"}

    await stream({"type": "http"}, receive, send)
    return sent


def test_an_event_is_one_line_of_minified_json():
    assert sse("delta", DeltaEvent(text="a\nb"), "3.1") == (
        b'id: 3.1\nevent: delta\ndata: {"kind":"delta","text":"a\\nb","tokens":null}\n\n'
    )
    assert sse("done", EditorDone(enabled=False, code="x"), without_none=True) == (
        b'event: done\ndata: {"enabled":false,"code":"x"}\n\n'
    )


def test_a_silent_stream_is_kept_open_with_pings():
    closed, pinged = [], asyncio.Event()

    async def events():
        try:
            yield b"one"
            await pinged.wait()
            yield b"two"
        finally:
            closed.append(True)

    sent = asyncio.run(answered(Quick(events()), pinged=pinged))
    bodies = [message["body"] for message in sent[1:]]

    assert sent[0]["status"] == 200
    assert dict(sent[0]["headers"])[b"x-accel-buffering"] == b"no"
    assert bodies[0] == b"one" and bodies[-2:] == [b"two", b""]
    assert len(bodies) > 3 and set(bodies[1:-2]) == {PING}
    assert closed == [True]


def test_a_reader_who_leaves_or_takes_nothing_ends_the_stream_and_not_its_source():
    closed = []

    async def events():
        try:
            while True:
                yield b"more"
                await asyncio.sleep(0.005)
        finally:
            closed.append(True)

    async def check():
        await asyncio.wait_for(answered(Quick(events()), leaves_after=0.05), 60)
        return await asyncio.wait_for(answered(Quick(events()), send_slowly=True), 60)

    stuck = asyncio.run(check())

    assert [message.get("body") for message in stuck] == [None, b"more"]
    assert closed == [True, True]
