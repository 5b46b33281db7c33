"""Setting up: at most three questions, a file that works, and no key in the folder."""

import stat
import tomllib

import pytest

from sill.cli.init import Choice, read_choice, written
from tests.models.fault_provider import FaultProvider, answer, ok

from .terminal import start

FOUND = [Choice("http://127.0.0.1:8080/v1", "qwen"), Choice("local")]


@pytest.mark.parametrize(
    "typed, expected",
    [
        pytest.param("1", FOUND[0], id="the first"),
        pytest.param("3", None, id="no such number"),
        pytest.param("https://a.b/v1", Choice("https://a.b/v1"), id="an address"),
        pytest.param("https://a.b/v1 k", Choice("https://a.b/v1", api_key="k"), id="and its key"),
        pytest.param("sk-1", Choice("https://api.openai.com/v1", api_key="sk-1"), id="a key"),
        pytest.param("local", Choice("local"), id="the bundled model"),
        pytest.param("hello there", None, id="something else"),
    ],
)
def test_read_choice(typed, expected):
    assert read_choice(typed, FOUND) == expected


@pytest.mark.parametrize(
    "choice, project, own",
    [
        pytest.param(Choice("local"), {"base_url": "local"}, {}, id="bundled"),
        pytest.param(
            FOUND[0], {"base_url": "http://127.0.0.1:8080/v1", "model": "qwen"}, {}, id="a server"
        ),
        pytest.param(
            Choice("https://a.b", 'm"x\\', "", "k"),
            {"model": 'm"x\\'},
            {"base_url": "https://a.b", "api_key": "k"},
            id="an address with a key is the user's own",
        ),
    ],
)
def test_written(choice, project, own):
    assert tuple(map(tomllib.loads, written(choice))) == (project, own)


def test_without_questions_what_was_found_is_taken(home):
    with FaultProvider(answer(200, {"data": [{"id": "found-model"}]})) as provider:
        url = f"{provider.url}/v1"
        done = home.sill("init", "--yes", "--base-url", url)
        again = home.sill("init", "--yes")

    settings = tomllib.loads((home.folder / "sill.toml").read_text())
    assert (done.returncode, settings) == (0, {"base_url": url, "model": "found-model"})
    assert (again.returncode, "is there already" in again.stderr) == (2, True)


@pytest.mark.slow
def test_three_questions_and_the_key_stays_out_of_the_folder(home):
    with FaultProvider(ok("Hello")) as provider:
        terminal = start(home, "init", SILL_PROBE="false")
        try:
            terminal.sees("Folder of your notes").press("\r")
            terminal.sees("Who should answer?").sees("Model [1]")
            terminal.press(f"{provider.url}/v1 secret-key\r")
            terminal.sees("Write this?").press("\r").sees("Ready.")
            code = terminal.ended()
        finally:
            terminal.child.close(force=True)

        own = home.folder.parent / "home" / ".config" / "sill" / "sill.toml"
        asked = home.sill(
            "ask", "Hi", SILL_MODEL="m", SILL_PROBE="false", SILL_TOKENIZER="o200k_base"
        )
        keys = {seen.headers.get("authorization") for seen in provider.seen if seen.body}

    assert code == 0
    assert "secret-key" not in (home.folder / "sill.toml").read_text()
    assert tomllib.loads(own.read_text())["api_key"] == "secret-key"
    assert stat.S_IMODE(own.stat().st_mode) == 0o600
    assert (asked.stdout, keys) == ("Hello\n", {"Bearer secret-key"})


def test_settings_of_the_user_are_not_set_twice(home):
    own = home.folder.parent / "home" / ".config" / "sill"
    own.mkdir(parents=True)
    (own / "sill.toml").write_text('base_url = "https://mine.example/v1"\n')

    terminal = start(home, "init", SILL_PROBE="false")
    try:
        terminal.sees("Folder of your notes").press("\r").sees("Model [1]").press("sk-x\r")
        terminal.sees("Write this?").press("\r").sees("sets `base_url` already")
        code = terminal.ended()
    finally:
        terminal.child.close(force=True)

    assert (code, (home.folder / "sill.toml").exists()) == (2, False)
