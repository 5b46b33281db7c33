"""Prompt tokens a real llama.cpp server evaluates over a 12-turn chat about two files, by layout.

The same questions and answers, about two files of some 1,500 tokens, one of which is edited by a line
before turn 7; sent in three ways:

    sill      Sill's own engine: files sent once, the edit as a delta, nothing moved
    resend    both files again at the end of every request, after the conversation
    sliding   files first, then the last messages that fit; the oldest message goes when it is full

What differs between the layouts: Sill plans for a window of 8,192 tokens with its shipped numbers (512 kept free
for the reply); ``sliding`` has a room of 4,600, so that it slides, and shows the edited file in its old place; only
Sill sends its own system prompt.

Then a chat that outgrows its window of 4,096 tokens, with recall and summaries as they are shipped: every third
question asks for something that has left. Of what the last request showed, ``recall`` says how much the server took
from its cache in turns without an eviction, and in all.

Answers are scripted, so that every layout carries the same text: the server evaluates the prompt and one
token. ``cached`` is what it took from its prefix cache. Weights: the two-layer cut, whose tokenizer and
template are the whole model's.
"""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path

from _shape import finish, show

import sill
from sill.adapters.local.cut import cut_path
from sill.adapters.local.supervise import LocalServer, open_local
from sill.adapters.models.openai import OpenAIModel
from sill.adapters.tokens._http import Endpoint
from sill.adapters.tokens.choose import counter_for
from sill.adapters.tokens.probe import Probes
from sill.app.seat import RECALL_INSISTS, RECALL_LEAST
from sill.core import envelopes
from sill.core.budget import PROFILES
from sill.core.documents import Document
from sill.core.messages import Recall
from sill.core.prompts import compose
from sill.core.request import ChatRequest, WireMessage
from sill.engine.chat import Chat
from sill.engine.events import Finished
from sill.engine.prepare import Call, Question
from sill.engine.recall import Recollection
from sill.engine.sizing import Sizer
from sill.ports import Ended, ModelEvent, TextDelta, TokenCounter
from sill.prompts import load
from sill.testing import MemoryStore

FILE_TOKENS, QUESTION_TOKENS, ANSWER_TOKENS, TURNS, EDITED_AT = 1500, 80, 157, 12, 7
SLIDING_ROOM = 4_600
SAMPLE = Path(sill.__file__).parent / "sample" / "vault"
PROSE, CODE = "Oven/Bread oven.md", ["Weather/code/summary.py", "Weather/code/chart.py"]
EDIT = ("best, run = [], []", "best, run = list(), list()")
WINDOW = 8_192

SUBJECTS = [
    "the oven",
    "the beans",
    "last frost",
    "the rain gauge",
    "compost",
    "the seedlings",
    "soil",
    "the shed",
]
VERBS = ["measured", "dug over", "watered", "noted", "repaired", "compared", "sowed", "cleared"]


@dataclass(frozen=True, slots=True)
class Script:
    prose: Document
    code: Document
    edited: Document
    questions: list[str]
    answers: list[str]

    def files(self, turn: int) -> list[Document]:
        return [self.prose, self.edited if turn >= EDITED_AT else self.code]


@dataclass(frozen=True, slots=True)
class Spent:
    evaluated: int
    cached: int
    reuse: float  # of the tokens that the previous request and its answer had already shown


async def cut(counter: TokenCounter, text: str, tokens: int) -> str:
    """The first lines of ``text`` that have this many tokens, give or take a line."""
    lines = text.splitlines(keepends=True)
    counts = (await counter.count(lines)).tokens
    kept = 0
    while kept < len(lines) and sum(counts[: kept + 1]) <= tokens:
        kept += 1
    return "".join(lines[:kept])


async def said(counter: TokenCounter, start: str, sentence: str, tokens: int) -> str:
    """``start`` and variants of ``sentence``, of about this many tokens."""
    text, n = start, 0
    while (await counter.count([text])).tokens[0] < tokens - 8:
        text += " " + sentence.format(n=n, s=SUBJECTS[n * 7 % 8], v=VERBS[n * 5 % 8])
        n += 1
    return text


async def write_script(counter: TokenCounter) -> Script:
    prose = await cut(counter, (SAMPLE / PROSE).read_text(), FILE_TOKENS)
    code = await cut(counter, "\n".join((SAMPLE / name).read_text() for name in CODE), FILE_TOKENS)
    questions = [
        await said(
            counter, f"Question {n}.", "What did I write about {s} when I {v} it?", QUESTION_TOKENS
        )
        for n in range(1, TURNS + 1)
    ]
    answers = [
        await said(
            counter, f"Answer {n}.", "You {v} {s} that day, as note {n} says.", ANSWER_TOKENS
        )
        for n in range(1, TURNS + 1)
    ]
    return Script(
        prose=Document(PROSE, prose),
        code=Document(CODE[0], code),
        edited=Document(CODE[0], code.replace(*EDIT, 1)),
        questions=questions,
        answers=answers,
    )


