"""How much of a request recall may have, and how the window makes room for it."""

import math
from collections.abc import Sequence
from dataclasses import replace

from .budget import Budget
from .ledger import window
from .messages import Epoch, Recall, Turn

ENOUGH = 1_800  # tokens, in a prompt of 2,048,
SMALL = 2_048
MORE = 512  # and so many more each time that the prompt is twice as large
LONG = 4  # what has left is long when it is so many times the recall's share
FEWEST = 60  # tokens that are worth sending
FULL = 12_288  # tokens of a prompt in the window that a chat has by default
ASKED = 1 / 3  # of the chance that it takes otherwise is enough where something is asked
RECENT = 0.05  # of the room beside the fixed parts, which stays with the latest turns


def slot(budget: Budget, fixed: int, gone: int) -> int:
    """Tokens for recall, when turns of ``gone`` tokens have left the window.

    Its share of the room; once the history is long, up to ``ENOUGH`` and what a larger room adds to that, as
    far as it leaves the latest turns a place. In a very large window the share is enough by itself. A larger
    window never gives recall less.
    """
    if gone <= 0:
        return 0
    enough = ENOUGH + int(MORE * math.log2(max(SMALL, budget.room) / SMALL))
    wanted = max(budget.recall, min(enough, gone // LONG))
    beside = min(budget.high, budget.room) - fixed
    return max(0, min(wanted, int(beside * (1 - RECENT))))


def worth(slot: int, chance: float, least: float, asked: bool) -> int:
    """What of the slot may be used: all of it from the chance ``least`` on, else so much of ``ENOUGH`` tokens as
    the chance has of ``least``. A remark that has not even half of it is worth nothing, a question what it is."""
    if chance >= least:
        return slot
    if not asked and chance < least / 2:
        return 0
    size = min(slot, int(ENOUGH * chance / least))
    return size if size >= FEWEST else 0


def gives_way(chance: float, least: float, insists: float, room: int) -> bool:
    """Whether the window is to make room for a recall of this chance.

    The server then reads the whole prompt again, which costs little where the prompt is small, while a large one
    has more free without that: ``insists`` is the chance it takes in a prompt of ``FULL`` tokens, and a quarter of
    it in one of half that size. What is not worth half of its slot is never worth that.
    """
    return chance >= max(least / 2, insists * min(1.0, room / FULL) ** 2)


def reserving(budget: Budget, tokens: int) -> Budget:
    """The limits under which a window leaves so many tokens free below the high-water mark."""
    high = max(0, min(budget.high, budget.room) - tokens)
    return replace(budget, high=high, low=min(budget.low, high))


def leaving(turns: Sequence[Turn], epoch: Epoch) -> Sequence[Turn]:
    """Those of ``turns`` that the epoch no longer shows."""
    return turns[: len(turns) - len(window(turns, epoch))]


def quoted(turns: Sequence[Turn], epoch: Epoch) -> str:
    """Everything that recalls in the window say already."""
    return "\n".join(
        sized.message.text
        for turn in window(turns, epoch)
        for position, sized in enumerate(turn.messages)
        if isinstance(sized.message.carries, Recall) and (turn.id, position) not in epoch.dropped
    )
