"""Who counts for a connection."""

from collections.abc import Callable
from contextlib import AsyncExitStack
from dataclasses import dataclass
from functools import partial

from ..adapters.tokens._http import Endpoint
from ..adapters.tokens.choose import counter_for
from ..adapters.tokens.local import Local
from ..adapters.tokens.probe import Probes
from ..core.render import Layout
from ..engine.drift import drift_of
from ..engine.sizes import Growing, Remembered
from ..engine.sizing import Sizer
from ..ports import Store, TokenCounter
from .connect import Connection, Wanted, new_client

AUTO = "auto"
PROBES = Probes()
"""What endpoints answered to this process: each is asked once, until its answer expires."""


@dataclass(frozen=True, slots=True)
class Counting:
    counter: TokenCounter
    sizer: Sizer
    reason: str
    window: int | None
    ratio: float  # what estimates are scaled by
    grows: Callable[[], Growing] | None = None  # counts an answer as it comes, without a long way


async def choose_counter(
    wish: Wanted, connection: Connection, layout: Layout, store: Store, stack: AsyncExitStack
) -> Counting:
    """The best counter for the connection's model; probes the endpoint unless that was switched off.

    An estimate is scaled by what past bills taught.
    """
    client = await stack.enter_async_context(new_client(connection.base_url))
    endpoint = Endpoint(connection.base_url, client, connection.api_key)
    may_probe = connection.kind == "local" or wish.may_probe
    choose = partial(
        counter_for,
        connection.model,
        endpoint=endpoint,
        tokenizer=None if wish.tokenizer == AUTO else wish.tokenizer,
        probes=PROBES if may_probe else None,
    )
    chosen, ratio = await choose(), 1.0
    if (tokenizer := chosen.counter.tokenizer).kind == "estimate":
        drift = await drift_of(store, connection.address, connection.model, tokenizer.id)
        ratio = drift.ratio
        chosen = await choose(ratio=ratio)
    remembered = Remembered(chosen.counter, store, cuts=chosen.cuts)
    return Counting(
        counter=chosen.counter,
        sizer=Sizer(chosen.counter, remembered.count, layout),
        reason=chosen.reason,
        window=chosen.window,
        ratio=ratio,
        # A count of the answer as it comes must not wait for a machine elsewhere.
        grows=partial(Growing, chosen.counter, cuts=chosen.cuts)
        if connection.is_local or isinstance(chosen.counter, Local)
        else None,
    )


def counting_by(counter: TokenCounter, layout: Layout, store: Store) -> Counting:
    """Counting by a counter of the caller's own."""
    remembered = Remembered(counter, store)
    sizer = Sizer(counter, remembered.count, layout)
    return Counting(counter, sizer, "the program's own counter", None, 1.0)
