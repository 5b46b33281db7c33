"""``sill chat`` in a real terminal and through a pipe, with a real server behind it."""

import json
import sys

import pexpect
import pytest

LINES = "".join(f"Line {n} of the note, about the garden.\n" for n in range(120))


def explained(home, *turn) -> dict:
    return json.loads(home.sill("explain", "--json", *turn).stdout)


def fates(report, kind="file") -> list[tuple[str, str]]:
    return [(i["name"], i["fate"]) for i in report["plan"]["items"] if i["kind"] == kind]


@pytest.fixture
def terminal(chosen):
    """The program in a pty of 100 columns; ``say`` types a line and waits for the next prompt."""
    child = pexpect.spawn(
        sys.executable,
        ["-m", "sill", "chat", "--files", "note.md", "code.py"],
        cwd=str(chosen.folder),
        env={
            **chosen.environment,
            "TERM": "xterm-256color",
            "LLM_CHAT_TEMPERATURE": "0",
            "LLM_CHAT_REPLY": "4",
        },
        encoding="utf-8",
        dimensions=(30, 100),
        timeout=60,
    )
    (chosen.folder / "note.md").write_text(LINES)
    (chosen.folder / "code.py").write_text("print('hello')\n")
    child.expect("›")
    yield child
    child.close(force=True)


def say(home, child, text: str) -> dict:
    """Type a message and wait until its turn is stored as finished; what the request held."""
    before = home.sill("explain", "--json").stdout
    child.send(text + "\r")
    for _ in range(200):
        child.expect([r".", pexpect.TIMEOUT], timeout=0.2)  # the program must be able to draw
        after = home.sill("explain", "--json").stdout
        if after != before and json.loads(after)["status"] != "open":
            return json.loads(after)
    raise AssertionError("no answer came")


@pytest.mark.slow
def test_edits_made_while_chatting_are_noticed_at_the_next_message(chosen, terminal):
    first = say(chosen, terminal, "first")
    (chosen.folder / "note.md").write_text(LINES.replace("Line 7 ", "Line seven "))
    (chosen.folder / "code.py").unlink()
    second = say(chosen, terminal, "second")
    terminal.send(":context\r")
    terminal.expect("deleted; the model is told")
    terminal.send(":nonsense\r")
    terminal.expect("there is no command :nonsense")
    terminal.send(":quit\r")
    terminal.expect(pexpect.EOF)

    assert fates(first) == [("note.md", "sent"), ("code.py", "sent")]
    assert fates(second) == [("note.md", "updated"), ("code.py", "sent")]
    assert [i["reason"] for i in second["plan"]["items"] if i["name"] == "code.py"] == [
        "deleted; the model is told"
    ]
    assert first["certificate"]["predicted"] == first["certificate"]["actual"]
    assert second["certificate"]["predicted"] == second["certificate"]["actual"]


@pytest.mark.slow
def test_without_a_terminal_each_line_is_a_message_and_no_control_character_appears(chosen):
    done = chosen.sill("chat", stdin="one\n:files\ntwo\n:quit\nthree\n")

    assert [c for c in done.stdout + done.stderr if ord(c) < 32 and c != "\n"] == []
    assert "  none" in done.stdout
    assert "Traceback" not in done.stderr
    assert explained(chosen)["status"] in ("complete", "partial")


@pytest.mark.slow
def test_a_file_larger_than_a_small_window_is_named_and_the_answer_comes_all_the_same(chosen):
    (chosen.folder / "long.md").write_text("# Oven\n\n" + LINES * 2 + "\n# Beans\n\n" + LINES * 2)

    done = chosen.sill("ask", "--json", "--window", "2048", "-f", "long.md", "What is in it?")
    report = json.loads(done.stdout)

    assert report["outcome"] in ("complete", "partial")
    assert report["certificate"]["predicted"] == report["certificate"]["actual"] < 2048
    assert "long.md is not shown to the model" in done.stderr
    sent = json.loads(chosen.sill("explain", "--bytes").stdout)
    assert '"event":"omitted"' in sent["messages"][1]["content"]
    assert "1: # Oven" in sent["messages"][1]["content"]


@pytest.mark.slow
def test_explain_shows_items_numbers_and_the_exact_bytes(chosen):
    (chosen.folder / "note.md").write_text("The oven was built in May.\n")
    asked = json.loads(chosen.sill("ask", "--json", "-f", "note.md", "When?").stdout)

    table = chosen.sill("explain", asked["turn"][:12]).stdout
    sent = json.loads(chosen.sill("explain", "--bytes").stdout)

    assert "note.md" in table and "not in the window yet" in table
    assert f"billed {asked['usage']['prompt']}" in table
    assert sent["messages"][-1]["content"].endswith("When?")
    assert "The oven was built in May." in sent["messages"][-1]["content"]
