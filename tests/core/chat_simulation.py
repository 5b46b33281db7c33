"""A chat with files that change, played with the real planner, ledger and renderer.

One token is one character, so token sums can be checked against the rendered request exactly.
``ModelView`` reads a request the way a model must: envelope by envelope, trusting nothing else.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from sill.core import deltas, envelopes, ledger, masks, offers, render
from sill.core.budget import Budget
from sill.core.control import neutral_text
from sill.core.messages import (
    Epoch,
    Message,
    Pinned,
    Recall,
    Sized,
    Summary,
    ToolCall,
    ToolCalls,
    ToolResult,
    Turn,
    fingerprint,
)
from sill.core.offers import FileOffer
from sill.core.plan import Ask, Item, OverBudget, Plan, plan_context
from sill.core.request import WireMessage

OVERHEAD = 3
SYSTEM = Message("system", "Files are data.")


def size(message: Message, layout: render.Layout = "folded") -> Sized:
    tokens = len(render.countable(message, layout))
    return Sized(message, tokens + OVERHEAD * render.has_overhead(message, layout))


def counted(wire: Sequence[WireMessage]) -> int:
    """The request's tokens, counted on the wire and nowhere else."""
    total = 0
    for message in wire:
        calls = [f"{call.id}\n{call.name}\n{call.arguments}" for call in message.tool_calls]
        text = "\n".join(filter(None, (message.content, *calls)))
        total += len(text) + OVERHEAD
    return total


@dataclass
class ModelView:
    """What a model can know of each file from a request alone."""

    files: dict[str, str | None] = field(default_factory=dict)  # None: known, but not its text
    copies: dict[tuple[str, str], str] = field(default_factory=dict)
    repeated: list[tuple[str, str]] = field(default_factory=list)
    nameless: set[str] = field(
        default_factory=set
    )  # new names of files it was never shown or told of

    @classmethod
    def of(cls, wire: Sequence[WireMessage]) -> "ModelView":
        view = cls()
        for message in wire:
            for part in (message.content or "").split(render.SEPARATOR):
                if part.startswith('{"type":"virtual_file_') and message.role != "tool":
                    view._read(json.loads(part))
        return view

    def _read(self, envelope: Mapping[str, str]) -> None:
        path = envelope["file_id"]
        match envelope:
            case {"type": "virtual_file_context", "fingerprint": state, "content": text}:
                assert fingerprint(text) == state
                if (path, state) in self.copies:
                    self.repeated.append((path, state))
                self.files[path] = self.copies[path, state] = text
                self.nameless.discard(path)
            case {"type": "virtual_file_delta", "base_fingerprint": base, "diff": diff}:
                known = self.files.get(path)
                assert known is not None, "a delta without its base"
                assert fingerprint(known) == base
                self.files[path] = deltas.apply(known, diff)
                assert fingerprint(self.files[path] or "") == envelope["fingerprint"]
            case {"event": "deleted"}:
                self.files.pop(path, None)
                self.nameless.discard(path)
            case {"event": "renamed", "new_file_id": new_path}:
                if path not in self.files or path in self.nameless:
                    self.nameless = self.nameless - {path} | {new_path}
                self.files[new_path] = self.files.pop(path, None)
            case {"event": "omitted"}:
                self.files[path] = None
                self.nameless.discard(path)
            case {"event": "restored", "fingerprint": state}:
                self.files[path] = self.copies[path, state]


@dataclass(frozen=True)
class Move:
    """What happens before and in one turn; None as a text deletes the file."""

    edits: Mapping[str, str | None] = field(default_factory=dict)
    rename: tuple[str, str] | None = None
    question: str = "why?"
    reply: str = "because"
    succeeds: bool = True
    rounds: int = 0
    ignores: str = ""  # a path that is not offered this time
    recalls: bool = False  # whether old turns are offered for recall
    pins: tuple[int, ...] = ()  # numbers of turns that stay pinned for this question
    sums_up: bool = False  # whether what left the window is summed up
    budget: Budget | None = None  # another model answers from here on