class Scripted:
    """The real server reads the prompt; the answer is the script's."""

    def __init__(self, model: OpenAIModel, answers: list[str]) -> None:
        self.name, self.endpoint = model.name, model.endpoint
        self._model, self._answers = model, iter(answers)

    async def stream(self, request: ChatRequest) -> AsyncIterator[ModelEvent]:
        async for event in self._model.stream(replace(request, max_tokens=1)):
            if isinstance(event, Ended):
                yield TextDelta(next(self._answers))
                yield Ended("complete", "stop", event.usage)


async def run_sill(server: LocalServer, counter: TokenCounter, script: Script) -> Spent:
    model = OpenAIModel(server.base_url, server.model_name, server.api_key)
    call = Call(
        server.model_name,
        replace(PROFILES["chat"], temperature=0.0),
        WINDOW,
        compose(load()["chat"], {}),
    )
    chat = Chat(
        MemoryStore(),
        Scripted(model, script.answers),
        counter,
        Sizer(counter, counter.count, "folded"),
        call,
        "bench",
    )
    id, usages = None, []
    for turn, question in enumerate(script.questions, start=1):
        async for event in chat.ask(id, Question(question, tuple(script.files(turn)))):
            if isinstance(event, Finished):
                assert event.outcome == "complete", event.reason
                assert event.certificate.drift == 0, "the prediction must be exact here"
                id = event.chat
                usages.append((event.usage.prompt, event.usage.cached or 0))
    await model.close()
    return summed(usages)


async def run_layout(
    server: LocalServer, counter: TokenCounter, script: Script, sliding: bool
) -> Spent:
    model = OpenAIModel(server.base_url, server.model_name, server.api_key)
    system = WireMessage("system", "You help a person with their notes and code.")
    talk: list[WireMessage] = []
    usages = []
    for turn, question in enumerate(script.questions, start=1):
        shown = WireMessage(
            "user", "\n\n".join(f"{f.path}\n```\n{f.text}```" for f in script.files(turn))
        )
        agreed = WireMessage("assistant", "I will use these files.")
        asked = WireMessage("user", question)
        if sliding:
            while True:
                messages = (system, shown, agreed, *talk, asked)
                request = ChatRequest(server.model_name, messages, max_tokens=1)
                if (await counter.count_request(request)).tokens[0] <= SLIDING_ROOM:
                    break
                talk = talk[1:]
        else:
            messages = (system, *talk, shown, agreed, asked)
        request = ChatRequest(server.model_name, messages, max_tokens=1, temperature=0.0)
        async for event in model.stream(request):
            if isinstance(event, Ended):
                usages.append((event.usage.prompt, event.usage.cached or 0))
        talk += [asked, WireMessage("assistant", script.answers[turn - 1])]
    await model.close()
    return summed(usages)


# --- Recall ---------------------------------------------------------------------------------------

RECALL_WINDOW, RECALL_TURNS = 4_096, 36
THINGS = ["kettle", "ladder", "lantern", "barrow", "bellows", "trowel", "sieve", "anvil", "bucket", "hammock",
          "compass", "mirror"]  # fmt: skip
PLACES = ["attic", "cellar", "stable", "orchard", "workshop", "pantry"]


def facts(number: int) -> tuple[str, str]:
    """A thing that is told of, or asked for again eight turns later."""
    thing = THINGS[number % len(THINGS)]
    if number % 3 == 2 and number > 8:
        old = THINGS[(number - 8) % len(THINGS)]
        return (
            f"Where did I say the {old} is, and who mended the {old}?",
            f"You told me about the {old}.",
        )
    place = PLACES[number * 5 % len(PLACES)]
    told = f"The {thing} number {number} is in the {place}; my neighbour mended the {thing} in week {number}."
    return (
        told + " It cost more than I thought." * 6,
        f"Noted: {thing}, {place}. " + "I will remember. " * 20,
    )


