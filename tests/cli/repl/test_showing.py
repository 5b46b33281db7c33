"""What is shown: Markdown that cannot steer the terminal, sources, and the editor's command line."""

import asyncio
import re
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sill.cli.editor import editor_command
from sill.cli.repl.markdown import rendered
from sill.cli.repl.saying import help as help_command
from sill.cli.repl.session import Given, Session
from sill.cli.repl.sources import shown, tell_sources
from sill.cli.repl.table import commands
from sill.cli.screen import shows_links
from sill.core.references import Reference

STYLE = re.compile(r"\x1b\[[0-9;]*m")
HIDDEN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]")


@pytest.mark.parametrize(
    "text, expected",
    [
        pytest.param("a <b>tag</b>", ["a <b>tag</b>"], id="tags are text"),
        pytest.param("[x](http://y.z)", ["x (http://y.z)"], id="a link shows where it leads"),
        pytest.param("a &#x202e; b &#27;[31m", ["a <U+202E> b \ufffd[31m"], id="entities cannot smuggle"),
        pytest.param("\x1b[31mred", ["␛[31mred"], id="escapes are visible"),
        pytest.param("```\n\x1b]0;title\x07\n```", ["␛]0;title␇"], id="in code too"),
        pytest.param("# One\n## Two", ["One", "", "Two"], id="headings at the margin"),
        pytest.param("```py\nx = 1\n```", ["x = 1"], id="code at the margin, to be copied"),
        pytest.param("Rain,\nrain.", ["Rain,", "rain."], id="lines end where the model ended them"),
        pytest.param("", [], id="nothing"),
    ],
)  # fmt: skip
def test_rendered(text, expected):
    assert [STYLE.sub("", line) for line in rendered(text, 60, colours=True)] == expected


def test_without_colours_there_are_none_and_bold_stays():
    assert rendered("**a** `b`", 40, colours=False) == ["\x1b[1ma\x1b[0m b"]


@settings(max_examples=400, deadline=None)
@given(st.lists(st.one_of(st.text(), st.sampled_from(["&#27;", "&#x9b;", "&#x202e;", "**", "`", "\n\n", "[a](", ")", "|", "<", "\x1b]8;;", "\x9b", "\u2066"])), max_size=12))  # fmt: skip
def test_markdown_never_steers_the_terminal(pieces):
    for line in rendered("".join(pieces), 40, colours=True):
        assert HIDDEN.findall(STYLE.sub("", line)) == []


ROW = Reference("link", "Oven/Log.md", (3, 9), link="[[Log#May]]")


@pytest.mark.parametrize(
    "source, expected",
    [
        pytest.param(ROW, ["  1 [[Log#May]] Oven/Log.md:3-9", "    What was baked."], id="a link with its lines"),
        pytest.param(Reference("link", None, link="[[Nowhere]]", note="no such file"), ["  1 [[Nowhere]] (not found: no such file)"], id="a link to nothing"),
        pytest.param(Reference("read", "a.md"), ["  1 a.md  read by the model", "    What was baked."], id="what a tool read"),
        pytest.param(Reference("recall", None, turn="0123456789", excerpt="We said\nso."), ["  1 said earlier, turn 01234567", "    We said so."], id="a turn"),
        pytest.param(Reference("file", "\x1b[2Jx.md"), ["  1 ␛[2Jx.md", "    What was baked."], id="a name that would clear the screen"),
    ],
)  # fmt: skip
def test_sources(source, expected):
    assert shown(1, source, "What was baked.", Path("/notes")) == expected


@pytest.mark.parametrize(
    "turns, expected",
    [
        pytest.param(1, ["  1 said earlier, turn a", "  3 b.md", "    and 1 more earlier turn"], id="so many"),
        pytest.param(0, ["  3 b.md", "    and 2 more earlier turns"], id="none"),
        pytest.param(None, ["  1 said earlier, turn a", "  2 said earlier, turn b", "  3 b.md"], id="all"),
    ],
)  # fmt: skip
def test_few_recalled_turns_are_shown_and_the_rest_is_counted(turns, expected, tmp_path, capsys):
    recalled = [Reference("recall", None, turn=turn) for turn in "ab"]

    asyncio.run(tell_sources([*recalled, Reference("file", "b.md")], tmp_path, turns=turns))

    assert capsys.readouterr().out.splitlines()[2:] == expected


@pytest.mark.parametrize(
    "editor, expected",
    [
        pytest.param("vim", ["vim", "+7", "a b.md"], id="vim"),
        pytest.param(
            "/usr/bin/nvim -u NONE",
            ["/usr/bin/nvim", "-u", "NONE", "+7", "a b.md"],
            id="with options",
        ),
        pytest.param("code --wait", ["code", "--wait", "--goto", "a b.md:7"], id="code"),
        pytest.param("hx", ["hx", "a b.md:7"], id="helix"),
        pytest.param("myeditor", ["myeditor", "a b.md"], id="one nobody knows"),
    ],
)
def test_editor_command(editor, expected):
    assert editor_command(editor, "a b.md", 7) == expected


@pytest.mark.parametrize(
    "environment, expected",
    [
        pytest.param({}, False, id="unknown"),
        pytest.param({"VTE_VERSION": "7006"}, True, id="a new VTE"),
        pytest.param({"VTE_VERSION": "4200"}, False, id="an old one"),
        pytest.param({"TERM": "xterm-kitty"}, True, id="kitty"),
        pytest.param({"TERM": "xterm-kitty", "TMUX": "/tmp/x"}, False, id="behind tmux nobody knows"),
        pytest.param({"TMUX": "/tmp/x", "FORCE_HYPERLINK": "1"}, True, id="the user knows"),
        pytest.param({"VTE_VERSION": "7006", "FORCE_HYPERLINK": "0"}, False, id="the user does not want them"),
    ],
)  # fmt: skip
def test_links_only_where_they_are_understood(environment, expected):
    assert shows_links(environment) is expected


@pytest.mark.parametrize("columns", [40, 50, 80, 120])
def test_the_help_breaks_no_word_at_any_width(columns, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", str(columns))

    asyncio.run(help_command(Session(desk=None), Given("")))

    printed = capsys.readouterr().out
    words = " ".join(printed.split())
    assert max(len(line) for line in printed.splitlines()) <= columns
    for command in commands().values():
        assert f":{command.name} {command.usage}".rstrip() in words
        assert command.help in words
