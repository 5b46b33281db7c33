"""An agent's run: what it is asked in each step, and when it is over.

A run is a chat whose questions begin with a line that says which step they are, so the chat is all there is to
know about it. The model ends every answer with ``NEXT: …`` or ``DONE: …``. Whether it goes on is a function of
the steps so far.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

StepOutcome = Literal["complete", "partial", "cancelled", "failed", "limit"]
Why = Literal["done", "unchecked", "steps", "money", "stuck", "failed", "interrupted"]

_HEADER = re.compile(r"\[agent step (\d+) of (\d+)(?:, at most \$([0-9.]+))?\]\n")
# Some models set the word in bold, or make a heading of it.
_LAST_WORD = re.compile(r"[\s*_#>`-]*(DONE|NEXT)\b[\s*_`]*[:.]?[\s*_`]*(.*?)[\s*_`]*")
_LOOKED_AT = 3  # last lines of an answer that may hold it
_FORM = """\
End your answer with one line, either
NEXT: what you will do in the next step
or, once the whole task is finished,
DONE: what was done"""
_RULES = (
    """
Work on it in steps, with tools. First say in a few lines how you will go about it, then begin. What you propose
is not written to the files before the user has agreed at the end, so reading a file again shows it as it was; put all
changes of one file into one proposal.
"""
    + _FORM
)


@dataclass(frozen=True, slots=True)
class Limits:
    """``dollars`` None: no limit but those of the settings."""

    steps: int = 12
    dollars: float | None = None


@dataclass(frozen=True, slots=True)
class Step:
    """``calls`` are the tools that were used, each with its arguments in one line."""

    said: str
    calls: tuple[str, ...] = ()
    proposed: int = 0
    outcome: StepOutcome = "complete"
    reason: str = ""  # why it is not complete


@dataclass(frozen=True, slots=True)
class Go:
    """The next step, as it is asked."""

    number: int
    text: str
    is_check: bool = False


@dataclass(frozen=True, slots=True)
class Halt:
    """It is over; ``words`` say what was done, or why it stops."""

    why: Why
    words: str


@dataclass(frozen=True, slots=True)
class LastWord:
    kind: Literal["done", "next"]
    text: str


def last_word(said: str) -> LastWord | None:
    """How an answer ends: the last ``DONE`` or ``NEXT`` among its last lines."""
    lines = [line for line in said.splitlines() if line.strip()]
    for line in reversed(lines[-_LOOKED_AT:]):
        if found := _LAST_WORD.fullmatch(line):
            return LastWord("done" if found[1] == "DONE" else "next", found[2])
    return None


def following(task: str, steps: Sequence[Step], limits: Limits) -> Go | Halt:
    """The next step of the run, or why there is none.

    1. A step that failed, was stopped or met a limit of money ends it; it can be taken up again.
    2. ``DONE`` ends it once it was checked, or where no tool was used and there is nothing to check.
    3. Two steps in a row without a new call or a proposal end it, and so do as many steps as are allowed.
    """
    counted = [step for step in steps if step.outcome in ("complete", "partial")]
    if not steps:
        return Go(1, _first(task, limits))
    last = steps[-1]
    match last.outcome:
        case "failed":
            return Halt("failed", last.reason)
        case "limit":
            return Halt("money", last.reason)
        case "cancelled":
            return Halt("interrupted", last.reason)
        case "complete" | "partial":
            pass
    word, number = last_word(last.said), len(counted) + 1
    if word is not None and word.kind == "done":
        was_checked = len(counted) > 1 and is_done(counted[-2])
        if was_checked or not any(step.calls for step in steps):
            return Halt("done", word.text or "the task is finished")
        if len(counted) >= limits.steps:
            return Halt("unchecked", word.text or "the task is finished")
        return Go(number, _check(task, number, limits), is_check=True)
    if len(counted) > 1 and not _progress(counted, -1) and not _progress(counted, -2):
        return Halt("stuck", "two steps in a row brought nothing new")
    if len(counted) >= limits.steps:
        return Halt("steps", f"{limits.steps} steps were not enough")
    return Go(number, _next(last, word, number, limits))


def resumed(steps: Sequence[Step], limits: Limits) -> Go | None:
    """The step that takes up a run whose last one did not come to its end; None if that is not so."""
    if not steps or steps[-1].outcome in ("complete", "partial"):
        return None
    number = 1 + sum(step.outcome in ("complete", "partial") for step in steps)
    again = "The last step was interrupted. Go on where you were."
    return Go(number, f"{_header(number, limits)}{again}\n{_FORM}")


def is_done(step: Step) -> bool:
    word = last_word(step.said)
    return word is not None and word.kind == "done"


def _progress(steps: Sequence[Step], at: int) -> bool:
    """Whether a step did something that none before it had done."""
    before = {call for step in steps[:at] for call in step.calls}
    return bool(steps[at].proposed) or not before.issuperset(steps[at].calls)


# --- What is asked --------------------------------------------------------------------------------


def _header(number: int, limits: Limits) -> str:
    money = "" if limits.dollars is None else f", at most ${_dollars(limits.dollars)}"
    return f"[agent step {number} of {limits.steps}{money}]\n"


def _dollars(amount: float) -> str:
    """To the billionth, as money is counted, and without an exponent."""
    whole, _, part = f"{amount:.9f}".partition(".")
    return f"{whole}.{part.rstrip('0')}" if part.strip("0") else whole


def _first(task: str, limits: Limits) -> str:
    return f"{_header(1, limits)}Task: {task.strip()}\n{_RULES}"


def _next(last: Step, word: LastWord | None, number: int, limits: Limits) -> str:
    # The model's own words are not said again here: what a note made it say would become the user's wish.
    if last.outcome == "partial":
        order = "Your answer was cut off. Go on."
    elif word is not None:
        order = "Go on with the step that you named."
    else:
        order = "Go on with the task."
    return f"{_header(number, limits)}{order}\n{_FORM}"


def _check(task: str, number: int, limits: Limits) -> str:
    order = (
        f"Check what you did against the task: {task.strip()}\n"
        "Look once more at what you rely on. If something is missing or wrong, put it right."
    )
    return f"{_header(number, limits)}{order}\n{_FORM}"


# --- What was asked -------------------------------------------------------------------------------


def limits_in(question: str) -> Limits | None:
    """The limits that a step was asked under; None for any other question."""
    found = _HEADER.match(question)
    return None if found is None else Limits(int(found[2]), float(found[3]) if found[3] else None)


def task_in(question: str) -> str | None:
    """The task of a run, from its first question; None for any other question."""
    found = _HEADER.match(question)
    rest = question[found.end() :] if found else ""
    if found is None or found[1] != "1" or not rest.startswith("Task: "):
        return None
    return rest.removeprefix("Task: ").removesuffix(_RULES).strip()
