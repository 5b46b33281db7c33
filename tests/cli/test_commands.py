"""Commands of the chat, typed through a pipe: no terminal is needed for what they do."""

import json
from dataclasses import replace

import pytest

from sill.cli.ask import with_data
from tests.models.fault_provider import FaultProvider, ok

from .conftest import Home
from .terminal import start

LONG = "Tell me more about the garden, the oven and the weather of last year, if you please. " * 3


def explained(home: Home) -> dict:
    return json.loads(home.sill("explain", "--json").stdout)


@pytest.fixture
def scripted(home: Home):
    """A user whose model always says the same."""
    with FaultProvider(ok("As you say.")) as provider:
        environment = {
            **home.environment,
            "OPENAI_BASE_URL": f"{provider.url}/v1",
            "SILL_MODEL": "m",
            "SILL_PROBE": "false",
            "SILL_TOKENIZER": "o200k_base",
            "SILL_WINDOW": "8192",
        }
        (home.folder / "note.md").write_text("# Note\n\nThe shed is green.\n")
        yield replace(home, environment=environment)


@pytest.mark.slow
def test_compact_lets_the_older_half_leave_with_the_next_message(chosen):
    before = "".join(f"{n} {LONG}\n" for n in range(4))
    chosen.sill("chat", stdin=before)
    first = explained(chosen)
    done = chosen.sill("chat", "-c", stdin=":explain\n:compact\nAnd now?\n")
    second = explained(chosen)

    assert first["plan"]["epoch"] == 0
    assert "the older half of the window leaves it" in done.stdout
    assert second["plan"]["epoch"] == 1
    assert second["plan"]["tokens"] < first["plan"]["tokens"]
    assert second["certificate"]["predicted"] == second["certificate"]["actual"]
    assert any(item["fate"] == "evicted" for item in second["plan"]["items"])


def test_facts_are_kept_listed_and_forgotten(scripted):
    done = scripted.sill(
        "chat",
        stdin=":remember The shed is green.\n/memory add It leaks.\n:memory\n:memory clear\n:memory\n",
    )
    lines = done.stdout.splitlines()

    assert [line.split("  ", 1)[1] for line in lines[2:4]] == ["The shed is green.", "It leaks."]
    assert lines[4:] == ["forgotten: 2", "nothing is remembered; `:remember TEXT` does"]


def test_chats_are_named_left_and_found_again(scripted):
    said = "First thing.\n:title The shed\n:title\n:new\nSecond thing.\n:chats\n:recall first\n"
    done = scripted.sill("chat", stdin=said)
    (other,) = [line for line in done.stdout.splitlines() if "The shed" in line and "turn" in line]
    back = scripted.sill("chat", stdin=f":chats {other.split()[0]}\n:fork\n:export\n")

    assert done.stdout.count("The shed") >= 3
    assert "1 turn" in other and not other.startswith("*")
    assert "going on with The shed" in back.stdout
    assert "First thing." in back.stdout and "Second thing." not in back.stdout


def test_a_turn_is_asked_again_and_both_answers_are_kept(scripted):
    done = scripted.sill("chat", stdin="One.\n:again\n:again Two.\n:fork\n")
    turns = json.loads(scripted.sill("chats", "show", "last", "--json").stdout)

    assert [turn["messages"][0]["text"] for turn in turns] == ["One.", "One.", "Two."]
    assert len({turn["parent"] for turn in turns}) == 1
    assert sum(line.startswith("* ") for line in done.stdout.splitlines()) == 1


def test_a_file_that_is_mentioned_is_part_of_the_chat(scripted):
    done = scripted.sill(
        "chat", stdin="What colour? See @note.md.\n:files\n:drop note.md\n:files\n"
    )

    assert "  note.md\n" in done.stdout
    assert "no longer kept up to date" in done.stdout
    assert done.stdout.rstrip().endswith("in a message")
    assert [i["fate"] for i in explained(scripted)["plan"]["items"] if i["name"] == "note.md"] == ["sent"]  # fmt: skip


def test_what_would_be_sent_is_shown_and_nothing_is(scripted):
    done = scripted.sill("chat", stdin=":explain What of [[note]]?\n:chats\n")

    assert "this would be sent; nothing was" in done.stdout
    assert "note.md" in done.stdout
    assert "no chat yet" in done.stdout