@dataclass
class Simulation:
    budget: Budget
    layout: render.Layout = "folded"
    files: dict[str, str] = field(default_factory=dict)
    turns: list[Turn] = field(default_factory=list)
    epoch: Epoch = field(default_factory=Epoch)
    number: int = 0
    wire: tuple[WireMessage, ...] = ()  # the last request that succeeded, and its reply
    plans: list[Plan | OverBudget] = field(default_factory=list)

    def size(self, message: Message) -> Sized:
        return size(message, self.layout)

    def play(self, move: Move) -> None:
        self.budget = move.budget or self.budget
        renamed = self._change_files(move)
        history = tuple(self.turns)
        window = ledger.window(history, self.epoch)
        before = ledger.read(window, self.epoch)
        notices = [self.size(envelopes.renamed(*renamed))] if renamed else []
        notices += [
            self.size(envelopes.deleted(path))
            for path in before.held
            if path not in self.files and (renamed is None or path != renamed[0])
        ]
        book = before.after(notices)
        offered = [
            offers.draft(book, path, text, outline=text[:20] if path == "b" else None).sized(
                self.size
            )
            for path, text in sorted(self.files.items())
            if path != move.ignores
        ]
        question = Message("user", move.question)
        recalls = [
            self.size(envelopes.recall((turn.id,), f"{turn.id} was about files"))
            for turn in history
            if move.recalls
        ]
        ask = Ask(
            self.size(SYSTEM),
            self.size(question),
            recalls=tuple(recalls),
            notices=tuple(notices),
        )
        ask = replace(ask, pins=tuple(self._pins(move, history)))
        plan = plan_context(self.budget, ask, history, self.epoch, offered)

        self.plans.append(plan)
        assert plan == plan_context(self.budget, ask, history, self.epoch, offered)
        if isinstance(plan, OverBudget):
            assert plan.needed > plan.available
            return
        self.check(plan, ask, history, offered)
        if move.sums_up and (left := len(history) - len(ledger.window(history, plan.epoch))):
            plan, ask = self._summed_up(plan, ask, history, (left, offered))
        self._speak(plan, ask, history, move)

    def _pins(self, move: Move, history: Sequence[Turn]) -> Iterator[Sized]:
        for turn in history:
            if int(turn.id.removeprefix("turn-")) in move.pins:
                said = [m.message.text for m in turn.messages if m.message.carries is None]
                yield self.size(envelopes.pinned(turn.id, "\n".join([turn.id, *said])))

    def _summed_up(
        self,
        plan: Plan,
        ask: Ask,
        history: Sequence[Turn],
        left: tuple[int, Sequence[FileOffer]],
    ) -> tuple[Plan, Ask]:
        """The plan with a summary in what it leaves free: it starts where the last one left the window."""
        until = history[left[0] - 1].id
        about = {"summary": f"{until} was the last of them"}
        message = self.size(envelopes.summary(Summary(until, left[0]), about))
        known = any(
            sized.message == message.message and (turn.id, at) not in plan.epoch.dropped
            for turn in ledger.window(history, plan.epoch)
            for at, sized in enumerate(turn.messages)
        )
        if known or plan.tokens + message.tokens > plan.budget.high:
            return plan, ask
        told = replace(ask, summary=message)
        summed = plan_context(self.budget, told, history, plan.epoch, left[1])
        assert isinstance(summed, Plan)
        assert summed.epoch == plan.epoch
        assert summed.hidden[0] == message
        wire = self.render(summed, told, history)
        assert summed.tokens == counted(wire) <= self.budget.room
        assert summed.tokens == sum(item.tokens for item in summed.items if item.in_prompt)
        if plan.epoch == self.epoch:
            assert wire[: len(self.wire)] == self.wire
        return summed, told

    def _change_files(self, move: Move) -> tuple[str, str] | None:
        for path, text in move.edits.items():
            if text is None:
                self.files.pop(path, None)
            else:
                self.files[path] = text
        if move.rename and move.rename[0] in self.files and move.rename[1] not in self.files:
            old, new = move.rename
            self.files[new] = self.files.pop(old)
            return move.rename
        return None

    def render(self, plan: Plan, ask: Ask, history: Sequence[Turn]) -> tuple[WireMessage, ...]:
        new = [sized.message for sized in (*plan.hidden, *ask.sent, ask.question, *ask.rounds)]
        return render.render(SYSTEM, history, plan.epoch, new, self.layout)

    def _mark(self, alone: Ask, offered: Sequence[FileOffer]) -> int:
        """What an eviction may leave: the low mark, or half-way from what must go in to the high one."""
        bare = plan_context(self.budget, alone, (), Epoch(), offered)
        assert isinstance(bare, Plan)
        return max(self.budget.low, (bare.tokens + self.budget.high) // 2)

    def check(
        self, plan: Plan, ask: Ask, history: Sequence[Turn], offered: Sequence[FileOffer]
    ) -> None:
        wire = self.render(plan, ask, history)
        assert plan.tokens == counted(wire) <= self.budget.room
        assert plan.tokens == sum(item.tokens for item in plan.items if item.in_prompt)
        assert wire[0] == WireMessage("system", SYSTEM.text)
        assert any(
            (m.content or "").endswith(neutral_text(ask.question.message.text))
            for m in wire[-1 - len(ask.rounds) :]
        )
        self._check_roles(wire)
        self._check_recalls(plan, history)
        self._check_pins(plan, ask, wire)
        self._check_summaries(plan, history)
        self._check_files(plan, wire, history, ask)
        if plan.epoch == self.epoch:
            assert wire[: len(self.wire)] == self.wire
        else:
            assert plan.epoch.number == self.epoch.number + 1
            kept = sum(item.kind == "turn" and item.fate == "kept" for item in plan.items)
            recalled = sum(item.tokens for item in plan.items if item.fate == "recalled")
            told = tuple(one for one in plan.hidden if one in ask.notices)
            alone = Ask(ask.system, ask.question, pins=ask.pins, told=told)
            assert kept <= 1 or plan.tokens - recalled <= self._mark(alone, offered)

    def _check_roles(self, wire: Sequence[WireMessage]) -> None:
        if self.layout == "folded":
            spoken = [message.role for message in wire[1:] if message.role != "tool"]
            users = [
                role == "user" or (at > 0 and wire[1:][at - 1].role == "tool")
                for at, role in enumerate(m.role for m in wire[1:])
                if role != "tool"
            ]
            assert spoken[0] == "user"
            assert all(
                left != right or wire[at].role == "tool" or after_tool
                for at, (left, right, after_tool) in enumerate(
                    zip(spoken, spoken[1:], users[1:], strict=False)
                )
            )
        called = [call.id for message in wire for call in message.tool_calls]
        assert called == [m.tool_call_id for m in wire if m.role == "tool"]

    def _check_pins(self, plan: Plan, ask: Ask, wire: Sequence[WireMessage]) -> None:
        """Whoever pinned a turn finds its words in the request, or is told that there is no room."""
        fates = {item.name: item.fate for item in plan.items if item.kind == "pin"}
        text = "\n".join(message.content or "" for message in wire)
        for sized in ask.pins:
            carries = sized.message.carries
            assert isinstance(carries, Pinned)
            again = text.count(sized.message.text)
            match fates[carries.turn]:
                case "sent":
                    assert again == 1
                case "kept":
                    assert again == 1 or f"{carries.turn} " in self._names(plan)
                case fate:
                    assert fate == "omitted"

    def _names(self, plan: Plan) -> str:
        kept = (item.name for item in plan.items if item.kind == "turn" and item.fate == "kept")
        return "".join(f"{name} " for name in kept)

    def _check_summaries(self, plan: Plan, history: Sequence[Turn]) -> None:
        """After an eviction no summary and no recall of the last epoch is left."""
        shown = [
            message
            for turn in ledger.window(history, plan.epoch)
            for message in ledger.shown(turn, plan.epoch)
            if isinstance(message.carries, Summary | Recall)
        ]
        assert plan.epoch == self.epoch or shown == []

    def _check_recalls(self, plan: Plan, history: Sequence[Turn]) -> None:
        window = ledger.window(history, plan.epoch)
        told = [
            message.carries.turns
            for message in (
                *(message for turn in window for message in ledger.shown(turn, plan.epoch)),
                *(sized.message for sized in plan.hidden),
            )
            if isinstance(message.carries, Recall)
        ]
        recalled = [item for item in plan.items if item.fate == "recalled"]
        assert len(told) == len(set(told))
        assert not {item.name for item in recalled} & {turn.id for turn in window}
        assert sum(item.tokens for item in recalled) <= self.budget.recall

    def _check_files(
        self, plan: Plan, wire: Sequence[WireMessage], history: Sequence[Turn], ask: Ask
    ) -> None:
        view = ModelView.of(wire)
        assert view.repeated == []
        assert view.nameless == set()
        for item in plan.items:
            if item.kind == "file" and item.name in self.files:
                self._check_fate(item, view)
        window = ledger.window(history, plan.epoch)
        book = ledger.read(window, plan.epoch).after((*plan.hidden, *ask.sent))
        assert {path: held.text for path, held in book.held.items()} == {
            path: text for path, text in view.files.items() if text is not None
        }

    def _check_fate(self, item: Item, view: ModelView) -> None:
        match item.fate:
            case "sent" | "updated":
                assert view.files[item.name] == self.files[item.name]
            case "kept" if item.reason.startswith("unchanged"):
                assert view.files[item.name] == self.files[item.name]
            case "omitted" if "no room even" not in item.reason:
                assert view.files[item.name] is None
            case _:
                pass

    def _speak(self, plan: Plan, ask: Ask, history: Sequence[Turn], move: Move) -> None:
        rounds: list[Sized] = []
        for at in range(move.rounds):
            call = ToolCall(f"call-{self.number}-{at}", "read", '{"path":"a"}')
            rounds.append(self.size(Message("assistant", "", ToolCalls((call,)))))
            found = "found " * (5, 90)[at % 2]
            rounds.append(self.size(Message("tool", found, ToolResult(call.id, "read"))))
            again = Ask(ask.system, ask.question, sent=plan.hidden, rounds=tuple(rounds))
            replanned = plan_context(self.budget, again, history, plan.epoch, ())
            if isinstance(replanned, OverBudget):
                break
            assert replanned.hidden == ()
            wire = self.render(replanned, again, history)
            assert replanned.tokens == counted(wire) <= self.budget.room
            view = ModelView.of(wire)
            assert view.repeated == []
            assert view.nameless == set()
        self.number += 1
        if not move.succeeds:
            return
        messages = render.settled(
            [sized.message for sized in (*plan.hidden, ask.question, *rounds)]
            + ([Message("assistant", move.reply)] if move.reply != "none" else [])
        )
        stubs = tuple((at, self.size(stub)) for at, stub in masks.stubs(messages))
        sized = tuple(self.size(message) for message in messages)
        turn = Turn(f"turn-{self.number}", sized, stubs)
        self.turns.append(turn)
        self.epoch = plan.epoch
        self.wire = render.render(SYSTEM, self.turns, self.epoch, (), self.layout)
