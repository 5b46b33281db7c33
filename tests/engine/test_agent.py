"""An agent at work in a whole application over a scripted endpoint."""

import asyncio
import json

import pytest

from sill.app.agent import Agent, Errand, begin, take_up
from sill.core.agent import Go, Halt, Limits
from sill.core.cost import DOLLAR
from sill.engine.events import Delta
from sill.errors import UsageError
from tests.models.fault_provider import FaultProvider, Hang, head, said

from .test_rounds_app import PRICED, calls
from .workspace import endpoint, says

EDIT = (
    "propose_edit",
    {
        "explanation": "number",
        "edits": [{"path": "note.md", "find": "number 14", "replace": "number 15"}],
    },
)
USUAL = Limits()
WORK = (
    calls("read_document", {"path": "note.md"}),
    says("It says 14.\nNEXT: propose 15", prompt=600),
    calls(*EDIT),
    says("Proposed.\nDONE: the plot is number 15 now", prompt=700),
    calls("read_document", {"path": "note.md", "start_line": 2}),
    says("It fits.\nDONE: the plot is number 15 now", prompt=800),
)


@pytest.fixture
def note(workspace):
    file = workspace.folder / "note.md"
    file.write_text("# Note\n\nThe plot has number 14.\n")
    return file


async def work(agent: Agent) -> Halt:
    while isinstance(order := agent.following(), Go):
        async for _ in agent.step(order):
            pass
    return order


def run(workspace, replies, task, settings="tools = true\n", limits=USUAL):
    async def script(provider):
        async with workspace.open(
            endpoint(provider) + settings,
            SILL_EMBEDDER="none",
            SILL_WINDOW="16384",
            LLM_CHAT_REPLY="10",
        ) as app:
            agent = await begin(app, Errand(task, limits))
            halt = await work(agent)
            chats = await app.store.chats()
            return halt, agent, await agent.proposals(), chats, await app.store.attempts()

    with FaultProvider(*replies) as provider:
        return (*asyncio.run(script(provider)), [json.loads(s.body) for s in provider.seen])


def test_it_acts_checks_and_leaves_proposals(workspace, note):
    halt, agent, proposals, [chat], _, bodies = run(
        workspace, WORK, "The plot has number 15: put the note right"
    )

    assert halt == Halt("done", "the plot is number 15 now")
    assert [(s.proposed, len(s.calls), s.outcome) for s in agent.steps] == [
        (0, 1, "complete"),
        (1, 1, "complete"),
        (0, 1, "complete"),
    ]
    assert [(one.status, one.chat) for one in proposals] == [("open", agent.chat)]
    assert note.read_text() == "# Note\n\nThe plot has number 14.\n"
    assert (chat.title, chat.turns) == ("The plot has number 15: put the note right", 3)
    questions = [m["content"] for m in bodies[-1]["messages"] if m["role"] == "user"]
    assert [text.split("\n")[0] for text in questions] == [
        f"[agent step {n} of 12]" for n in (1, 2, 3)
    ]
    assert questions[2].split("\n")[1].startswith("Check what you did against the task: The plot")


def test_the_limit_of_money_holds_before_it_is_crossed(workspace, note):
    halt, agent, _, _, attempts, bodies = run(
        workspace, WORK, "task", "tools = true\n" + PRICED, Limits(12, 2_500.0)
    )

    spent = sum(row.settlement.cost for row in attempts)
    assert halt.why == "money"
    assert spent <= 2_500 * DOLLAR
    assert len(bodies) < len(WORK)
    assert agent.cost == spent


def test_an_endpoint_that_fails_ends_it_and_it_can_be_taken_up(workspace, note):
    async def script(provider, other):
        async with workspace.open(
            endpoint(provider) + "tools = true\n", SILL_EMBEDDER="none", SILL_WINDOW="16384"
        ) as app:
            agent = await begin(app, Errand("task"))
            stop, heard = asyncio.Event(), ""
            order = agent.following()
            async for event in agent.step(order, stop):
                heard += event.text if isinstance(event, Delta) else ""
                if heard == "I begin":
                    stop.set()
            first = agent.following()
        async with workspace.open(
            endpoint(other) + "tools = true\n", SILL_EMBEDDER="none", SILL_WINDOW="16384"
        ) as app:
            again = await take_up(app)
            order = again.following()
            return first, agent, again, order, await work(again), await app.store.chats()

    with (
        FaultProvider([head(), said("I begin"), Hang()]) as provider,
        FaultProvider(says("So it is.\nDONE: all of it")) as other,
    ):
        first, agent, again, order, halt, chats = asyncio.run(script(provider, other))
        body = json.loads(other.seen[0].body)

    assert first.why == "interrupted"
    assert (again.chat, again.errand.task, again.errand.limits) == (agent.chat, "task", Limits())
    assert (order.number, "was interrupted" in order.text) == (1, True)
    assert [m["content"] for m in body["messages"] if m["role"] == "assistant"] == ["I begin"]
    assert (halt, len(chats)) == (Halt("done", "all of it"), 1)


def test_without_tools_there_is_no_agent(workspace):
    with pytest.raises(UsageError, match="offered no tools"):
        run(workspace, [says("x")], "task", "tools = false\n")


def test_there_may_be_nothing_to_take_up(workspace):
    async def script(provider):
        async with workspace.open(endpoint(provider) + "tools = true\n") as app:
            await take_up(app)

    with (
        FaultProvider(says("x")) as provider,
        pytest.raises(UsageError, match="no run of an agent"),
    ):
        asyncio.run(script(provider))
