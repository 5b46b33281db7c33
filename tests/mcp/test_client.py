"""Tools of real MCP servers: started, called, cut, and done without when they fail."""

import asyncio
import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from sill.adapters.mcp.box import McpTools
from sill.adapters.mcp.client import Access, McpServer
from sill.app.servers import access_of
from sill.engine.events import Finished, Notice, ToolUsed
from sill.ports import Caller
from sill.settings import load
from tests.engine.test_rounds_app import calls
from tests.engine.workspace import Workspace, ask, endpoint, says
from tests.models.fault_provider import FaultProvider

pytestmark = pytest.mark.slow

PROGRAM = str(Path(__file__).with_name("tickets.py"))
AT = Caller("chat", "turn")


@pytest.fixture
def workspace(tmp_path, monkeypatch) -> Workspace:
    for name in ("XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_DATA_HOME", "HOME"):
        monkeypatch.setenv(name, str(tmp_path / "home"))
    return Workspace(tmp_path)


def tickets(count: int = 2, **more) -> Access:
    return Access("tickets", sys.executable, (PROGRAM, "stdio", str(count)), timeout=60, **more)


@contextmanager
def over_http() -> Iterator[Access]:
    command = [sys.executable, PROGRAM, "http", "2"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        try:
            assert server.stdout is not None
            port = int(server.stdout.readline())
            yield Access("tickets", url=f"http://127.0.0.1:{port}/mcp", timeout=60)
        finally:
            server.kill()


async def used(access: Access, *wanted: tuple[str, dict]) -> tuple[list[str], list[tuple]]:
    box = McpTools([McpServer(access)], {"read_document"})
    try:
        names = [tool.name for tool in await box.tools()]
        found = [await box.call(name, given, AT) for name, given in wanted]
        return names, [(one.text, one.is_error) for one in found]
    finally:
        await box.close()


def test_tools_are_listed_and_called_over_standard_input_and_output():
    names, found = asyncio.run(
        used(
            tickets(),
            ("invoice_0", {"reference": "R1"}),
            ("tickets_read_document", {"path": "x"}),
            ("break_down", {}),
            ("nobody", {}),
        )
    )

    assert names[:3] == ["invoice_0", "customer_1", "tickets_read_document"]
    assert found == [
        ("0: R1", False),
        ("ticket x", False),
        ("Error executing tool break_down", True),
        ("there is no tool 'nobody'", True),
    ]


def test_tools_are_listed_and_called_over_http():
    with over_http() as access:
        names, found = asyncio.run(used(access, ("invoice_0", {"reference": "R1"})))

    assert names[:3] == ["invoice_0", "customer_1", "tickets_read_document"]
    assert found == [("0: R1", False)]


@pytest.mark.bare
def test_a_server_gets_no_variable_that_its_entry_does_not_name(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-1")
    monkeypatch.setenv("TICKETS", "t-1")
    given = {
        "command": sys.executable,
        "args.1": PROGRAM,
        "args.2": "stdio",
        "args.3": "0",
        "env.TICKETS_TOKEN": "Bearer ${TICKETS}",
        "tools.1": "variables",
        "tools.2": "secret",
        "timeout": 60.0,
    }
    access = access_of("tickets", given, Path(), {"TICKETS": "t-1", "OPENAI_API_KEY": "sk-1"})

    names, [(variables, _), secret] = asyncio.run(used(access, ("variables", {}), ("secret", {})))

    assert names == ["variables", "secret"]
    assert secret == ("Bearer t-1", False)
    assert set(variables.split()) <= {
        "HOME", "LC_CTYPE", "LOGNAME", "PATH", "SHELL", "TERM", "TICKETS_TOKEN", "USER"
    }  # fmt: skip


def test_a_server_that_ends_is_started_again_with_the_next_question():
    async def run():
        box = McpTools([McpServer(tickets())], ())
        try:
            before = len(await box.tools())
            ended = [(await box.call(name, {}, AT)).text for name in ("end", "secret")]
            after = len(await box.tools())
            return before, ended, after, (await box.call("invoice_0", {"reference": "R"}, AT)).text
        finally:
            await box.close()

    before, ended, after, again = asyncio.run(run())

    assert ended == ["the server tickets has ended", "the server tickets is not running"]
    assert (after, again) == (before, "0: R")


def test_a_result_that_takes_too_long_is_an_error_and_the_server_goes_on():
    async def run():
        server = McpServer(tickets())
        try:
            await server.tools()
            server.access = Access(**{**_fields(server.access), "timeout": 0.2})
            late = await server.call("sleep", {"seconds": 30})
            server.access = Access(**{**_fields(server.access), "timeout": 60})
            return late.text, (await server.call("invoice_0", {"reference": "R1"})).text
        finally:
            await server.close()

    assert asyncio.run(run()) == ("sleep of tickets did not answer within 0.2 s", "0: R1")


def _fields(access: Access) -> dict:
    return {name: getattr(access, name) for name in access.__dataclass_fields__}


@pytest.mark.parametrize(
    "access, reason",
    [
        pytest.param(Access("x", "/no/such/program"), "No such file", id="no such program"),
        pytest.param(
            Access("x", sys.executable, ("-c", "import sys; sys.exit('no token')"), timeout=60),
            "it said: no token",
            id="ends at once",
        ),
        pytest.param(
            Access("x", sys.executable, ("-c", "import time; time.sleep(99)"), timeout=0.3),
            "did not answer within 0.3 s",
            id="says nothing",
        ),
        pytest.param(Access("x", url="http://127.0.0.1:9/mcp"), "connection", id="nobody there"),
        pytest.param(
            access_of("x", {"command": "x", "env.A": "${B}"}, Path(), {}),
            "the variable B is not set",
            id="a variable that is not set",
        ),
    ],
)
def test_a_server_that_fails_is_told_of_once(access, reason):
    async def run():
        box = McpTools([McpServer(access)], ())
        try:
            tools = [await box.tools(), await box.tools()]
            return tools, box.untold(), box.untold()
        finally:
            await box.close()

    tools, [told], again = asyncio.run(run())

    assert (tools, again) == ([[], []], [])
    assert told.startswith("the tools of x are not there: ")
    assert reason in told


# --- In a chat ------------------------------------------------------------------------------------


def entry(name: str, count: int, **more: str) -> str:
    args = json.dumps([PROGRAM, "stdio", str(count)])
    lines = [
        f"[mcpServers.{name}]",
        f'command = "{sys.executable}"',
        f"args = {args}",
        "timeout = 60",
    ]
    return "\n".join([*lines, *(f"{key} = {value}" for key, value in more.items())]) + "\n"


def test_a_chat_calls_them_and_goes_on_without_those_that_fail(workspace):
    settings = entry("tickets", 2) + '[mcpServers.broken]\ncommand = "/no/such/program"\n'

    async def run(provider):
        async with workspace.open(
            endpoint(provider) + settings, SILL_EMBEDDER="none", SILL_WINDOW="16384"
        ) as app:
            first = await ask(app, "How stands invoice R1?")
            return first, await ask(app, "And now?", first[-1].chat)

    replies = (calls("invoice_0", {"reference": "R1"}), says("It is paid."))
    with FaultProvider(*replies, says("Still paid.")) as provider:
        first, second = asyncio.run(run(provider))
        bodies = [json.loads(seen.body) for seen in provider.seen]

    notices = [e.text for e in first if isinstance(e, Notice)]
    assert [text for text in notices if "broken" in text] == [
        "the tools of broken are not there: [Errno 2] No such file or directory: '/no/such/program'"
    ]
    assert [(e.name, e.outcome) for e in first if isinstance(e, ToolUsed)] == [
        ("invoice_0", "done")
    ]
    assert bodies[1]["messages"][-1]["content"] == "0: R1"
    assert [e.text for e in second if isinstance(e, Notice)] == []
    assert [e[-1].outcome for e in (first, second)] == ["complete", "complete"]


def test_the_doctor_names_servers_that_do_not_work(tmp_path):
    from sill.cli.checks import Check, examine_servers

    file = tmp_path / "user.toml"
    off = '[mcpServers.off]\ncommand = "x"\nenabled = false\n'
    file.write_text(entry("tickets", 2) + '[mcpServers.broken]\ncommand = "/no/such"\n' + off)
    settings = load(user_file=file, project_file=None, environment={})

    found = asyncio.run(examine_servers(settings, tmp_path))

    wrong = "broken: [Errno 2] No such file or directory: '/no/such'"
    todo = "mend `mcpServers.broken`, or set its `enabled = false`"
    assert found == [
        Check("tools", "good", "tickets: 9 tools"),
        Check("tools", "bad", wrong, todo),
    ]


def test_a_long_result_is_cut_and_goes_on_without_another_call(workspace):
    async def run(provider):
        async with workspace.open(
            endpoint(provider) + entry("tickets", 0, tools='["long_list"]'),
            SILL_EMBEDDER="none",
            SILL_WINDOW="16384",
        ) as app:
            return await ask(app, "List all lines")

    replies = (
        calls("long_list", {"lines": 6000}),
        calls("long_list", {"lines": 6000, "start_line": 400}),
        says("Done."),
    )
    with FaultProvider(*replies) as provider:
        events = asyncio.run(run(provider))
        bodies = [json.loads(seen.body) for seen in provider.seen]

    results = [m["content"] for m in bodies[-1]["messages"] if m["role"] == "tool"]
    assert [e.outcome for e in events if isinstance(e, ToolUsed)] == ["cut", "cut"]
    assert "continue at line" in bodies[1]["messages"][-1]["content"]
    assert results[-1].startswith("line 400\n")
    assert isinstance(events[-1], Finished)
