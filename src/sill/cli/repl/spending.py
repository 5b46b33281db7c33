"""Commands about money."""

import time

from ...errors import UsageError
from ..screen import say
from .session import Given, Session
from .table import Command


async def cost(session: Session, given: Given) -> None:
    from ..cost import as_text

    store = (await session.app()).store
    if given.text not in ("", "detail", "reset"):
        raise UsageError(":cost, :cost detail or :cost reset")
    if given.text == "reset":
        session.cost_since_ms = time.time_ns() // 1_000_000
        await session.refresh_meter()
        say("counted from now on; `sill cost` still has everything")
        return
    rows = await store.attempts(session.cost_since_ms, chat=session.chat) if session.chat else []
    print(as_text(rows, detail=given.text == "detail"))


def _actions(session: Session, typed: str) -> tuple[str, ...]:
    return ("detail", "reset")


COMMANDS = (
    Command(
        "cost",
        "[detail|reset]",
        "what this chat cost, and how well it was predicted",
        cost,
        (),
        _actions,
    ),
)
