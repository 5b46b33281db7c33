"""``sill chats`` and ``sill backup`` as a user types them."""

import asyncio
import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from sill.adapters.store import open_store
from sill.cli.backup import command as backup
from sill.cli.chats import command as chats
from sill.cli.main import run as run_command
from tests.store.examples import say


@pytest.fixture
def sill(tmp_path, monkeypatch):
    """Runs a command in a folder with two chats; its exit code and what it printed."""
    folder = tmp_path / "notes"
    folder.mkdir()
    for name in ("HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_DATA_HOME"):
        monkeypatch.setenv(name, str(tmp_path / name.lower()))
    database = tmp_path / "sill.db"

    async def fill():
        store = await open_store(database)
        boats = await store.new_chat(str(folder), "Boats")
        await say(store, boats, "what floats in the harbour?")
        other = await store.new_chat(str(folder))
        await say(store, other, "and what \x1b[31msinks?")
        elsewhere = await store.new_chat("/elsewhere", "Not here")
        await store.close()
        return {"boats": boats, "other": other, "elsewhere": elsewhere}

    ids = asyncio.run(fill())

    def run(command, *arguments, input=""):
        here = ["--db", str(database), "--vault", str(folder)]
        result = CliRunner().invoke(
            _wrapped(command), [*(ids.get(a, a) for a in arguments), *here], input=input
        )
        return result.exit_code, result.output

    run.ids = ids
    return run


def _wrapped(command):
    """With errors as the program shows them."""
    import click

    @click.command(context_settings={"ignore_unknown_options": True, "help_option_names": []})
    @click.argument("arguments", nargs=-1, type=click.UNPROCESSED)
    @click.pass_context
    def outer(context, arguments):
        context.exit(run_command(command, list(arguments)))

    return outer


def listed(output: str) -> list[str]:
    return [line.split(maxsplit=5)[-1] for line in output.splitlines()]


def test_chats_are_listed_by_title_or_last_question(sill):
    code, output = sill(chats, "list")

    assert (code, listed(output)) == (0, ["and what ␛[31msinks?", "Boats"])
    assert len(json.loads(sill(chats, "list", "--everywhere", "--json")[1])) == 3


def test_a_chat_is_shown_without_steering_the_terminal(sill):
    code, output = sill(chats, "show", sill.ids["other"][:9])

    assert code == 0
    assert "you: and what ␛[31msinks?\n" in output
    assert "m: answer to and what ␛[31msinks?\n" in output
    assert "\x1b" not in output
    (turn,) = json.loads(sill(chats, "show", "last", "--json")[1])
    assert turn["messages"][0] == {"role": "user", "text": "and what \x1b[31msinks?"}


def test_words_are_found(sill):
    code, output = sill(chats, "search", "HARBOUR", "floats")

    assert (code, output.splitlines()[1].strip()) == (
        0,
        "what floats in the harbour? answer to what floats in the harbour?",
    )
    assert sill(chats, "search", "nowhere") == (1, "nothing found\n")
    assert json.loads(sill(chats, "search", "nowhere", "--json")[1]) == []


def test_chats_are_renamed_pinned_and_archived(sill):
    for arguments in (
        ("rename", "boats", "All about boats"),
        ("pin", "boats"),
        ("archive", "other"),
    ):
        assert sill(chats, *arguments) == (0, "")

    assert listed(sill(chats, "list")[1]) == ["pinned All about boats"]
    sill(chats, "unpin", "boats")
    sill(chats, "unarchive", "other")
    assert listed(sill(chats, "list")[1]) == ["and what ␛[31msinks?", "All about boats"]


def test_deleting_asks_first(sill):
    refused = sill(chats, "delete", "boats", input="n\n")
    done = sill(chats, "delete", "boats", "other", input="y\n")

    assert refused[0] == 130
    assert (done[0], sill(chats, "list")) == (0, (0, ""))


def test_pruning_asks_first_and_spares_the_new(sill):
    assert sill(chats, "prune", "--days", "1") == (0, "deleted 0 chats\n")
    code, output = sill(chats, "prune", "--days", "0", "--yes")
    assert (code, output) == (0, "deleted 3 chats\n")


def test_a_chat_is_exported_and_imported(sill, tmp_path):
    file = tmp_path / "boats.json"
    code, text = sill(chats, "export", "boats")
    sill(chats, "export", "boats", "--format", "json", "-o", str(file))
    again = sill(chats, "export", "boats", "--format", "json", "-o", str(file))
    twice = sill(chats, "import", str(file))
    sill(chats, "delete", "boats", "--yes")
    taken = sill(chats, "import", str(file))

    assert (code, text.splitlines()[1]) == (0, 'title: "Boats"')
    assert again[0] == twice[0] == 2
    assert (taken[0], "Boats" in taken[1]) == (0, True)
    assert sill(chats, "export", "boats") == (0, text)


@pytest.mark.parametrize(
    "arguments, said",
    [
        pytest.param(("show", "zzz"), "there is no chat zzz", id="no such chat"),
        pytest.param(("show", ""), "which chat?", id="nothing named"),
        pytest.param(("import", "README.md"), "not an exported chat", id="another file"),
    ],
)
def test_mistakes_are_told_in_one_line(sill, arguments, said, monkeypatch):
    monkeypatch.chdir(Path(__file__).resolve().parents[2])
    code, output = sill(chats, *arguments)

    assert code == 2
    assert said in output


def test_a_backup_is_written_once(sill, tmp_path):
    file = tmp_path / "copy.db"

    assert sill(backup, str(file))[0] == 0
    assert file.stat().st_size > 0
    assert sill(backup, str(file))[0] == 2
