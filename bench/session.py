"""Prompt tokens over an editing session of 40 turns, by layout: sent, new, and what they cost with a prefix cache.

    python bench/session.py [--json] [--turns 40] [--window 32768]

Three files of the sample vault are open. Every question asks for a change, the answer shows it, and the change is in
the file before the next question. The same questions, answers and file states are laid out in three ways:

    sill         Sill's own engine: files sent once, changes as deltas, nothing moved; the whole conversation
    files last   the conversation, then all files in full, then the question, with every request
    files first  all files in full, then the conversation, then the question, with every request

The last two are the layouts that aider's documentation describes (files that were added to the chat go in full with
each request; with prompt caching, the conversation comes after them). Their conversation is held to aider's soft limit,
a sixteenth of the window: what is older is left out here, where aider would send a summary of it. A repository map is
left out too. Both favour them.

Tokens are counted exactly, on the whole request, for gpt-4o. ``new`` tokens are those after the common beginning with
the request before: what a server with a prefix cache has to read. ``cost`` counts a token from the cache as a tenth, as
providers bill it. No clock and no chance: every run gives the same numbers.
"""

import argparse
import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from _shape import finish, show

import sill
from sill.adapters.tokens.local import local_counter
from sill.core.budget import PROFILES
from sill.core.documents import Document
from sill.core.families import family_of
from sill.core.prompts import compose
from sill.core.request import ChatRequest, WireMessage
from sill.engine.chat import Chat
from sill.engine.prepare import Call, Question
from sill.engine.sizing import Sizer
from sill.ports import TokenCounter
from sill.prompts import load, template
from sill.testing import MemoryStore, ScriptedModel

MODEL = "gpt-4o"
SAMPLE = Path(sill.__file__).parent / "sample" / "vault"
FILES = ("Weather/Weather station.md", "Oven/Bread oven.md", "Weather/code/chart.py")
SYSTEM = compose(template("chat", load()), {"INSTRUCTIONS": ""})
FROM_CACHE = 0.1  # of the price of a token that is read anew


@dataclass(frozen=True, slots=True)
class Step:
    """A turn: the files as they are when the question is asked, and the answer that changes one of them."""

    files: tuple[Document, ...]
    question: str
    answer: str


@dataclass(frozen=True, slots=True)
class Spent:
    sent: int
    new: int

    @property
    def cost(self) -> float:
        return self.new + FROM_CACHE * (self.sent - self.new)


def script(turns: int) -> list[Step]:
    texts = {path: (SAMPLE / path).read_text() for path in FILES}
    steps = []
    for number in range(turns):
        path = FILES[number % len(FILES)]
        lines = texts[path].split("\n")
        long = [place for place, line in enumerate(lines) if len(line) > 30]
        place = long[number * 7 % len(long)]
        before = lines[place]
        after = " ".join([*before.split(" ")[:-2], f"(as of day {number})"])
        files = tuple(Document(each, text) for each, text in texts.items())
        question = (
            f"In {path}, the line about “{before.strip()[:24]}” is not right any more. "
            f"Please say that it holds as of day {number} and leave the rest of the file alone."
        )
        answer = (
            f"I changed that line of {path} and nothing else; the two words at its end gave way.\n\n"
            f"<<<<<<< SEARCH\n{before}\n=======\n{after}\n>>>>>>> REPLACE\n"
        )
        steps.append(Step(files, question, answer))
        lines[place] = after
        texts[path] = "\n".join(lines)
    return steps


async def laid_out_by_sill(
    counter: TokenCounter, steps: Sequence[Step], window: int
) -> list[ChatRequest]:
    model = ScriptedModel(*([step.answer] for step in steps))
    call = Call(MODEL, PROFILES["chat"], window, SYSTEM)
    sizer = Sizer(counter, counter.count, "folded")
    chat = Chat(MemoryStore(), model, counter, sizer, call, "bench")
    id: str | None = None
    for step in steps:
        async for event in chat.ask(id, Question(step.question, step.files)):
            id = getattr(event, "chat", id)
    assert len(model.sent) == len(steps)
    return list(model.sent)


async def re_sent(
    counter: TokenCounter, steps: Sequence[Step], limit: int, *, files_first: bool
) -> list[ChatRequest]:
    talk: list[WireMessage] = []
    requests = []
    for step in steps:
        shown = WireMessage(
            "user", "\n\n".join(f"{file.path}\n```\n{file.text}\n```" for file in step.files)
        )
        agreed = WireMessage("assistant", "Ok.")
        while talk and sum((await counter.count([m.content or "" for m in talk])).tokens) > limit:
            talk = talk[2:]
        files = [shown, agreed]
        order = [*files, *talk] if files_first else [*talk, *files]
        asked = WireMessage("user", step.question)
        messages = (WireMessage("system", SYSTEM), *order, asked)
        requests.append(ChatRequest(MODEL, messages, max_tokens=PROFILES["chat"].reply))
        talk += [asked, WireMessage("assistant", step.answer)]
    return requests


def beginning(before: str, now: str) -> str:
    """What both texts begin with."""
    ends = (place for place, (a, b) in enumerate(zip(before, now, strict=False)) if a != b)
    return now[: next(ends, min(len(before), len(now)))]


async def spent(counter: TokenCounter, requests: Sequence[ChatRequest]) -> Spent:
    sent = new = 0
    before = ""
    for request in requests:
        tokens = (await counter.count_request(request)).tokens[0]
        text = "".join(f"\n{message.role}\n{message.content}" for message in request.messages)
        common = (await counter.count([beginning(before, text)])).tokens[0]
        sent, new, before = sent + tokens, new + max(0, tokens - common), text
    return Spent(sent, new)


async def measure(turns: int, window: int) -> dict[str, Spent]:
    family = family_of(MODEL)
    counter = local_counter(family) if family else None
    assert counter is not None
    steps, limit = script(turns), window // 16
    laid_out = {
        "sill": await laid_out_by_sill(counter, steps, window),
        "files last": await re_sent(counter, steps, limit, files_first=False),
        "files first": await re_sent(counter, steps, limit, files_first=True),
    }
    return {name: await spent(counter, requests) for name, requests in laid_out.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--turns", type=int, default=40)
    parser.add_argument("--window", type=int, default=32_768)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    results = asyncio.run(measure(options.turns, options.window))
    ours = results["sill"]
    show(
        f"Prompt tokens of {options.turns} turns over {len(FILES)} files, window {options.window:,}",
        ("layout", "sent", "new", "cost", "new, × Sill", "cost, × Sill"),
        [
            (name, one.sent, one.new, f"{one.cost:,.0f}", f"{one.new / ours.new:.1f}", f"{one.cost / ours.cost:.1f}")
            for name, one in results.items()
        ],
    )  # fmt: skip
    finish(
        {
            name.replace(" ", "_"): {"sent": one.sent, "new": one.new, "cost": round(one.cost)}
            for name, one in results.items()
        }
    )


if __name__ == "__main__":
    main()
