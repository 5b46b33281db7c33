"""Tool rounds with llama.cpp's own server behind them: it renders, counts and reads every request.

The weights know no words, so what the model asks for is scripted; everything else is real.
"""

import asyncio
import json
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from sill.app import App, open_app
from sill.core.messages import ToolCall
from sill.core.request import ChatRequest
from sill.engine.events import Finished, ToolUsed
from sill.engine.prepare import Question
from sill.ports import Ended, Model, ModelEvent
from sill.settings import load

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def endpoint(tiny_weights: Path) -> Iterator[str]:
    program = Path(__file__).with_name("tool_server.py")
    with subprocess.Popen(
        [sys.executable, str(program), str(tiny_weights), "8192"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    ) as server:
        assert server.stdout is not None
        yield server.stdout.readline().strip()
        server.kill()


class Reader:
    """Sends every request to the real model, and asks for the next three files whatever that says."""

    def __init__(self, model: Model, files: list[str]) -> None:
        self._model, self._files = model, files
        self.sent: list[ChatRequest] = []
        self.ends: list[Ended] = []

    @property
    def name(self) -> str:
        return self._model.name

    @property
    def endpoint(self) -> str:
        return self._model.endpoint

    async def stream(self, request: ChatRequest) -> AsyncIterator[ModelEvent]:
        self.sent.append(request)
        async for event in self._model.stream(replace(request, max_tokens=1)):
            if isinstance(event, Ended):
                self.ends.append(event)
        following, self._files = self._files[:3], self._files[3:]
        calls = tuple(
            ToolCall(f"call-{name}", "read_document", json.dumps({"path": name}))
            for name in following
            if request.tool_choice != "none"
        )
        yield Ended("complete", "tool_calls" if calls else "stop", self.ends[-1].usage, calls)


@pytest.mark.parametrize(
    "window, most", [pytest.param(8192, 1, id="8k"), pytest.param(2048, 10, id="2k")]
)
def test_thirty_files_are_read_through_tools(endpoint, tmp_path, monkeypatch, window, most):
    for name in ("XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_DATA_HOME", "HOME"):
        monkeypatch.setenv(name, str(tmp_path / "home"))
    folder = tmp_path / "vault"
    folder.mkdir()
    names = [f"note {number}.md" for number in range(30)]
    for name in names:
        body = "\n".join(f"Line {n} of {name} tells what grows in bed {n}." for n in range(8))
        (folder / name).write_text(f"# {name}\n\n{body}\n")
    settings = load(
        user_file=tmp_path / "none",
        project_file=None,
        environment={
            "OPENAI_BASE_URL": endpoint,
            "SILL_DATABASE_URL": str(tmp_path / "sill.db"),
            "SILL_EMBEDDER": "none",
            "LLM_CHAT_WINDOW": str(window),
            "LLM_CHAT_REPLY": "256",
        },
    )

    async def run() -> tuple[Reader, list, list, App]:
        async with open_app(settings, folder, lambda _: None) as app:
            app.chat.model = reader = Reader(app.chat.model, names)
            app.chat.till = None
            events = [e async for e in app.ask(None, Question("What grows in every bed?"))]
            recorded = await app.store.requests(events[-1].turn)
            return reader, events, recorded, app

    reader, events, recorded, app = asyncio.run(run())

    *_, finished = events
    assert isinstance(finished, Finished)
    assert finished.outcome == "complete"
    predicted = [one.certificate.predicted for one in recorded]
    assert predicted == [end.usage.prompt for end in reader.ends]
    assert max(predicted) <= app.chat.call.budget.room
    pairs = zip(reader.sent, reader.sent[1:], strict=False)
    compactions = sum(b.messages[: len(a.messages)] != a.messages for a, b in pairs)
    assert compactions <= most
    outcomes = [event.outcome for event in events if isinstance(event, ToolUsed)]
    assert outcomes[:3] == ["done"] * 3
    if window == 8192:
        assert outcomes == ["done"] * 30
