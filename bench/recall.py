"""How much of what a question needs is in the prompt, when the conversation is much longer than the prompt.

    python bench/recall.py --data FILE --budget 2048 --out OUT.jsonl [--embedder none|auto|FOLDER] [--json]

FILE holds conversations, ``[{"conversation", "turns": [{"id", "speaker", "time", "text"}], "questions":
[{"question", "evidence": [ids]}]}]``. Each one goes through the engine turn by turn (two utterances of one
sitting are a question and its answer, spoken by a scripted model), with exact counts of a local tokenizer and
a prompt budget that evicts all the time. Then every question is planned on its own, as the next turn. OUT gets
one line per question: what is in the rendered prompt, and the prompt's exact tokens.

An utterance counts as included if it is in the window whole, or quoted in the recall: every quote is checked
against the original. ``evidence`` is the part of all marked utterances that is included. The baselines fill
the same budget with ``speaker: text`` lines.
"""

import argparse
import asyncio
import json
import statistics
import sys
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from _shape import finish, show

from sill.adapters.embed import fetch
from sill.adapters.embed.choice import embedder_for
from sill.adapters.tokens.local import local_counter
from sill.app.seat import RECALL_INSISTS, RECALL_LEAST
from sill.core.budget import PROFILES
from sill.core.excerpts import GAP
from sill.core.families import family_of
from sill.core.memory import Postings
from sill.core.messages import Recall
from sill.core.plan import Plan
from sill.core.prompts import compose
from sill.core.request import ChatRequest
from sill.core.stems import terms
from sill.engine.chat import Chat
from sill.engine.prepare import Call, Prepared, Question
from sill.engine.recall import Recollection
from sill.engine.sizes import Remembered
from sill.engine.sizing import Sizer
from sill.errors import SillError
from sill.ports import Embedder
from sill.prompts import load, template
from sill.testing import MemoryStore, ScriptedModel

MODEL, REPLY = "gpt-4o", 256
SPEECH = "{speaker}: {text}"
_TIMES = ("%I:%M %p on %d %B, %Y", "%Y-%m-%d %H:%M", "%Y-%m-%dT%H:%M:%S", "%d %B, %Y", "%Y-%m-%d")

Spoken = Mapping[str, str]  # id, speaker, time, text


@dataclass(slots=True)
class Clock:
    """The store's clock: it shows the time at which the present exchange was said."""

    now: int = 0

    def __call__(self) -> int:
        return self.now


def moment(text: str, before: int) -> int:
    """Milliseconds; a time that cannot be read is a day after the one before."""
    for form in _TIMES:
        try:
            return int(datetime.strptime(text.strip(), form).replace(tzinfo=UTC).timestamp() * 1000)
        except ValueError:
            continue
    return before + 86_400_000


def exchanges(turns: Sequence[Spoken]) -> list[list[Spoken]]:
    """Two utterances of one sitting make one turn of a chat; a last one may stay without an answer."""
    made: list[list[Spoken]] = []
    for turn in turns:
        if made and len(made[-1]) == 1 and made[-1][0]["time"] == turn["time"]:
            made[-1].append(turn)
        else:
            made.append([turn])
    return made


