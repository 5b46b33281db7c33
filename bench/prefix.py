"""Prompt tokens a real llama.cpp server evaluates over a 12-turn chat about two files, by layout.

The same questions and answers, about two files of some 1,500 tokens, one of which is edited by a line
before turn 7; sent in three ways:

    sill      Sill's own engine: files sent once, the edit as a delta, nothing moved
    resend    both files again at the end of every request, after the conversation
    sliding   files first, then the last messages that fit; the oldest message goes when it is full

What differs between the layouts: Sill plans for a window of 8,192 tokens with 512 kept for the reply, so that
nothing is evicted here (the shipped reserve, 2,048 in such a window, would evict); ``sliding`` has a room of
4,600, so that it slides, and shows the edited file in its old place; only Sill sends its own system prompt.

Answers are scripted, so that every layout carries the same text: the server evaluates the prompt and one
token. ``cached`` is what it took from its prefix cache. Weights: the two-layer cut, whose tokenizer and
template are the whole model's.
"""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass, replace
from pathlib import Path

from _shape import finish, show

import sill
from sill.adapters.local.cut import cut_path
from sill.adapters.local.supervise import LocalServer, open_local
from sill.adapters.models.openai import OpenAIModel
from sill.adapters.tokens._http import Endpoint
from sill.adapters.tokens.choose import counter_for
from sill.adapters.tokens.probe import Probes
from sill.core import envelopes
from sill.core.budget import PROFILES
from sill.core.documents import Document
from sill.core.prompts import compose
from sill.core.request import ChatRequest, WireMessage
from sill.engine.chat import Chat
from sill.engine.events import Finished
from sill.engine.prepare import Call, Question
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
        replace(PROFILES["chat"], reply=512, temperature=0.0),
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
    report: dict[str, object] = {
        name: {"evaluated": spent.evaluated, "cached": spent.cached, "reuse": round(spent.reuse, 4)}
        for name, spent in results.items()
    }
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
    cost = report["envelope_cost"]
    print(f"The JSON envelope costs {cost['prose']:+.1%} on prose, {cost['code']:+.1%} on code.")  # type: ignore[index]
    finish(report)


if __name__ == "__main__":
    main()