def test_settings_of_the_chat_change_while_it_runs(scripted):
    done = scripted.sill("chat", stdin=":profile temperature=0.5 reply=99\n:profile nonsense=1\n")

    assert "temperature  0.5" in done.stdout and "99 for the reply" in done.stdout
    assert "nonsense=1: no setting of a profile" in done.stderr


def test_the_exit_code_is_that_of_the_last_thing(scripted):
    codes = [
        scripted.sill("chat", stdin=text).returncode
        for text in ("Hello.\n", ":nonsense\n", ":open 3\n")
    ]

    assert codes == [0, 2, 2]


def test_several_lines_are_one_message(scripted):
    scripted.sill("chat", stdin='"""One\ntwo\n"""\n')
    (turn,) = json.loads(scripted.sill("chats", "show", "last", "--json").stdout)

    assert turn["messages"][0]["text"] == "One\ntwo"


# --- One question ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "data, expected",
    [
        pytest.param("", "Why?", id="nothing"),
        pytest.param("\n \n", "Why?", id="nothing but blanks"),
        pytest.param("a\nb\n", "Why?\n\nStandard input:\n```\na\nb\n```", id="in a fence"),
        pytest.param("```x```` y", "Why?\n\nStandard input:\n`````\n```x```` y\n`````", id="that it cannot end"),
    ],
)  # fmt: skip
def test_with_data(data, expected):
    assert with_data("Why?", data) == expected


def test_what_is_piped_in_goes_along_whole_and_quiet_says_nothing(scripted):
    data = "".join(f"row {n}\n" for n in range(500))
    done = scripted.sill("ask", "Sum up. [[Nowhere]]", "-q", stdin=data)
    sent = json.loads(scripted.sill("explain", "--bytes").stdout)

    assert (done.returncode, done.stdout, done.stderr) == (0, "As you say.\n", "")
    assert sent["messages"][-1]["content"].endswith(f"```\n{data}```")


def test_what_does_not_fit_is_refused_and_not_cut(scripted):
    done = scripted.sill("ask", "Sum up.", "--quiet", stdin="word " * 20_000)

    assert (done.returncode, done.stdout) == (1, "")
    assert "tokens needed" in done.stderr


# --- In the user's words ---------------------------------------------------------------------------


@pytest.mark.slow
def test_a_hunk_is_rewritten_in_the_editor(home: Home, tmp_path) -> None:
    """`e` opens the new lines; what is left there is written, and undone like everything else."""
    note = home.folder / "note.md"
    note.write_text("# Plan\n\nBuy milk.\n")
    editor = tmp_path / "editor"
    editor.write_text('#!/bin/sh\nsed -i "s/oat milk/rice milk/" "$1"\n')
    editor.chmod(0o755)
    op = {"op": "replace", "target_file": "note.md", "target": "anchor", "anchor": "milk", "content": "oat milk"}  # fmt: skip
    reply = json.dumps({"assistant_message": "Oats.", "ops": [op]})
    with FaultProvider(ok(reply)) as provider:
        user = replace(
            home,
            environment={
                **home.environment,
                "OPENAI_BASE_URL": f"{provider.url}/v1",
                "SILL_MODEL": "m",
                "SILL_PROBE": "false",
                "SILL_TOKENIZER": "o200k_base",
                "SILL_WINDOW": "8192",
                "EDITOR": str(editor),
            },
        )
        terminal = start(user, "edit", "Use oats.", "note.md")
        try:
            terminal.sees("(1 of 1)?").press("e\r").sees("applied: note.md")
            code = terminal.ended()
        finally:
            terminal.child.close(force=True)
        written = note.read_text()
        undone = user.sill("undo")

    assert (code, written) == (0, "# Plan\n\nBuy rice milk.\n")
    assert (undone.returncode, note.read_text()) == (0, "# Plan\n\nBuy milk.\n")


@pytest.mark.parametrize("variable", ["XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_DATA_HOME"])
def test_a_place_that_cannot_be_made_is_named_and_no_bug(home: Home, tmp_path, variable) -> None:
    (tmp_path / "file").write_text("in the way")

    done = home.sill("chats", "list", **{variable: str(tmp_path / "file")})

    assert done.returncode == 1
    assert f"{tmp_path / 'file' / 'sill'} cannot be made: " in done.stderr
    assert "XDG" in done.stderr and "bug" not in done.stderr