@dataclass(slots=True)
class Talk:
    """One conversation that has gone through the engine."""

    chat: Chat
    id: str
    exchanges: list[list[Spoken]]
    spent: list[float] = field(default_factory=list)

    async def ask(self, question: str) -> tuple[dict[str, float], int]:
        """The utterances in the prompt with the part of each that is there, and the prompt's tokens.

        Nothing is stored.
        """
        started = time.perf_counter()
        ready = await self.chat.plan(self.id, Question(question))
        self.spent.append(time.perf_counter() - started)
        assert isinstance(ready, Prepared), ready
        assert ready.certificate.kind == "exact"
        return self.included(ready.plan, ready.request), ready.certificate.predicted

    def included(self, plan: Plan, request: ChatRequest) -> dict[str, float]:
        prompt = "\n".join(message.content or "" for message in request.messages)
        kept = {item.name for item in plan.items if item.kind == "turn" and item.fate == "kept"}
        found = {
            spoken["id"]: 1.0
            for number, exchange in enumerate(self.exchanges, start=1)
            if f"turn-{number}" in kept
            for spoken in exchange
            if SPEECH.format_map(spoken) in prompt
        }
        for sized in plan.hidden:
            if isinstance(sized.message.carries, Recall):
                assert sized.message.text in prompt
                found |= self.quoted(json.loads(sized.message.text)["content"])
        return found

    def quoted(self, content: str) -> dict[str, float]:
        """The utterances of which a recall really quotes something, and how much of them."""
        found: dict[str, float] = {}
        for line in content.split("\n"):
            head, speech, quote = line.partition(": ")
            number, _, speaker = head.partition(" ")
            if not speech:
                continue  # a day
            parts = [part.removesuffix(GAP.rstrip()) for part in quote.split(GAP)]
            matching = {
                spoken["id"]: sum(map(len, parts)) / max(1, len(" ".join(spoken["text"].split())))
                for spoken in self.exchanges[int(number) - 1]
                if speaker in (spoken["speaker"], "user", "assistant")
                and all(part in " ".join(SPEECH.format_map(spoken).split()) for part in parts)
            }
            if not matching:
                print(f"not counted, as it was never said like this: {line}", file=sys.stderr)
            found |= matching
        return found


async def feed(turns: Sequence[Spoken], budget: int, embedder: Embedder | None) -> Talk:
    """The conversation as a chat of an endless patience and a small window."""
    family = family_of(MODEL)
    counter = local_counter(family) if family else None
    assert counter is not None
    made = exchanges(turns)
    speeches = [[SPEECH.format_map(spoken) for spoken in exchange] for exchange in made]
    clock = Clock()
    store = MemoryStore(clock)
    profile = replace(PROFILES["chat"], reply=REPLY)
    system = compose(template("chat", load()), {"INSTRUCTIONS": ""})
    remembered = Remembered(counter, store, cuts=counter.cuts)
    chat = Chat(
        store=store,
        model=ScriptedModel(*(speech[1:] for speech in speeches)),
        counter=counter,
        sizer=Sizer(counter, remembered.count, "folded"),
        call=Call(MODEL, profile, budget + REPLY, system),
        workspace="bench",
        recollection=Recollection(store, embedder, least=RECALL_LEAST, insists=RECALL_INSISTS),
        summaries="extract",
    )
    id = await store.new_chat("bench")
    for exchange, speech in zip(made, speeches, strict=True):
        clock.now = moment(exchange[0]["time"], clock.now)
        async for _ in chat.ask(id, Question(speech[0])):
            pass
    return Talk(chat, id, made)


# --- Baselines -----------------------------------------------------------------------------------


@dataclass(slots=True)
class Lines:
    """The same conversation as plain lines, for methods that fill a budget with them."""

    turns: Sequence[Spoken]
    tokens: Sequence[int]
    words: Postings

    def filled(self, order: Iterable[int], room: int) -> set[str]:
        found: set[str] = set()
        for place in order:
            if self.turns[place]["id"] in found:
                continue
            if self.tokens[place] > room:
                break
            room -= self.tokens[place]
            found.add(self.turns[place]["id"])
        return found

    def last(self, question: str) -> list[int]:
        return list(range(len(self.turns)))[::-1]

    def ranked(self, question: str) -> list[int]:
        scores = self.words.scores(dict.fromkeys(terms(question), 1.0), length=0.75)
        return sorted(range(len(scores)), key=lambda place: -scores[place])

    def with_neighbours(self, question: str) -> list[int]:
        last = len(self.turns) - 1
        return [
            near
            for place in self.ranked(question)
            for near in (place, max(0, place - 1), min(last, place + 1))
        ]


async def lines(turns: Sequence[Spoken], chat: Chat) -> Lines:
    speeches = [SPEECH.format_map(turn) for turn in turns]
    counts = await chat.sizer.count([speech + "\n" for speech in speeches])
    words = Postings()
    for place, speech in enumerate(speeches):
        words.add(place, terms(speech))
    return Lines(turns, counts.tokens, words)


# --- The run -------------------------------------------------------------------------------------


