"""A file that changed meanwhile, on a terminal: what clashes is asked for, shown and written as it was shown."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

import pexpect
import pytest

from .conftest import Home
from .test_edit import END, MILK, NOTE, OATS, asking, edited, ended, files, proposes, write

BETTER = OATS.replace("The end", "The very end")
CLASH = r"\? \[k,t,b,e,\?\] "
WRITE = r"Write this\? \[y,n\] "
HUNK = r"\[y,n,a,q,e,\?\] "


@contextmanager
def running(user: Home, *arguments: str) -> Iterator[pexpect.spawn]:
    child = pexpect.spawn(
        sys.executable,
        ["-m", "sill", *arguments],
        cwd=str(user.folder),
        env={**user.environment, "TERM": "xterm-256color"},
        encoding="utf-8",
        dimensions=(50, 100),
        timeout=60,
    )
    try:
        yield child
    finally:
        child.close(force=True)


def answer(child: pexpect.spawn, prompt: str, key: str) -> None:
    child.expect(prompt)
    child.send(key + "\r")


LATER = BETTER.replace("oat milk", "soy milk")  # written after both changes


@pytest.mark.parametrize(
    "key, third",
    [
        pytest.param("k", "Buy soy milk.\n", id="the file"),
        pytest.param("t", "Buy milk.\n", id="the undo"),
        pytest.param("b", "Buy soy milk.\nBuy milk.\n", id="both"),
    ],
)
def test_an_undo_that_clashes_is_decided_and_redone_exactly(home, key, third):
    with asking(home, proposes(MILK, END)) as user:
        edited(user, "note.md", "--yes")
        write(home, "note.md", LATER)
        with running(user, "undo") as child:
            child.expect_exact("both changed the same text")
            answer(child, CLASH, "?")
            answer(child, CLASH, key)
            answer(child, WRITE, "y")
            code = ended(child)
        undone = files(home)["note.md"]
        redone = user.sill("redo")

    assert (code, undone) == (0, NOTE.replace("Buy milk.\n", third))
    assert (redone.returncode, files(home)) == (0, {"note.md": LATER})


@pytest.mark.parametrize(
    "answers, code",
    [
        pytest.param([(CLASH, "t"), (WRITE, "n")], 1, id="the result is refused"),
        pytest.param([(CLASH, "\x03")], 130, id="Ctrl-C at a clash"),
        pytest.param([(CLASH, "\x04")], 130, id="the end of input at a clash"),
        pytest.param([(CLASH, "k"), (WRITE, "\x03")], 130, id="Ctrl-C at the result"),
    ],
)
def test_an_undo_that_is_not_agreed_to_writes_nothing(home, answers, code):
    with asking(home, proposes(MILK, END)) as user:
        edited(user, "note.md", "--yes")
        write(home, "note.md", LATER)
        with running(user, "undo") as child:
            for prompt, key in answers:
                child.expect(prompt)
                child.send(key if key < " " else key + "\r")
            left = ended(child)

        assert (left, files(home)) == (code, {"note.md": LATER})


def test_an_undo_beside_another_change_keeps_that(home):
    with asking(home, proposes(MILK)) as user:
        edited(user, "note.md", "--yes")
        write(home, "note.md", OATS.replace("The end", "The start"))
        with running(user, "undo") as child:
            answer(child, WRITE, "y")
            code = ended(child)

    assert (code, files(home)) == (0, {"note.md": NOTE.replace("The end", "The start")})


@pytest.mark.parametrize(
    "key, third",
    [
        pytest.param("t", "Buy oat milk.\n", id="the proposal"),
        pytest.param("b", "Buy cream.\nBuy oat milk.\n", id="both"),
    ],
)
def test_a_proposal_that_clashes_is_decided_and_looked_at_again(home, key, third):
    saved = NOTE.replace("milk", "cream")
    with (
        asking(home, proposes(MILK, END)) as user,
        running(user, "edit", "Change it.", "note.md") as child,
    ):
        child.expect(HUNK)
        write(home, "note.md", saved)
        child.send("a\r")
        answer(child, CLASH, key)
        child.expect_exact("as they are now")
        answer(child, HUNK, "a")
        code = ended(child)

    wanted = NOTE.replace("Buy milk.\n", third).replace("The end", "The very end")
    assert (code, files(home)) == (0, {"note.md": wanted})


def test_a_clash_is_written_in_the_editor(home, tmp_path):
    editor = tmp_path / "editor.py"
    editor.write_text(
        "import pathlib, sys\n"
        "file = pathlib.Path(sys.argv[1])\n"
        "file.write_text(file.read_text().replace('soy', 'rice'))\n"
    )
    with asking(home, proposes(MILK)) as user:
        edited(user, "note.md", "--yes")
        write(home, "note.md", OATS.replace("oat milk", "soy milk"))
        user = replace(
            user, environment={**user.environment, "EDITOR": f"{sys.executable} {editor}"}
        )
        with running(user, "undo") as child:
            answer(child, CLASH, "e")
            answer(child, WRITE, "y")
            code = ended(child)

    assert (code, files(home)) == (0, {"note.md": NOTE.replace("milk", "rice milk")})
