"""Sixty tools of a real MCP server in a window of 8k, with llama.cpp's own server behind them."""

import asyncio
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from sill.app import open_app
from sill.engine.events import Finished, Notice, Started
from sill.engine.prepare import Question
from sill.settings import load
from tests import engine

from .test_client import entry

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def endpoint(tiny_weights: Path) -> Iterator[str]:
    program = Path(engine.__file__).with_name("tool_server.py")
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


def test_schemas_stay_within_their_share_and_those_left_out_are_named(
    endpoint, tmp_path, monkeypatch
):
    for name in ("XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_DATA_HOME", "HOME"):
        monkeypatch.setenv(name, str(tmp_path / "home"))
    (tmp_path / "user.toml").write_text(entry("tickets", 60))
    settings = load(
        user_file=tmp_path / "user.toml",
        project_file=None,
        environment={
            "OPENAI_BASE_URL": endpoint,
            "SILL_DATABASE_URL": str(tmp_path / "sill.db"),
            "SILL_EMBEDDER": "none",
            "LLM_CHAT_REPLY": "16",
        },
    )

    async def run():
        async with open_app(settings, tmp_path, lambda _: None) as app:
            asked = (
                "Which printer is out of order?",
                "Is the parcel on its way?",
                "What is for lunch?",
            )
            turns, chat = [], None
            for text in asked:
                turns.append([event async for event in app.ask(chat, Question(text))])
                chat = turns[-1][-1].chat
            assert app.chat.toolkit is not None
            every = [tool.name for tool in await app.chat.toolkit.box.tools()]
            requests = [await app.store.requests(events[-1].turn) for events in turns]
            return turns, every, requests, app.chat.call.budget

    turns, every, requests, budget = asyncio.run(run())

    assert len([name for name in every if name.rsplit("_")[-1].isdecimal()]) == 60
    offered = []
    for events, sent in zip(turns, requests, strict=True):
        started = next(e for e in events if isinstance(e, Started))
        used = {i.fate: i for i in started.plan.items if i.kind == "tools"}
        names = [tool["function"]["name"] for tool in json.loads(sent[0].request)["tools"]]
        offered.append(names)
        left_out = used["omitted"].reason.partition(": ")[2].split(", ")

        assert used["kept"].tokens <= budget.tools
        assert sorted([*names, *left_out]) == sorted(every)
        finished = events[-1]
        assert isinstance(finished, Finished)
        # The server itself has counted what it was sent, schemas and all.
        assert finished.certificate.actual == finished.certificate.predicted <= budget.room
    assert {"read_document", "find_excerpts"} < set(offered[0])
    assert any(name.startswith("printer_") for name in offered[0])
    assert offered[1] == offered[2] == offered[0]  # the same set for the whole epoch
    told = [[e.text for e in events if isinstance(e, Notice)] for events in turns]
    assert len([text for text in told[0] if "customer_1" in text]) == 1
    assert told[1:] == [[], []]