@dataclass(slots=True)
class Tally:
    """How much of the marked evidence was included, over all of it and as a mean over questions."""

    found: int = 0
    marked: int = 0
    parts: list[float] = field(default_factory=list)

    def add(self, included: set[str], evidence: Sequence[str]) -> None:
        hits = len(included & set(evidence))
        self.found += hits
        self.marked += len(set(evidence))
        self.parts.append(hits / max(1, len(set(evidence))))

    @property
    def row(self) -> list[str]:
        whole = sum(part == 1 for part in self.parts) / max(1, len(self.parts))
        mean = statistics.fmean(self.parts) if self.parts else 0.0
        return [f"{100 * x:.1f} %" for x in (self.found / max(1, self.marked), mean, whole)]


async def run(
    data: Sequence[Any], budget: int, out: Path, embedder: Embedder | None
) -> dict[str, Any]:
    tallies: dict[str, Tally] = defaultdict(Tally)
    spent: list[float] = []
    parts: list[float] = []
    longest: tuple[int, float] = (0, 0.0)
    with out.open("w", encoding="utf-8") as file:
        for conversation in data:
            turns, name = conversation["turns"], conversation["conversation"]
            talk = await feed(turns, budget, embedder)
            plain = await lines(turns, talk.chat)
            await warm(talk)
            for asked in conversation["questions"]:
                question, evidence = asked["question"], asked["evidence"]
                included, tokens = await talk.ask(question)
                tallies["sill"].add(set(included), evidence)
                tallies[f"sill, {name}"].add(set(included), evidence)
                parts += [included[id] for id in evidence if id in included]
                row = {"conversation": name, "question": question,
                       "included": sorted(included), "prompt_tokens": tokens}  # fmt: skip
                file.write(json.dumps(row, ensure_ascii=False) + "\n")
                for baseline, order in _BASELINES.items():
                    filled = plain.filled(order(plain, question), budget)
                    tallies[baseline].add(filled, evidence)
            spent += talk.spent
            longest = max(longest, (len(turns), 1000 * statistics.median(talk.spent)))
            await talk.chat.recollection.close()
    return {
        "recall": {name: tally.row for name, tally in tallies.items()},
        "evidence_recall": tallies["sill"].found / max(1, tallies["sill"].marked),
        "baselines": {
            name: tallies[name].found / max(1, tallies[name].marked) for name in _BASELINES
        },
        "median_ms": 1000 * statistics.median(spent),
        "longest": {"turns": longest[0], "median_ms": longest[1]},
        "quoted_whole": sum(part > 0.99 for part in parts) / max(1, len(parts)),
        "quoted_part": statistics.fmean(parts) if parts else 0.0,
        "embedder": embedder.name if embedder else None,
    }


_BASELINES: dict[str, Callable[[Lines, str], list[int]]] = {
    "last messages": Lines.last,
    "BM25": Lines.ranked,
    "BM25 with neighbours": Lines.with_neighbours,
}


async def warm(talk: Talk) -> None:
    """Turns are taken in when they leave; here all of them left before the first question was asked."""
    await talk.ask("What was said at the beginning?")
    await talk.chat.recollection.settled()
    talk.spent.clear()


def chosen(embedder: str) -> Embedder | None:
    """``auto`` fetches the bundled one where it is not there yet, and goes by words where that fails."""
    if embedder == "none":
        return None
    if embedder == "auto":
        try:
            return embedder_for("bundled")
        except SillError as error:
            print(f"by words alone: {error}", file=sys.stderr)
            return None
    return (
        embedder_for("bundled", folder=Path(embedder)) if fetch.is_ready(Path(embedder)) else None
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--budget", type=int, default=2048)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--embedder", default="auto")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    data = json.loads(options.data.read_text(encoding="utf-8"))
    report = asyncio.run(run(data, options.budget, options.out, chosen(options.embedder)))
    show(
        f"Evidence in a prompt of {options.budget:,} tokens (embedder: {report['embedder'] or 'none'})",
        ["", "evidence", "mean of questions", "questions with all of it"],
        [[name, *report["recall"][name]] for name in sorted(report["recall"])],
    )
    print(f"of the evidence that is there, {100 * report['quoted_whole']:.0f} % is there whole,"
          f" and {100 * report['quoted_part']:.0f} % of its text")  # fmt: skip
    longest = report["longest"]
    print(f"median {report['median_ms']:.1f} ms a question;"
          f" {longest['median_ms']:.1f} ms at {longest['turns']} turns")  # fmt: skip
    finish(report)


if __name__ == "__main__":
    main()
