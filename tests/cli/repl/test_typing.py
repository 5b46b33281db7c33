"""What is typed: commands, completions, pastes, several lines; all decided without a terminal."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sill.cli.repl.answer import mentioned, named_files, without_mentions
from sill.cli.repl.complete import Typing, candidates, matching, typing
from sill.cli.repl.lines import is_open, messages, unquoted
from sill.cli.repl.meter import Meter, bottom_line
from sill.cli.repl.pasting import Pastes
from sill.cli.repl.session import Given, Session
from sill.cli.repl.table import Unknown, commands, is_command, look_up, parse

WANTED = [
    "help", "model", "models", "context", "files", "pin", "explain", "cost", "sources", "open", "edit", "apply", "undo",
    "redo", "diff", "chats", "new", "fork", "title", "export", "search", "memory", "remember", "tools", "mcp", "agent",
    "compact", "recall", "profile", "doctor", "quit",
]  # fmt: skip


@pytest.mark.parametrize("name", WANTED)
def test_the_command_is_there_and_says_what_it_does(name):
    command = look_up(name, commands())

    assert not isinstance(command, Unknown)
    assert (command.name, len(command.help) > 10) == (name, True)


@pytest.mark.parametrize(
    "line, expected",
    [
        pytest.param(":help", True, id="colon"),
        pytest.param("/help me", True, id="slash"),
        pytest.param("//comment", False, id="two slashes are text"),
        pytest.param("/etc/passwd is a file", False, id="a path is text"),
        pytest.param(": aside", False, id="a colon alone is text"),
        pytest.param("::", False, id="two colons"),
        pytest.param("what :help does", False, id="not at the beginning"),
        pytest.param("", False, id="nothing"),
    ],
)
def test_what_is_a_command(line, expected):
    assert is_command(line) is expected


def test_a_command_has_a_name_and_the_rest():
    assert parse("/Files  add  a.md ") == ("files", "add  a.md")


@pytest.mark.parametrize(
    "name, expected",
    [
        pytest.param("q", "quit", id="an alias"),
        pytest.param("contex", "context", id="the beginning of one"),
        pytest.param("modls", Unknown("modls", "models"), id="a slip"),
        pytest.param("co", Unknown("co", "cost"), id="the beginning of several"),
        pytest.param("xyzzy", Unknown("xyzzy", None), id="nothing like it"),
    ],
)
def test_look_up(name, expected):
    found = look_up(name, commands())

    assert (found if isinstance(found, Unknown) else found.name) == expected


@pytest.mark.parametrize(
    "before, expected",
    [
        pytest.param("see [[Bre", Typing("note", "Bre"), id="a note"),
        pytest.param("see [[Bread oven#Me", Typing("heading", "Me", "Bread oven"), id="a heading"),
        pytest.param("see [[Done]] and", None, id="a link that is closed"),
        pytest.param("look at @src/ma", Typing("file", "src/ma"), id="a file"),
        pytest.param('look at @"My no', Typing("file", "My no"), id="a file with blanks"),
        pytest.param("me@example.org", None, id="an address is no file"),
        pytest.param(":mo", Typing("command", "mo"), id="a command"),
        pytest.param("/", Typing("command", ""), id="any command"),
        pytest.param(":model smol", Typing("argument", "smol", "model"), id="its argument"),
        pytest.param(":edit fix @no", Typing("file", "no"), id="a file in a command"),
        pytest.param("prose: nothing", None, id="prose"),
        pytest.param("a\n:mo", None, id="a command is one line"),
    ],
)
def test_typing(before, expected):
    assert typing(before) == expected


def test_names_that_begin_so_come_first():
    names = ["unbread", "Bread oven", "Flat bread", "b-r-e-a-d", "milk"]

    assert matching("bread", names) == ["Bread oven", "Flat bread", "unbread", "b-r-e-a-d"]


class FolderDesk:
    """Only what completion asks for."""

    ready = None

    def __init__(self, folder: Path) -> None:
        self.where = type("Where", (), {"folder": folder})()


@pytest.fixture
def session(tmp_path):
    (tmp_path / "Oven").mkdir()
    (tmp_path / "Garden").mkdir()
    (tmp_path / "Oven" / "Log.md").write_text("# Log\n\n## May\n\ntext\n\n## June\n")
    (tmp_path / "Garden" / "Log.md").write_text("# Log\n")
    (tmp_path / "Bread oven.md").write_text("---\na: b\n---\n# Bread oven\n")
    (tmp_path / "C#.md").write_text("# C sharp\n")
    (tmp_path / "code.py").write_text("pass\n")
    return Session(FolderDesk(tmp_path))


@pytest.mark.parametrize(
    "before, expected",
    [
        pytest.param("[[bre", ["Bread oven]]"], id="a note by its name"),
        pytest.param("[[log", ["Oven/Log]]", "Garden/Log]]"], id="by its path where the name is not enough"),
        pytest.param("[[Oven/Log#", ["Log]]", "May]]", "June]]"], id="its headings"),
        pytest.param("[[Nowhere#", [], id="no such note"),
        pytest.param("[[C", [], id="no note that a link cannot name"),
        pytest.param("@C#", ["C#.md"], id="which is a file all the same"),
        pytest.param("@co", ["code.py"], id="a file"),
        pytest.param("@bread", ['"Bread oven.md"'], id="quoted where it has blanks"),
        pytest.param(":dia", [], id="no such command"),
        pytest.param(":fil", ["files", "profile"], id="a command"),
        pytest.param(":cost d", ["detail"], id="a word of a command"),
        pytest.param(":files add co", ["add code.py"], id="a file after a word"),
        pytest.param("hello", [], id="prose"),
    ],
)  # fmt: skip
def test_candidates(session, before, expected):
    found = [one.text for one in candidates(session, before)]

    assert sorted(found) == sorted(expected)


@pytest.mark.parametrize(
    "text, expected",
    [
        pytest.param("see @a.md and @b/c.py.", ["a.md", "b/c.py"], id="a full stop is not part of it"),
        pytest.param('see @"My note.md"!', ["My note.md"], id="quoted"),
        pytest.param("mail me@x.org or @", [], id="no names"),
        pytest.param("(@a.md, @a.md)", ["a.md"], id="each once"),
    ],
)  # fmt: skip
def test_mentioned(text, expected):
    assert mentioned(text) == expected


def test_a_name_that_looks_like_a_file_and_is_none_is_told(tmp_path):
    (tmp_path / "a.md").write_text("a")

    assert named_files("@a.md @b.md @ann", tmp_path) == (["a.md"], ["b.md"])
    assert without_mentions('fix it @a.md @"b c.md" now', ["a.md", "b c.md"]) == "fix it now"


def test_words_of_a_command_may_be_quoted_and_an_apostrophe_is_no_quote():
    assert Given('add "My note.md" b').words == ["add", "My note.md", "b"]
    assert Given("don't stop").words == ["don't", "stop"]


# --- Several lines, and pastes ---------------------------------------------------------------------


@pytest.mark.parametrize(
    "text, expected",
    [
        pytest.param("one", False, id="a line"),
        pytest.param('"""', True, id="opened"),
        pytest.param('"""a\nb', True, id="not closed yet"),
        pytest.param('"""a\nb"""', False, id="closed"),
        pytest.param('""""""', False, id="closed at once"),
        pytest.param('say """ three quotes', False, id="quotes elsewhere"),
    ],
)
def test_is_open(text, expected):
    assert is_open(text) is expected


