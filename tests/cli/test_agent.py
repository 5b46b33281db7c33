"""``sill agent`` as a user types it, with a scripted provider behind it."""

import json
import os
import signal
import subprocess
import sys

import pytest

from tests.engine.test_agent import WORK
from tests.engine.test_rounds_app import calls
from tests.engine.workspace import says
from tests.models.fault_provider import FaultProvider, Hang, head, said

from .conftest import Home

NOTE = "# Note\n\nThe plot has number 14.\n"


@pytest.fixture
def agent(home: Home):
    """Runs `sill agent` against a provider in a folder with one note."""
    (home.folder / "note.md").write_text(NOTE)

    def run(provider: FaultProvider, *arguments: str, command: str = "agent", **more):
        return home.sill(command, *arguments, **more, **environment(provider))

    run.home = home
    return run


def environment(provider: FaultProvider) -> dict[str, str]:
    return {
        "OPENAI_BASE_URL": f"{provider.url}/v1",
        "SILL_MODEL": "m",
        "SILL_PROBE": "false",
        "SILL_TOKENIZER": "o200k_base",
        "SILL_WINDOW": "16384",
        "SILL_EMBEDDER": "none",
    }


def test_a_task_is_done_in_steps_and_nothing_is_written(agent):
    with FaultProvider(*WORK) as provider:
        done = agent(provider, "The plot has number 15: put the note right")
        decided = agent(provider, "-c", command="chat", stdin=":apply all\n")

    assert (done.returncode, done.stdout.split("\n")[0]) == (0, "the plot is number 15 now")
    assert "+The plot has number 15." in done.stdout
    lines = [line for line in done.stderr.split("\n") if "the server seems" not in line]
    assert [line for line in lines if line.startswith(("sill: ", "⚙ "))] == [
        "sill: step 1 of 12",
        "⚙ read_document path=note.md",
        "sill: step 2 of 12",
        '⚙ propose_edit explanation=number, edits=[{"path": "note.md", "find": "number 14", "replace": …',
        "sill: step 3 of 12, a check",
        "⚙ read_document path=note.md, start_line=2",
        "sill: done",
        "sill: nothing was written; `:apply` in `sill chat -c` asks for it",
    ]
    assert decided.returncode == 0
    assert (agent.home.folder / "note.md").read_text() == NOTE.replace("14", "15")


def test_the_report_has_every_step(agent):
    with FaultProvider(*WORK) as provider:
        done = agent(provider, "task", "--steps", "2", "--json")

    told = json.loads(done.stdout)
    assert (done.returncode, done.stderr) == (0, "")
    assert (told["outcome"], told["words"], told["task"]) == (
        "unchecked",
        "the plot is number 15 now",
        "task",
    )
    assert [(s["outcome"], s["proposals"], len(s["tools"])) for s in told["steps"]] == [
        ("complete", 0, 1),
        ("complete", 1, 1),
    ]
    assert [(p["explanation"], p["files"][0]["path"]) for p in told["proposals"]] == [
        ("number", "note.md")
    ]
    assert (agent.home.folder / "note.md").read_text() == NOTE


def test_it_stops_where_nothing_comes_of_it_and_says_how_to_go_on(agent):
    with FaultProvider(says("I could do this.\nNEXT: do it")) as provider:
        stuck = agent(provider, "task")
        short = agent(provider, "task", "--steps", "1")
        more = agent(provider, "--continue", "--steps", "3", "--json")

    assert (stuck.returncode, short.returncode) == (1, 1)
    assert stuck.stderr.splitlines()[-1] == (
        "sill: stopped: two steps in a row brought nothing new; `sill agent --continue` tries again"
    )
    assert short.stderr.splitlines()[-1] == (
        "sill: 1 steps were not enough; `sill agent --continue --steps N` goes on"
    )
    assert more.stdout, more.stderr
    assert len(json.loads(more.stdout)["steps"]) == 2


def test_nothing_is_sent_that_could_cross_the_limit_of_money(agent):
    (agent.home.folder / "sill.toml").write_text("[prices.m]\nprompt = 1000\ncompletion = 1000\n")
    with FaultProvider(*WORK) as provider:
        agent(provider, command="trust")
        done = agent(provider, "task", "--limit", "0.5")

    assert (done.returncode, provider.seen) == (1, [])
    assert done.stderr.splitlines()[-1].startswith("sill: stopped: ")
    assert "$0.50" in done.stderr


@pytest.mark.parametrize(
    "arguments",
    [
        pytest.param((), id="no task"),
        pytest.param(("task", "--continue"), id="a task and --continue"),
        pytest.param((" ",), id="an empty task"),
        pytest.param(("task", "--steps", "0"), id="no steps"),
    ],
)
def test_a_wrong_call_is_told(agent, arguments):
    with FaultProvider(says("x")) as provider:
        assert agent(provider, *arguments).returncode == 2


@pytest.mark.slow
def test_after_ctrl_c_it_goes_on_where_it_was(agent):
    home = agent.home
    first = calls("read_document", {"path": "note.md"})
    with FaultProvider(first, [head(), said("I see"), Hang()]) as provider:
        child = subprocess.Popen(
            [sys.executable, "-m", "sill", "agent", "put the note right"],
            cwd=home.folder,
            env={**home.environment, **environment(provider)},
            stderr=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stdin=subprocess.DEVNULL,
        )
        assert child.stderr is not None
        heard = b""
        while b"I see" not in heard:
            heard += os.read(child.stderr.fileno(), 1000)
        child.send_signal(signal.SIGINT)
        _, rest = child.communicate(timeout=60)

    assert child.returncode == 130
    assert rest.decode().splitlines()[-1] == "sill: stopped; `sill agent --continue` goes on"
    with FaultProvider(says("So it is.\nDONE: nothing to do"), says("Yes.\nDONE: right")) as other:
        done = agent(other, "--continue")
        bodies = [json.loads(seen.body) for seen in other.seen]

    assert (done.returncode, done.stdout) == (0, "right\n")
    spoken = [m["content"] for m in bodies[0]["messages"] if m["role"] in ("user", "assistant")]
    assert "Task: put the note right" in spoken[0]
    assert "I see" in spoken
    assert "was interrupted" in spoken[-1]


def test_in_the_chat_it_is_a_command(agent):
    typed = ":agent --steps 4 put the note right\n:diff\n:agent continue\n"
    with FaultProvider(*WORK) as provider:
        done = agent(provider, command="chat", stdin=typed)

    assert done.returncode == 0
    assert "+The plot has number 15." in done.stdout
    assert "✎ a change is proposed; :diff shows the last, :apply asks for it" in done.stdout
    assert [line for line in done.stderr.splitlines() if "done" in line] == [
        "sill: done",
        "sill: done",
    ]
    assert (agent.home.folder / "note.md").read_text() == NOTE


@pytest.mark.slow
def test_on_a_terminal_every_proposal_is_asked_for_at_the_end(agent):
    import pexpect

    home = agent.home
    with FaultProvider(*WORK) as provider:
        child = pexpect.spawn(
            sys.executable,
            ["-m", "sill", "agent", "put the note right"],
            cwd=str(home.folder),
            env={**home.environment, **environment(provider), "TERM": "dumb"},
            encoding="utf-8",
            timeout=90,
        )
        child.expect("sill: done")
        child.expect(r"Take this hunk \(1 of 1\)\?")
        before = (home.folder / "note.md").read_text()
        child.sendline("y")
        child.expect(pexpect.EOF)
        child.close()

    assert (child.exitstatus, before) == (0, NOTE)
    assert (home.folder / "note.md").read_text() == NOTE.replace("14", "15")
