"""Edits, completions and suggestions through the whole application, with a real server behind it."""

import asyncio
from contextlib import AsyncExitStack
from dataclasses import replace
from pathlib import Path

import pytest

from sill.adapters.local.supervise import LocalServer
from sill.app import open_app
from sill.app.complete import open_writer
from sill.app.edits import editor_for
from sill.core.constrain import Limits, grammar
from sill.core.edits import Scope
from sill.core.ops import Span
from sill.core.request import ChatRequest, JsonFormat
from sill.engine.complete import Said, Spot
from sill.engine.edit import Shape, Way, Wish
from sill.settings import Settings, load

BRIEF = Limits(message=12, anchor=8, content=12, line=8, lines=2, ops=1)
SCOPE = Scope(
    {'odd "name" é.md': "# Plan\n\nBuy milk.\n", "new.md": None},
    active='odd "name" é.md',
    selection=Span(8, 17),
    cursor=0,
)
WISHES = [
    "Make the title shorter.",
    "Add a line about bread.",
    "Delete the file.",
    "Write a poem into new.md.",
    "Fix the spelling of the selection.",
]
# A model that knows nothing names text that is not there; that is no fault of the reply's shape.
WELL_FORMED = {
    "text not found", "text not unique", "edits overlap", "no such document", "patch unreadable",
    "patch does not fit", "patch fits in several places", "patch for another file",
}  # fmt: skip


@pytest.fixture(
    scope="session",
    params=["tiny_server", pytest.param("smol_server", marks=pytest.mark.long)],
)
def server(request) -> LocalServer:
    return request.getfixturevalue(request.param)


@pytest.fixture
def home(tmp_path, monkeypatch) -> Path:
    for name in ("XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_DATA_HOME", "HOME"):
        monkeypatch.setenv(name, str(tmp_path / "home"))
    return tmp_path


def settings_for(server: LocalServer, home: Path) -> Settings:
    environment = {
        "OPENAI_BASE_URL": server.base_url,
        "OPENAI_API_KEY": server.api_key,
        "SILL_DATABASE_URL": str(home / "sill.db"),
        "LLM_CHAT_OPS_TEMPERATURE": "1",
        "LLM_EDIT_REPLY": "8",
        "LLM_COMPLETION_REPLY": "8",
    }
    return load(user_file=home / "none", project_file=None, environment=environment)


def busy(shape: Shape) -> Shape:
    """By grammar instead of schema, and no reply without an operation."""

    def shaped(request: ChatRequest, wanted: JsonFormat, way: Way, _: str) -> ChatRequest:
        ops = {**wanted.schema["properties"]["ops"], "minItems": 1}
        properties = {**wanted.schema["properties"], "ops": ops}
        stricter = JsonFormat(wanted.name, {**wanted.schema, "properties": properties})
        return shape.shaped(request, stricter, way, grammar(dict(stricter.schema)))

    return replace(shape, way=lambda: "grammar", shaped=shaped)


@pytest.mark.slow
def test_thirty_constrained_requests_give_thirty_valid_replies(server, home):
    settings = settings_for(server, home)

    async def run() -> list[tuple[str, set[str], int | None]]:
        seen = []
        async with open_app(settings, home, print, profile="chat_ops") as app:
            editor = editor_for(app, settings).editor_at(0)
            editor.limits, editor.repairs = BRIEF, 0
            anything = editor.shape
            for number in range(30):
                # A model that knows nothing likes the empty list best: every other time it must do something.
                editor.shape = busy(anything) if number % 2 else anything
                reply = await editor.ask(None, Wish(WISHES[number % len(WISHES)], SCOPE))
                assert reply.certificate is not None and reply.rounds == 1
                reasons = {problem.reason for problem in reply.problems}
                seen.append((reply.outcome, reasons - WELL_FORMED, reply.certificate.drift))
        return seen

    seen = asyncio.run(run())

    assert len(seen) == 30
    assert sum(outcome != "nothing" for outcome, _, _ in seen) > 10
    assert {outcome for outcome, _, _ in seen} <= {"proposed", "nothing", "invalid"}
    assert [(wrong, drift) for _, wrong, drift in seen] == [(set(), 0)] * 30


@pytest.mark.slow
def test_completions_and_suggestions_are_counted_exactly(tiny_server, home):
    settings = settings_for(tiny_server, home)
    spot = Spot("code/plan.py", "def plan():\n    return [\n", "\n]\n", "'milk'")

    async def run():
        async with (
            AsyncExitStack() as stack,
            open_app(settings, home, print, profile="completion") as completing,
            open_app(settings, home, print, profile="edit") as editing,
        ):
            writer = open_writer(completing, settings, "completion", stack)
            first = await writer.complete(spot)
            editor = open_writer(editing, settings, "edit", stack)
            second = await editor.suggest("Add bread.", spot, [Said("user", "I shop on Monday.")])
            rows = [row.attempt.category for row in await completing.store.attempts()]
            return first, second, rows

    completed, suggested, categories = asyncio.run(run())

    assert completed.outcome in ("complete", "nothing")
    assert suggested.outcome in ("complete", "nothing", "truncated")
    drifts = [one.certificate.drift for one in (completed, suggested) if one.certificate]
    assert drifts and set(drifts) == {0}
    assert {"completion", "edit"} <= set(categories)
