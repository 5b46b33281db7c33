"""The bottom line: who answers, how full the window is, how that was counted, what it cost."""

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from ..screen import plain

if TYPE_CHECKING:
    from ...app import App
    from ...ports import StoredTurn
    from .session import Session

_BAR = 10
_SIGN = {"exact": "", "bound": "≤", "estimate": "~"}


@dataclass(frozen=True, slots=True)
class Meter:
    """``used`` are the tokens of the chat in the window: the last prompt and the answer to it."""

    model: str = ""
    window: int = 0
    used: int = 0
    kind: str = "exact"
    cost: str = ""
    evicts: bool = False  # the next question starts a new epoch

    def emptied(self) -> "Meter":
        return replace(self, used=0, cost="", evicts=False)

    @property
    def part(self) -> float:
        return min(1.0, self.used / self.window) if self.window else 0.0


def bottom_line(meter: Meter, files: int, state: str, columns: int) -> str:
    """One line of at most ``columns`` characters; what says least goes first where it is narrow."""
    if not meter.model:
        return _cut(f" {state or 'opening the model …'}", columns)
    counted = f"{_SIGN[meter.kind]}{meter.used:,} of {meter.window:,} tokens"
    parts = [
        plain(meter.model),
        f"{_bar(meter.part)} {meter.part:.0%}",
        f"{counted} ({meter.kind})",
        meter.cost,
        f"{files} file{'' if files == 1 else 's'}" if files else "",
        "next message makes room" if meter.evicts else "",
        ":help",
    ]
    parts = [part for part in parts if part]
    while len(parts) > 2 and len(_joined(parts)) > columns:
        parts.pop()
    return _cut(_joined(parts), columns)


def _joined(parts: list[str]) -> str:
    return " " + " · ".join(parts)


def _cut(line: str, columns: int) -> str:
    return line if len(line) <= columns else line[: max(0, columns - 1)] + "…"


def _bar(part: float) -> str:
    filled = min(_BAR, round(part * _BAR) or (1 if part else 0))
    return "▰" * filled + "▱" * (_BAR - filled)


async def _spoken(app: "App", turn: "StoredTurn") -> int:
    """The tokens of an answer that nobody has billed."""
    said = [m.text for m in turn.messages if m.role == "assistant" and m.carries is None]
    return sum((await app.chat.counter.count(said)).tokens) if said else 0


async def _was_edit(app: "App", turn: "StoredTurn") -> bool:
    """It was planned for files first and without tools: its prompt says little about the chat's next one."""
    return any(row.attempt.category == "edit" for row in await app.store.attempts(turn=turn.id))


async def _recounted(session: "Session", app: "App", meter: Meter) -> Meter:
    """What the chat takes for whoever answers next, before anything is asked of that one."""
    from ...engine.events import Refused

    gathered = await app.gather("", session.files)
    ready = await app.plan(session.chat, gathered.question)
    if isinstance(ready, Refused):
        return replace(meter, used=ready.needed)
    counted = ready.certificate
    return replace(meter, used=counted.predicted, kind=counted.kind, evicts=ready.plan.next_evicts)


async def measured(session: "Session", app: "App") -> Meter:
    """The meter for the session's chat as it is stored."""
    from ...core.usage import plan_from_json
    from ...engine.costs import report
    from ..cost import shown_cost

    meter = Meter(app.model_name, app.connection.window, kind=app.tokenizer.kind)
    if session.chat is None:
        return meter
    last = await app.store.turns(session.chat, limit=1)
    rows = await app.store.attempts(session.cost_since_ms, chat=session.chat)
    total = report(rows, lambda _: "").total
    meter = replace(meter, cost=f"cost {shown_cost(total)}" if rows else "")
    if not last or last[-1].certificate is None:
        return meter
    turn, certificate = last[-1], last[-1].certificate
    if certificate.tokenizer != app.tokenizer.id or await _was_edit(app, turn):
        return await _recounted(session, app, meter)
    prompt = certificate.predicted if certificate.actual is None else certificate.actual
    reply = turn.usage.completion if turn.usage else await _spoken(app, turn)
    evicts = plan_from_json(turn.plan).next_evicts if turn.plan else False
    return replace(meter, used=prompt + reply, kind=certificate.kind, evicts=evicts)
