"""Edits, completions and suggestions through the whole application, with a real server behind it."""

import asyncio
from contextlib import AsyncExitStack

import pytest

from sill.app import open_app
from sill.app.complete import open_writer
from sill.app.edits import editor_for
from sill.core.constrain import Limits
from sill.core.edits import Scope
from sill.core.ops import Span
from sill.engine.complete import Said, Spot
from sill.engine.edit import Wish
from sill.settings import Settings, load

BRIEF = Limits(message=20, anchor=12, content=24, line=16, lines=2, ops=1)
SCOPE = Scope(
    {"notes/plan.md": "# Plan\n\nBuy milk.\n", 'odd "name" é.md': "x\n", "new.md": None},
    active="notes/plan.md",
    selection=Span(8, 17),
    cursor=0,
)
WISHES = [
    "Make the title shorter.",
    "Add a line about bread.",
    "Delete the second file.",
    "Write a poem into new.md.",
    "Fix the spelling of the selection.",
]
# A model that knows nothing names text that is not there; that is no fault of the reply's shape.
WELL_FORMED = {
    "text not found", "text not unique", "edits overlap", "no such document", "patch unreadable",
    "patch does not fit", "patch fits in several places", "patch for another file",
}  # fmt: skip


@pytest.fixture
def settings(tmp_path, monkeypatch, tiny_server) -> Settings:
    for name in ("XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_DATA_HOME", "HOME"):
        monkeypatch.setenv(name, str(tmp_path / "home"))
    environment = {
        "OPENAI_BASE_URL": tiny_server.base_url,
        "OPENAI_API_KEY": tiny_server.api_key,
        "SILL_DATABASE_URL": str(tmp_path / "sill.db"),
        "LLM_CHAT_OPS_TEMPERATURE": "1",
        "LLM_EDIT_REPLY": "8",
        "LLM_COMPLETION_REPLY": "8",
    }
    return load(user_file=tmp_path / "none", project_file=None, environment=environment)


@pytest.mark.slow
def test_thirty_constrained_requests_give_thirty_valid_replies(settings, tmp_path):
    async def run() -> list[tuple[str, set[str], int | None]]:
        seen = []
        async with open_app(settings, tmp_path, print, profile="chat_ops") as app:
            editor = editor_for(app, settings)
            editor.limits, editor.repairs = BRIEF, 0
            for number in range(30):
                reply = await editor.ask(None, Wish(WISHES[number % len(WISHES)], SCOPE))
                assert reply.certificate is not None and reply.rounds == 1
                reasons = {problem.reason for problem in reply.problems}
                seen.append((reply.outcome, reasons - WELL_FORMED, reply.certificate.drift))
        return seen

    seen = asyncio.run(run())

    assert len(seen) == 30
    assert {outcome for outcome, _, _ in seen} <= {"proposed", "nothing", "invalid"}
    assert [(wrong, drift) for _, wrong, drift in seen] == [(set(), 0)] * 30


@pytest.mark.slow
def test_completions_and_suggestions_are_counted_exactly(settings, tmp_path):
    spot = Spot("code/plan.py", "def plan():\n    return [\n", "\n]\n", "'milk'")

    async def run():
        async with (
            AsyncExitStack() as stack,
            open_app(settings, tmp_path, print, profile="completion") as completing,
            open_app(settings, tmp_path, print, profile="edit") as editing,
        ):
            writer = await open_writer(completing, settings, "completion", stack)
            first = await writer.complete(spot)
            editor = await open_writer(editing, settings, "edit", stack)
            second = await editor.suggest("Add bread.", spot, [Said("user", "I shop on Monday.")])
            rows = [row.attempt.category for row in await completing.store.attempts()]
            return first, second, rows

    completed, suggested, categories = asyncio.run(run())

    assert completed.outcome in ("complete", "nothing")
    assert suggested.outcome in ("complete", "nothing", "truncated")
    drifts = [one.certificate.drift for one in (completed, suggested) if one.certificate]
    assert drifts and set(drifts) == {0}
    assert {"completion", "edit"} <= set(categories)
