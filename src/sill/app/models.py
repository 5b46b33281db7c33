"""The models of an endpoint, and how each would be counted."""

from contextlib import AsyncExitStack
from dataclasses import dataclass

from ..adapters.models.discover import discover
from ..adapters.tokens._http import Endpoint
from ..adapters.tokens.choose import counter_for
from ..settings import Settings
from .connect import Progress, connect, new_client, wanted
from .counting import PROBES


@dataclass(frozen=True, slots=True)
class ModelRow:
    model: str
    window: int | None
    kind: str
    tokenizer: str
    why: str


async def list_models(settings: Settings, progress: Progress) -> list[ModelRow]:
    """One row per model the connected endpoint lists."""
    async with AsyncExitStack() as stack:
        wish = wanted(settings, "chat")
        there = await connect(settings, wish, stack, progress)
        client = await stack.enter_async_context(new_client(there.base_url))
        may_probe = there.kind == "local" or settings.get("probe", bool) is not False
        names: tuple[str, ...] = (there.model,)
        if may_probe:
            names = (await discover(there.base_url, there.api_key)).models or names
        endpoint = Endpoint(there.base_url, client, there.api_key)
        probes = PROBES if may_probe else None
        rows = []
        for name in names:
            chosen = await counter_for(
                name, endpoint=endpoint, probes=probes, tokenizer=wish.tokenizer
            )
            own = there.window if name == there.model else None
            tokenizer = chosen.counter.tokenizer
            rows.append(
                ModelRow(name, own or chosen.window, tokenizer.kind, tokenizer.id, chosen.reason)
            )
        return rows
