"""Apply, undo, redo, edits from outside and crashes in any order: the folder is always what a simple model says."""

import random
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sill.adapters.vault.apply import Applied, Conflict, Stamp, apply, approve
from sill.adapters.vault.recover import recover
from sill.adapters.vault.transact import Workspace
from sill.adapters.vault.undo import Nothing, history, redo, undo
from sill.core.edits import Rejected, Scope
from sill.core.ops import Delete, Op, Replace, Whole
from sill.core.proposal import Proposal, preview, propose
from tests.crash.fake_disk import Crash, MemoryFs, Stopping

NAMES = ("a.md", "b.md", "sub/c.md")
Tree = dict[str, bytes]

edits = st.dictionaries(
    st.sampled_from(NAMES), st.none() | st.integers(0, 3), min_size=1, max_size=3
)
crashes = st.none() | st.integers(0, 40)
steps = st.one_of(
    st.tuples(st.just("apply"), edits, crashes),
    st.tuples(st.just("undo"), st.none() | st.integers(0, 3), crashes),
    st.tuples(st.just("redo"), st.none() | st.integers(0, 3), crashes),
    st.tuples(st.just("outside"), st.sampled_from(NAMES), st.none() | st.integers(0, 3)),
    st.tuples(st.just("stale"), edits, crashes),
)


@dataclass(eq=False)
class Done:
    """One applied proposal in the model."""

    before: dict[str, bytes | None]
    after: dict[str, bytes | None]
    is_applied: bool = True
    last_turn: int = 0


@dataclass
class World:
    """The disk, and beside it what we believe to be on it."""

    fs: MemoryFs = field(default_factory=MemoryFs)
    tree: Tree = field(default_factory=dict)
    done: list[Done] = field(default_factory=list)
    turn: int = 0

    def workspace(self, stop: int | None) -> Workspace:
        return Workspace(Path("ws"), Path("state"), fs=Stopping(self.fs, stop))  # type: ignore[arg-type]

    def stamp(self) -> Stamp:
        self.turn += 1
        return Stamp(self.turn * 10_000, token=f"{self.turn:08x}")

    def files(self) -> Tree:
        return {path: data for path, data in self.fs.tree().items() if not path.endswith("/")}

    def attempt(self, action: Any, stop: int | None) -> Any:
        """The result, or None if it crashed and was recovered."""
        try:
            return action(self.workspace(stop))
        except Crash:
            self.fs.restart()
            recover(self.workspace(None), self.turn * 10_000)
            return None

    def changed(self, change: dict[str, bytes | None]) -> Tree:
        tree = {**self.tree, **change}
        return {path: data for path, data in tree.items() if data is not None}

    def holds(self, state: dict[str, bytes | None]) -> bool:
        return all(self.tree.get(path) == data for path, data in state.items())

    # What can happen.

    def apply(
        self, wanted: dict[str, int | None], stop: int | None, base: Tree | None = None
    ) -> None:
        base = self.tree if base is None else base
        texts = {path: data.decode() for path, data in base.items()}
        ops: list[Op] = [
            Delete(path, Whole()) if number is None else Replace(path, Whole(), f"{number}\n")
            for path, number in wanted.items()
            if number is not None or path in texts
        ]
        made = propose("", ops, Scope({path: texts.get(path) for path in NAMES}))
        assert isinstance(made, Proposal)
        shown = preview(made)
        files = {file.path: file.change for file in shown.files}  # type: ignore[union-attr]
        before = {path: encoded(change.before) for path, change in files.items()}
        after = {path: encoded(change.after) for path, change in files.items()}
        stamp = self.stamp()
        result = self.attempt(lambda ws: apply(ws, made, approve(shown), stamp), stop)  # type: ignore[arg-type]

        if not files:
            assert isinstance(result, Rejected)
            return
        if not self.holds(before):
            assert isinstance(result, Conflict | None)
            return
        self.moved(result, after, Done(before, after, last_turn=self.turn))

    def moved(self, result: Any, change: dict[str, bytes | None], done: Done) -> None:
        """The files are new, and if it crashed, new or old; the model follows the disk."""
        new = self.changed(change)
        assert isinstance(result, Applied | None), result
        assert self.files() in ([new] if result else [new, self.tree])
        # After a crash equal trees do not say whether it happened; history does.
        if result or self.is_in_history(done):
            self.tree = new
            if not any(one is done for one in self.done):
                self.done.append(done)
            done.last_turn = self.turn

    def is_in_history(self, done: Done) -> bool:
        records = history(self.workspace(None))
        if done not in self.done:
            return len(records) > len(self.done)
        record = records[len(self.done) - 1 - self.done.index(done)]
        return record.is_applied != done.is_applied

    def turn_back(self, kind: str, which: int | None, stop: int | None) -> None:
        """Undo or redo the proposal ``which``, or the one whose turn it is."""
        wants_applied = kind == "undo"
        fitting = [one for one in self.done if one.is_applied == wants_applied]
        if which is None:
            chosen, id = max(fitting, key=lambda one: one.last_turn, default=None), None
        else:
            chosen, id = (
                self.done[which],
                history(self.workspace(None))[len(self.done) - 1 - which].id,
            )
        act, stamp = (undo if wants_applied else redo), self.stamp()
        result = self.attempt(lambda ws: act(ws, stamp, id), stop)
        if chosen not in fitting:
            assert isinstance(result, Nothing | None)
            return
        assert chosen is not None
        now, then = (
            (chosen.after, chosen.before) if wants_applied else (chosen.before, chosen.after)
        )
        if not self.holds(now):
            assert isinstance(result, Conflict | None), result
            return
        self.moved(result, then, chosen)
        if chosen.last_turn == self.turn:
            chosen.is_applied = not wants_applied

    def outside(self, path: str, number: int | None) -> None:
        data = None if number is None else b"outside %d\n" % number
        self.fs.put(f"ws/{path}", data)
        self.tree = self.changed({path: data})


