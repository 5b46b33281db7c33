"""Whatever is done to a SQLite store, it answers as the store in memory does."""

import asyncio
import tempfile
from dataclasses import fields, is_dataclass, replace
from pathlib import Path
from typing import Any

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, consumes, multiple, rule

from sill.adapters.store import open_store
from sill.core.messages import Epoch, Message
from sill.errors import SillError
from sill.ports import SoFar
from sill.testing import MemoryStore
from tests.store.examples import CERTIFICATE, body, closing, opening, tool_round

LONG = "a sentence that is long enough to be stored in a row of its own "
texts = st.sampled_from(["", "hello", LONG, LONG * 2, 'with "quotes"\n and é 🙂', "harbour"])
TIMES = ("started_ms", "created_ms", "used_ms", "took_ms", "decided_ms", "updated_ms")


class BothStores(RuleBasedStateMachine):
    """Ids differ, so each is known by the one that memory gave."""

    def __init__(self) -> None:
        super().__init__()
        self.loop = asyncio.new_event_loop()
        self.folder = tempfile.TemporaryDirectory()
        self.path = Path(self.folder.name) / "sill.db"
        self.memory = MemoryStore()
        self.sqlite = self.loop.run_until_complete(open_store(self.path))
        self.names: dict[str, str] = {}  # SQLite's id -> memory's
        self.ids: dict[str | None, str | None] = {None: None}  # and back

    def both(self, method: str, *arguments: Any, **options: Any) -> Any:
        """The answer both give, in memory's ids; a new id is learnt."""
        expected = self._ask(self.memory, method, arguments, options)
        translated = [self._translate(argument) for argument in arguments]
        found = self._ask(self.sqlite, method, translated, options)
        if method in ("new_chat", "begin") and expected[0] == found[0] == "answer":
            self.names[found[1]] = expected[1]
            self.ids[expected[1]] = found[1]
        assert self._plain(found) == self._plain(expected)
        return expected[1]

    def _ask(self, store: Any, method: str, arguments: Any, options: Any) -> tuple[str, Any]:
        try:
            return "answer", self.loop.run_until_complete(
                getattr(store, method)(*arguments, **options)
            )
        except SillError as error:
            return "error", type(error).__name__

    def _translate(self, value: Any) -> Any:
        """Memory's ids as SQLite's, also inside epochs."""
        if isinstance(value, str):
            return self.ids.get(value, value)
        if is_dataclass(value) and isinstance(epoch := getattr(value, "epoch", None), Epoch):
            return replace(value, epoch=replace(epoch, first=self.ids.get(epoch.first)))
        return value

    def _plain(self, value: Any) -> Any:
        match value:
            case str():
                return self.names.get(value, value)
            case Epoch():
                return value.number, self._plain(value.first)
            case tuple() | list():
                return [self._plain(item) for item in value]
            case dict():
                return {self._plain(key): self._plain(item) for key, item in value.items()}
            case _ if is_dataclass(value):
                return {
                    field.name: self._plain(getattr(value, field.name))
                    for field in fields(value)
                    if field.name not in TIMES
                }
            case _:
                return value

    chats = Bundle("chats")
    open_turns = Bundle("open_turns")
    turns = Bundle("turns")

    @rule(target=chats, title=texts)
    def new_chat(self, title: str) -> str:
        return self.both("new_chat", "w", " ".join(title.split()))

    @rule(
        target=open_turns,
        chat=chats,
        asked=texts,
        known=turns | st.none(),
        number=st.integers(0, 3),
    )
    def begin(self, chat: str, asked: str, known: str | None, number: int) -> Any:
        begun = replace(opening(asked, epoch=Epoch(number, known)), request=body(asked, LONG))
        turn = self.both("begin", chat, begun)
        return multiple() if turn == "TurnInProgress" or turn == "UsageError" else turn

    @rule(turn=open_turns, text=texts)
    def record(self, turn: str, text: str) -> None:
        self.both("record_request", turn, CERTIFICATE, body(text, text))

    @rule(turn=open_turns, brought=st.lists(st.sampled_from(["a", "b"]), max_size=3))
    def record_rounds(self, turn: str, brought: list[str]) -> None:
        rounds = [tool_round(number, text) for number, text in enumerate(brought)]
        so_far = SoFar(tuple(message for one in rounds for message in one))
        self.both("record_request", turn, CERTIFICATE, body(*brought), so_far)
        self.both("turn", turn)

    @rule(turn=open_turns, times=st.integers(5, 20))
    def checkpoint(self, turn: str, times: int) -> None:
        self.both("checkpoint", turn, LONG * times)

    @rule(
        target=turns,
        turn=consumes(open_turns),
        said=texts,
        status=st.sampled_from(["complete", "complete", "partial", "cancelled", "failed"]),
    )
    def finish(self, turn: str, said: str, status: str) -> str:
        done = replace(closing(said, status), messages=(Message("assistant", said),))
        self.both("finish", turn, done)
        return turn

    @rule(turn=consumes(open_turns))
    def discard(self, turn: str) -> None:
        self.both("discard", turn)

    @rule(turn=turns)
    def keep(self, turn: str) -> None:
        self.both("keep", turn)

    @rule(chat=chats, turn=turns | st.none())
    def branch(self, chat: str, turn: str | None) -> None:
        self.both("branch", chat, turn)

    @rule(chat=chats, pinned=st.booleans(), archived=st.booleans())
    def change(self, chat: str, pinned: bool, archived: bool) -> None:
        self.both("change_chat", chat, pinned=pinned, archived=archived)

    @rule(chat=chats)
    def delete(self, chat: str) -> None:
        self.both("delete_chat", chat)

    @rule()
    def reopen(self) -> None:
        """A new process, if nothing is in flight."""
        if not any(t.status == "open" for t in self.memory._turns.values()):
            self.loop.run_until_complete(self.sqlite.close())
            self.sqlite = self.loop.run_until_complete(open_store(self.path))

    @rule(chat=chats)
    def look(self, chat: str) -> None:
        self.both("history", chat)
        self.both("turns", chat)
        self.both("turns", chat, limit=2)
        self.both("chat", chat)
        self.both("copy_chat", chat)

    @rule(turn=turns | open_turns)
    def look_at_turn(self, turn: str) -> None:
        self.both("turn", turn)
        self.both("requests", turn)
        self.both("history_at", turn)

    @rule(word=st.sampled_from(["hello", "harbour", '"long enough to be"', "nowhere"]))
    def search(self, word: str) -> None:
        def found(store: Any) -> set[Any]:
            hits = self.loop.run_until_complete(store.search(word, limit=1000))
            return {self._plain(hit.turn) for hit in hits}

        assert found(self.sqlite) == found(self.memory)

    def teardown(self) -> None:
        for chat in list(self.memory._chats):
            self.look(chat)
        self.loop.run_until_complete(self.sqlite.close())
        self.loop.close()
        self.folder.cleanup()


BothStores.TestCase.settings = settings(max_examples=25, stateful_step_count=40, deadline=None)
TestBothStores = BothStores.TestCase
