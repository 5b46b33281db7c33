"""A fallback that cannot even be opened is passed over, and the one after it answers; whatever is asked for."""

import asyncio
import json
from contextlib import AsyncExitStack

import pytest

from sill.app.complete import open_writer
from sill.app.edits import editor_for
from sill.core.edits import Scope
from sill.engine.complete import Spot
from sill.engine.edit import Wish
from sill.engine.events import Notice
from tests.models.fault_provider import FaultProvider, Reset

from .workspace import ask, endpoint, fallback, says

WISH = Wish("Shorten it.", Scope({"a.md": "one two\n"}, "a.md"))
NOTHING = json.dumps({"assistant_message": "It is short.", "ops": []})
ANSWERS = {"chat": "Hello.", "chat_ops": NOTHING, "completion": "3", "edit": "3"}


async def chatted(app, settings, stack):
    events = await ask(app, "hi")
    told = tuple(event.text for event in events if isinstance(event, Notice))
    return events[-1].outcome, told


async def edited(app, settings, stack):
    reply = await editor_for(app, settings).ask(None, WISH)
    return reply.outcome, reply.notices


async def completed(app, settings, stack):
    found = await open_writer(app, settings, "completion", stack).complete(Spot("a.md", "1 2 ", ""))
    return found.outcome, found.notices


async def suggested(app, settings, stack):
    spot = Spot("a.md", "one ", "", selection="three")
    found = await open_writer(app, settings, "edit", stack).suggest("Shorter.", spot)
    return found.outcome, found.notices


def run(workspace, profile, act, toml):
    async def opened():
        async with (
            workspace.open(toml, profile=profile) as app,
            AsyncExitStack() as stack,
        ):
            return await act(app, workspace.settings, stack)

    return asyncio.run(opened())


def with_weights_missing(workspace, first: FaultProvider, profile: str, last: str = "") -> str:
    missing = f'local_model = "{workspace.folder / "none.gguf"}"\n'
    middle = f'[[profile.{profile}.fallback]]\nbase_url = "local"\n'
    return missing + endpoint(first) + middle + last


@pytest.mark.parametrize(
    "profile, act, good",
    [
        pytest.param("chat", chatted, "complete", id="a chat"),
        pytest.param("chat_ops", edited, "nothing", id="an edit"),
        pytest.param("completion", completed, "complete", id="a completion"),
        pytest.param("edit", suggested, "complete", id="a suggestion"),
    ],
)
def test_the_one_after_it_answers(workspace, profile, act, good):
    with FaultProvider([Reset()]) as first, FaultProvider(says(ANSWERS[profile])) as third:
        last = fallback(f"{third.url}/v1", "third").replace("profile.chat.", f"profile.{profile}.")
        toml = with_weights_missing(workspace, first, profile, last)
        outcome, told = run(workspace, profile, act, toml)

        assert outcome == good
        assert [text for text in told if "none.gguf" in text] != []
        assert told[-1] == f"third at {third.url}/v1 is asked instead"
        assert len(third.seen) == 1


@pytest.mark.parametrize(
    "profile, act, bad",
    [
        pytest.param("chat", chatted, "failed", id="a chat"),
        pytest.param("chat_ops", edited, "upstream_error", id="an edit"),
        pytest.param("completion", completed, "upstream_error", id="a completion"),
    ],
)
def test_where_nobody_is_left_the_first_failure_is_the_answer(workspace, profile, act, bad):
    with FaultProvider([Reset()]) as first:
        outcome, told = run(
            workspace, profile, act, with_weights_missing(workspace, first, profile)
        )

        assert outcome == bad
        assert [text for text in told if "none.gguf" in text] != []