def encoded(text: str | None) -> bytes | None:
    return None if text is None else text.encode()


def play(script: list[tuple[Any, ...]]) -> World:
    world = World()
    older: Tree = {}
    for step in script:
        match step:
            case ("apply", wanted, stop):
                older = dict(world.tree)
                world.apply(wanted, stop)
            case ("stale", wanted, stop):
                world.apply(wanted, stop, older)
            case ("undo" | "redo" as kind, which, stop):
                world.turn_back(
                    kind, which if which is None or which < len(world.done) else None, stop
                )
            case ("outside", path, number):
                world.outside(path, number)
        assert world.files() == world.tree, step
        assert [record.is_applied for record in reversed(history(world.workspace(None)))] == [
            done.is_applied for done in world.done
        ]
    return world


@settings(max_examples=2_000, suppress_health_check=[HealthCheck.too_slow], deadline=None)
@given(st.lists(steps, min_size=2, max_size=7))
def test_any_sequence_leaves_what_it_should(script):
    play(script)


def test_long_sequences_really_do_things():
    """The same with a fixed seed, to see that the sequences apply, undo and redo rather than only conflict."""
    chance = random.Random(11)
    done = undone = 0
    for _ in range(20):
        script: list[tuple[Any, ...]] = []
        for _ in range(30):
            kind = chance.choice(["apply", "apply", "undo", "redo", "outside"])
            stop = chance.choice([None, None, chance.randrange(40)])
            if kind == "apply":
                script.append((kind, {chance.choice(NAMES): chance.randrange(50)}, stop))
            elif kind == "outside":
                script.append((kind, chance.choice(NAMES), chance.randrange(50)))
            else:
                script.append((kind, None, stop))
        world = play(script)
        done += len(world.done)
        undone += sum(not one.is_applied for one in world.done)

    assert done > 150
    assert undone > 15


@pytest.mark.long
@settings(max_examples=20_000, suppress_health_check=[HealthCheck.too_slow], deadline=None)
@given(st.lists(steps, min_size=2, max_size=15))
def test_many_more_sequences(script):
    play(script)