@pytest.mark.parametrize(
    "lines, expected",
    [
        pytest.param(["one\n", "two\n"], ["one", "two"], id="a message each"),
        pytest.param(['"""one\n', "two\n", '"""\n', "three"], ["one\ntwo", "three"], id="quotes hold lines together"),
        pytest.param(['"""\n', "  kept\n", '"""\n'], ["  kept"], id="indentation stays"),
        pytest.param(['"""one\n', "two\n"], ["one\ntwo"], id="never closed, still sent"),
    ],
)  # fmt: skip
def test_messages(lines, expected):
    assert list(messages(lines)) == expected


@given(st.text(max_size=50).filter(lambda text: '"""' not in text))
def test_quoting_keeps_every_word(text):
    assert unquoted(f'"""{text}"""').split() == text.split()


@given(st.text(max_size=50), st.integers(1, 3))
def test_a_long_paste_is_whole_again_when_it_is_sent(text, times):
    pastes = Pastes()
    long = (text + "x\n") * 2_000
    names = [pastes.shown(f"{n}{long}") for n in range(times)]

    assert max(map(len, names)) < 60
    lines = long.replace("\r\n", "\n").replace("\r", "\n")
    assert pastes.whole(f"see {' and '.join(names)}") == "see " + " and ".join(
        f"{n}{lines}" for n in range(times)
    )


def test_a_short_paste_is_pasted_and_a_name_nobody_gave_stays():
    assert Pastes().shown("two\r\nlines") == "two\nlines"
    assert Pastes().whole("⟦paste 3: 9,999 characters⟧") == "⟦paste 3: 9,999 characters⟧"


# --- The line at the bottom ------------------------------------------------------------------------

METER = Meter("qwen3-8b", 8_192, 2_048, "exact", "cost $0.02")


@pytest.mark.parametrize(
    "meter, columns, expected",
    [
        pytest.param(METER, 100, " qwen3-8b · ▰▰▱▱▱▱▱▱▱▱ 25% · 2,048 of 8,192 tokens (exact) · cost $0.02 · 2 files · :help", id="everything"),
        pytest.param(METER, 60, " qwen3-8b · ▰▰▱▱▱▱▱▱▱▱ 25% · 2,048 of 8,192 tokens (exact)", id="narrow"),
        pytest.param(METER, 12, " qwen3-8b ·…", id="very narrow"),
        pytest.param(Meter("m", 100, 200, "estimate"), 99, " m · ▰▰▰▰▰▰▰▰▰▰ 100% · ~200 of 100 tokens (estimate) · 2 files · :help", id="an estimate, and full"),
        pytest.param(Meter(), 40, " opening the model …", id="no model yet"),
    ],
)  # fmt: skip
def test_bottom_line(meter, columns, expected):
    assert bottom_line(meter, 2, "", columns) == expected


@given(st.integers(0, 10**7), st.integers(1, 10**7), st.integers(1, 200), st.text(max_size=30))
def test_the_line_never_wraps(used, window, columns, model):
    assert len(bottom_line(Meter(model or "m", window, used), 3, "", columns)) <= max(1, columns)