async def run_recall(server: LocalServer, counter: TokenCounter) -> dict[str, float]:
    model = OpenAIModel(server.base_url, server.model_name, server.api_key)
    said = [facts(number) for number in range(RECALL_TURNS)]
    profile = replace(PROFILES["chat"], temperature=0.0)
    call = Call(server.model_name, profile, RECALL_WINDOW, compose(load()["chat"], {}))
    store = MemoryStore()
    chat = Chat(
        store,
        Scripted(model, [answer for _, answer in said]),
        counter,
        Sizer(counter, counter.count, "folded"),
        call,
        "bench",
        recollection=Recollection(store, least=RECALL_LEAST, insists=RECALL_INSISTS),
        summaries="extract",
    )
    id, seen = None, []
    for question, _ in said:
        async for event in chat.ask(id, Question(question)):
            if isinstance(event, Finished):
                assert event.outcome == "complete", event.reason
                assert event.certificate.drift == 0, "the prediction must be exact here"
                id = event.chat
                turn = await store.turn(event.turn)
                recalls = sum(isinstance(m.carries, Recall) for m in turn.messages)
                seen.append((turn.epoch, event.usage.prompt, event.usage.cached or 0, recalls))
    await model.close()
    pairs = [(last[1], now[2], last[0] == now[0]) for last, now in pairwise(seen)]
    steady = [(shown, cached) for shown, cached, is_same in pairs if is_same]
    return {
        "turns": len(seen),
        "evictions": seen[-1][0].number,
        "recalls": sum(one[3] for one in seen),
        "reuse_without_eviction": sum(c for _, c in steady) / sum(s for s, _ in steady),
        "reuse": sum(c for _, c, _ in pairs) / sum(s for s, _, _ in pairs),
    }


def summed(usages: list[tuple[int, int]]) -> Spent:
    evaluated = sum(prompt - cached for prompt, cached in usages)
    cached = sum(cached for _, cached in usages)
    # What the last request showed can be taken from the cache at the next one.
    reusable = sum(prompt for prompt, _ in usages[:-1])
    return Spent(evaluated, cached, sum(c for _, c in usages[1:]) / reusable)


async def envelope_cost(counter: TokenCounter, document: Document) -> float:
    wrapped = envelopes.state(document.stamp, document.text).text
    bare, full = (await counter.count([document.text, wrapped])).tokens
    return full / bare - 1


async def measure() -> dict[str, object]:
    import httpx

    results: dict[str, Spent] = {}
    async with httpx.AsyncClient(trust_env=False) as client:
        for name in ("sill", "resend", "sliding"):
            # A server of its own for each layout: no cache is inherited.
            with open_local(cut_path(), window=WINDOW, linger=0.0) as server:
                endpoint = Endpoint(server.base_url, client, server.api_key)
                counter = (
                    await counter_for(server.model_name, endpoint=endpoint, probes=Probes())
                ).counter
                script = await write_script(counter)
                if name == "sill":
                    results[name] = await run_sill(server, counter, script)
                    costs = [
                        await envelope_cost(counter, file) for file in (script.prose, script.code)
                    ]
                else:
                    results[name] = await run_layout(server, counter, script, name == "sliding")
        with open_local(cut_path(), window=RECALL_WINDOW, linger=0.0) as server:
            endpoint = Endpoint(server.base_url, client, server.api_key)
            chosen = await counter_for(server.model_name, endpoint=endpoint, probes=Probes())
            recall = await run_recall(server, chosen.counter)
    report: dict[str, object] = {
        name: {"evaluated": spent.evaluated, "cached": spent.cached, "reuse": round(spent.reuse, 4)}
        for name, spent in results.items()
    }
    report["recall"] = {name: round(value, 4) for name, value in recall.items()}
    report["envelope_cost"] = {"prose": round(costs[0], 4), "code": round(costs[1], 4)}
    return report


def main() -> None:
    report = asyncio.run(measure())
    ours = report["sill"]["evaluated"]  # type: ignore[index]
    rows = [
        [name, report[name]["evaluated"], report[name]["cached"], f"{report[name]['reuse']:.1%}",  # type: ignore[index]
         f"{report[name]['evaluated'] / ours:.2f}"]  # type: ignore[index]
        for name in ("sill", "resend", "sliding")
    ]  # fmt: skip
    show("Prompt tokens over 12 turns", ["layout", "evaluated", "cached", "reuse", "× sill"], rows)
    kept = report["recall"]
    print(f"With recall: {kept['turns']} turns, {kept['evictions']} evictions, {kept['recalls']} recalls;"  # type: ignore[index]
          f" {kept['reuse_without_eviction']:.1%} reused where nothing was evicted, {kept['reuse']:.1%} in all.")  # type: ignore[index]  # fmt: skip
    cost = report["envelope_cost"]
    print(f"The JSON envelope costs {cost['prose']:+.1%} on prose, {cost['code']:+.1%} on code.")  # type: ignore[index]
    finish(report)


if __name__ == "__main__":
    main()
