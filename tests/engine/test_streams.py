"""A model's reply, read until somebody has enough."""

import asyncio
from contextlib import aclosing

import pytest

from sill.engine.streams import Stop, until
from sill.ports import TextDelta


class Source:
    """Two words, then nothing for ever; knows how it was ended."""

    def __init__(self):
        self.ended = ""
        self.is_waited_for = asyncio.Event()

    async def events(self):
        try:
            yield TextDelta("one")
            yield TextDelta("two")
            self.is_waited_for.set()
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            self.ended = "interrupted"
            raise
        except GeneratorExit:
            self.ended = "closed"
            raise


async def read(stop, source, most=9):
    seen = []
    async with aclosing(until(stop, source.events())) as events:
        async for event in events:
            seen.append(event.text)
            if len(seen) == most:
                break
    return seen


def test_stop_ends_a_reply_that_is_waited_for_and_the_reader_goes_on():
    async def check():
        stop, source = Stop(), Source()
        reading = asyncio.create_task(read(stop, source))
        await source.is_waited_for.wait()
        stop.set()
        seen = await reading
        await asyncio.sleep(0)  # whoever read is not cancelled

        return seen, source.ended, reading.cancelling()

    assert asyncio.run(check()) == (["one", "two"], "interrupted", 0)


def test_a_reply_that_was_stopped_before_is_not_begun():
    async def check():
        stop = Stop()
        stop.interrupt()
        return await read(stop, Source()), stop.is_interrupt

    assert asyncio.run(check()) == ([], True)


def test_a_reader_who_has_enough_closes_the_reply():
    async def check():
        source = Source()
        return await read(None, source, most=1), source.ended

    assert asyncio.run(check()) == (["one"], "closed")


@pytest.mark.parametrize(
    "stops_too", [pytest.param(False, id="alone"), pytest.param(True, id="with a stop")]
)
def test_cancelling_the_reader_cancels_it_and_ends_the_reply(stops_too):
    async def check():
        stop, source = Stop(), Source()
        reading = asyncio.create_task(read(stop, source))
        await source.is_waited_for.wait()
        if stops_too:
            stop.set()
            await asyncio.sleep(0)
        reading.cancel()
        await asyncio.gather(reading, return_exceptions=True)
        return reading.cancelled(), source.ended

    assert asyncio.run(check()) == (True, "interrupted")


def test_a_wish_outranks_a_later_interrupt():
    stop = Stop()
    stop.set()
    stop.interrupt()

    assert not stop.is_interrupt
