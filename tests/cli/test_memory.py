"""``sill memory`` as a user types it, and documents that come to be remembered by themselves."""

import asyncio
import json

import pytest

from sill.engine.prepare import Question
from tests.engine.workspace import Workspace, endpoint, says
from tests.models.fault_provider import FaultProvider


@pytest.fixture
def memory(home):
    """Runs `sill memory`; exit code, output, errors."""

    def run(*arguments: str) -> tuple[int, str, str]:
        done = home.sill("memory", *arguments)
        return done.returncode, done.stdout, done.stderr

    return run


def test_facts_are_added_found_changed_and_forgotten(memory):
    code, shown, _ = memory("add", "the oven", "needs four hours", "--json")
    oven = json.loads(shown)
    memory("add", "Ann likes figs")
    again = json.loads(memory("add", "Ann likes figs", "--json")[1])
    changed = memory("edit", oven["id"][:8], "the oven needs five hours")
    found = memory("search", "ovens")
    listed = [fact["text"] for fact in json.loads(memory("list", "--json")[1])["facts"]]
    gone = memory("forget", again["id"])

    assert (code, oven["text"], oven["turn"], oven["document"]) == (
        0,
        "the oven needs four hours",
        None,
        None,
    )
    assert changed[1] == f"changed {oven['id'][:8]}  the oven needs five hours\n"
    assert found[:2] == (0, f"{oven['id'][:8]}  the oven needs five hours\n")
    assert listed == ["the oven needs five hours", "Ann likes figs"]
    assert gone[1] == f"forgotten {again['id'][:8]}  Ann likes figs\n"
    assert memory("search", "figs") == (1, "", "")
    assert memory("clear")[0] == 2
    assert memory("clear", "--yes")[:2] == (0, "forgotten: 1\n")
    assert memory("list") == (0, "", "")


@pytest.mark.parametrize(
    "arguments, reason",
    [
        pytest.param(("forget", "zz"), "no fact begins with 'zz'", id="no such fact"),
        pytest.param(("add", " "), "there is nothing to remember", id="nothing"),
        pytest.param(("add", "x" * 2001), "a fact may have 2,000 characters", id="too long"),
    ],
)
def test_what_cannot_be_done_is_told(memory, arguments, reason):
    code, _, told = memory(*arguments)

    assert (code, reason in told) == (2, True)


def test_a_document_that_chats_use_often_is_noted_once_and_for_good(tmp_path, monkeypatch):
    for name in ("XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_DATA_HOME", "HOME"):
        monkeypatch.setenv(name, str(tmp_path / "home"))
    workspace = Workspace(tmp_path)
    (tmp_path / "Oven.md").write_text("# Oven\n\nFire it for four hours.\n")

    async def use(app, times: int) -> None:
        chat = None
        for _ in range(times):
            question = (await app.gather("What says [[Oven]]?", [])).question
            async for event in app.ask(chat, question):
                chat = getattr(event, "chat", chat)

    async def run(provider):
        shown = []
        async with workspace.open(endpoint(provider), SILL_EMBEDDER="none") as app:
            await use(app, 4)
            shown.append(await app.store.notes(str(tmp_path)))
            await use(app, 1)
            (note,) = await app.store.notes(str(tmp_path))
            shown.append([note])
            await app.store.forget_note(note.id)
        async with workspace.open(endpoint(provider), SILL_EMBEDDER="none") as app:
            await use(app, 3)
            shown.append(await app.store.notes(str(tmp_path)))
            async for _ in app.ask(None, Question("Hello")):
                pass
        return [[(one.text, one.document) for one in notes] for notes in shown]

    with FaultProvider(says("It says four hours.")) as provider:
        assert asyncio.run(run(provider)) == [
            [],
            [("Oven.md is used often: Fire it for four hours.", "Oven.md")],
            [],
        ]


def test_in_the_chat_facts_are_kept_with_their_turn_and_come_along(home):
    typed = (
        "When does the oven cool?\n:remember The oven needs four hours to heat\n:memory\n:memory search ovens\n"
        ":new\nHow long does the oven heat?\n:context\n:memory clear\n:memory\n"
    )
    with FaultProvider(says("Later.")) as provider:
        done = home.sill(
            "chat",
            stdin=typed,
            OPENAI_BASE_URL=f"{provider.url}/v1",
            SILL_MODEL="m",
            SILL_PROBE="false",
            SILL_TOKENIZER="o200k_base",
            SILL_WINDOW="16384",
            SILL_EMBEDDER="none",
        )
        bodies = [json.loads(seen.body) for seen in provider.seen]

    assert done.returncode == 0
    assert done.stdout.count("  The oven needs four hours to heat\n") == 2
    assert "1 remembered fact" in done.stdout
    assert done.stdout.rstrip().endswith("nothing is remembered; `:remember TEXT` does")
    asked = [body["messages"][-1]["content"] for body in bodies]
    assert ["The oven needs four hours to heat" in text for text in asked] == [False, True]
