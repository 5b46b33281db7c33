"""One request and the reading of its reply: the same loop for every wire format."""

from collections.abc import AsyncGenerator
from dataclasses import dataclass, replace

from ...core.faults import Fault
from ...ports import ModelEvent
from .assemble import Assembly
from .decode import Answer, JsonLines
from .transport import AttemptHook, Cut, Transport


@dataclass(frozen=True, slots=True)
class Exchange:
    """What is sent, and the fresh decoder and assembly that will read what comes back."""

    url: str
    body: bytes
    model: str
    decoder: Answer | JsonLines
    assembly: Assembly
    is_whole: bool = False  # nothing comes before the reply is finished


async def stream_reply(
    exchange: Exchange, transport: Transport, on_attempt: AttemptHook | None = None
) -> AsyncGenerator[ModelEvent, None]:
    """The reply as it arrives, closed by one ``Ended``; see ``ports.Model``.

    The connection is closed, and the attempt reported, before ``Ended`` comes out.
    """
    decoder, assembly = exchange.decoder, exchange.assembly
    clocks = transport.clocks
    if exchange.is_whole:
        clocks = replace(clocks, first=clocks.total)
    async with transport.call(
        exchange.url, exchange.body, on_attempt, exchange.model, clocks
    ) as call:
        cut: Fault | None = None
        is_open = True
        try:
            while is_open and not (decoder.is_done or decoder.fault or assembly.fault):
                piece = await call.read()
                is_open = piece is not None
                chunks = decoder.close() if piece is None else decoder.feed(piece)
                if chunks:
                    call.payload_came()
                for chunk in chunks:
                    for event in assembly.add(chunk):
                        yield event
        except Cut as error:
            cut = error.fault
        call.usage, call.provider_id = assembly.usage, assembly.id
        if assembly.fault is not None:
            assembly.fault = transport.clean(assembly.fault)
        if assembly.spoke_on and not decoder.is_done:
            # Servers that put a finish reason on every chunk leave only the closing event to go by.
            cut = cut or Fault("broken", "it went on after its finish reason and never closed")
        fault = assembly.fault or decoder.fault or cut
        if not assembly.has_spoken and (fault or assembly.finish_reason is None):
            fault = fault or Fault("broken", "the stream ended without a reply")
            call.outcome = fault.kind
            raise transport.error(fault, exchange.model)
        ended = assembly.end(decoder.fault or cut)
        call.outcome = ended.outcome
        if decoder.is_done and transport.keeps_connections:
            await call.drain()
    yield ended
