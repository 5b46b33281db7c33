"""Tools as values: which are offered, how results are cut, what is put away."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sill.core.messages import Message, ToolCall, ToolCalls, ToolResult
from sill.core.references import Reference
from sill.core.request import ToolSchema
from sill.core.tools import (
    Choice,
    Cut,
    Round,
    Tool,
    arguments_of,
    asked,
    brief,
    choose,
    cut,
    from_line,
    put_away,
    ranked,
    result,
    seen,
    tools_used,
)


def tool(name: str, description: str = "", *, is_core: bool = False, **arguments: str) -> Tool:
    properties = {key: {"type": "string", "description": text} for key, text in arguments.items()}
    return Tool(
        ToolSchema(name, description, {"type": "object", "properties": properties}), is_core
    )


READ = tool("read_document", "Read a document.", is_core=True)
WEATHER = tool("get_forecast", "Tells how warm it gets and whether it rains.")
MAIL = tool("sendMail", "Sends a message.", to="whom the letter goes to")
TRAIN = tool("find_train", "Looks up connections.")
ALL = (READ, WEATHER, MAIL, TRAIN)


@pytest.mark.parametrize(
    "question, first",
    [
        pytest.param("Will it rain on Sunday?", "get_forecast", id="by the end of a description"),
        pytest.param(
            "When do trains to Bern leave?", "find_train", id="by another form of its name"
        ),
        pytest.param("mail this", "sendMail", id="by a part of a name"),
        pytest.param("a letter for Ann", "sendMail", id="by an argument"),
        pytest.param(
            "write a message", "sendMail", id="by what it says of itself beside its arguments"
        ),
    ],
)
def test_the_tool_that_bears_on_the_question_comes_first(question, first):
    assert ranked(ALL, question)[0].name == first


def test_of_several_tools_the_one_that_says_it_more_comes_first():
    tools = [tool("a", "Moves."), tool("b", "Notes on rain."), tool("c", "Rain, rain."), tool("d", "Rain and snow today.")]  # fmt: skip

    assert [one.name for one in ranked(tools, "rain")] == ["c", "b", "d", "a"]


@pytest.mark.parametrize(
    "parameters",
    [
        pytest.param({}, id="no arguments"),
        pytest.param({"properties": ["rain"]}, id="a list of them"),
        pytest.param({"properties": {"rain": True}}, id="anything goes"),
        pytest.param({"properties": {"rain": {"description": 3}}}, id="a number says nothing"),
        pytest.param({"properties": {"rain": {"type": "string"}}}, id="no description"),
    ],
)
def test_a_schema_of_any_form_can_be_ranked(parameters):
    known = isinstance(parameters.get("properties"), dict)
    tools = [tool("a"), Tool(ToolSchema("b", "", parameters))]

    assert [one.name for one in ranked(tools, "rain")] == (["b", "a"] if known else ["a", "b"])


def test_a_question_without_a_sign_leaves_the_order():
    assert ranked(ALL, "hm?") == list(ALL)


@pytest.mark.parametrize(
    "share, names",
    [
        pytest.param(40, ["read_document", "get_forecast", "sendMail", "find_train"], id="all"),
        pytest.param(20, ["read_document", "find_train"], id="the one that is meant"),
        pytest.param(5, ["read_document"], id="core tools whatever they cost"),
    ],
)
def test_tools_are_chosen_by_the_question_and_offered_in_their_order(share, names):
    chosen = choose(ALL, dict.fromkeys((t.name for t in ALL), 10), share, "the train to Bern")

    assert [one.name for one in chosen.offered] == names
    assert chosen == Choice(
        tuple(one for one in ALL if one.name in names),
        tuple(one for one in ALL if one.name not in names),
    )


@pytest.mark.parametrize(
    "text, characters, first, shown",
    [
        pytest.param("one\ntwo", 7, 1, Cut("one\ntwo"), id="whole"),
        pytest.param(
            "one\ntwo\n4",
            7,
            1,
            Cut('one\ntwo\n[lines 1 to 2 of 3; continue at line 3: the same call with "start_line": 3]', 3),
            id="just two lines",
        ),
        pytest.param(
            "one\ntwo\n4",
            6,
            1,
            Cut('one\n[lines 1 to 1 of 3; continue at line 2: the same call with "start_line": 2]', 2),
            id="just not",
        ),
        pytest.param(
            "one\ntwo",
            -1,
            1,
            Cut(
                "\n[line 1 has 3 characters, the first 0 are shown; continue at line 2:"
                ' the same call with "start_line": 2]',
                2,
            ),
            id="no room at all",
        ),
        pytest.param(
            "one\ntwo\nthree",
            8,
            1,
            Cut('one\ntwo\n[lines 1 to 2 of 3; continue at line 3: the same call with "start_line": 3]', 3),
            id="cut at a line",
        ),
        pytest.param(
            "one\ntwo",
            4,
            7,
            Cut('one\n[lines 7 to 7 of 8; continue at line 8: the same call with "start_line": 8]', 8),
            id="numbered from where it began",
        ),
        pytest.param(
            "onetwothree\nfour",
            3,
            1,
            Cut(
                "one\n[line 1 has 11 characters, the first 3 are shown; continue at line 2:"
                ' the same call with "start_line": 2]',
                2,
            ),
            id="a first line that is too long",
        ),
        pytest.param(
            "onetwothree",
            3,
            1,
            Cut("one\n[line 1 has 11 characters, the first 3 are shown]", 2),
            id="the only line",
        ),
    ],
)  # fmt: skip
def test_a_result_is_cut_with_a_note_where_to_go_on(text, characters, first, shown):
    assert cut(text, characters, first) == shown
    assert first != 1 or cut(text, characters) == shown


@pytest.mark.parametrize(
    "line, expected",
    [(1, "a\nb"), (2, "b"), (3, None), (0, None), (-1, None)],
)
def test_a_text_from_a_line_on(line, expected):
    assert from_line("a\nb", line) == expected


@given(st.text("ab\n", max_size=200), st.integers(1, 60))
def test_going_on_comes_to_the_end_and_misses_no_line_that_fits(text, characters):
    read: list[str] = []
    line: int | None = 1
    while line is not None and (rest := from_line(text, line)) is not None:
        shown = cut(rest, characters, line)
        assert shown.next_line is None or shown.next_line > line
        kept = shown.text if shown.next_line is None else shown.text.rsplit("\n", 1)[0]
        read += kept.split("\n")
        line = shown.next_line

    assert [one if len(one) <= characters else one[:characters] for one in text.split("\n")] == read


def test_what_was_cut_off_is_not_referred_to():
    references = [
        Reference("read", "a.md", (5, 90)),
        Reference("search", "b.md", (1, 2)),
        Reference("search", "c.md", (3, 4)),
    ]

    assert seen(references, Cut("b.md:1-2\ntext", 21)) == (
        Reference("read", "a.md", (5, 20)),
        Reference("search", "b.md", (1, 2)),
    )
    assert seen(references, Cut("whole")) == tuple(references)


def test_results_are_put_away_once_and_only_where_that_is_shorter():
    call = ToolCall("1", "read", "{}")
    long, short = result(call, "line\n" * 50), result(call, "ok")
    rounds = (Round(asked("look", [call]), (long, short)),)

    [away] = put_away(rounds)

    stub = "[put away to make room: 51 lines; call again if needed]"
    assert away.results == (Message("tool", stub, ToolResult("1", "read")), short)
    assert away.said == rounds[0].said
    assert put_away((away,)) == (away,)


@pytest.mark.parametrize(
    "text, expected",
    [
        pytest.param("x" * 54, "[put away to make room: 1 line; call again if needed]", id="one line"),
        pytest.param("x" * 53, "x" * 53, id="as long as what would stand for it"),
        pytest.param("x\n" + "x" * 60, "[put away to make room: 2 lines; call again if needed]", id="two lines"),
    ],
)  # fmt: skip
def test_one_line_stands_for_a_result(text, expected):
    [away] = put_away((Round(asked("", []), (result(ToolCall("1", "read", ""), text),)),))

    assert [message.text for message in away.results] == [expected]


@pytest.mark.parametrize(
    "arguments, expected",
    [
        pytest.param("", {}, id="none"),
        pytest.param('{"a": 1}', {"a": 1}, id="an object"),
        pytest.param("[1]", "the arguments must be one JSON object", id="a list"),
    ],
)
def test_arguments_are_one_object(arguments, expected):
    assert arguments_of(ToolCall("1", "read", arguments)) == expected


def test_what_the_model_said_goes_with_its_calls():
    call = ToolCall("1", "read", "{}")

    assert asked("let me look", [call]) == Message("assistant", "let me look", ToolCalls((call,)))


@pytest.mark.parametrize(
    "arguments, shown",
    [
        pytest.param(
            '{"path": "a.md", "start_line": 3}', "path=a.md, start_line=3", id="an object"
        ),
        pytest.param("{}", "", id="nothing"),
        pytest.param('{"a": ["é", null]}', 'a=["é", null]', id="other values as JSON"),
        pytest.param('{"text": "' + "x" * 75 + '"}', "text=" + "x" * 75, id="just short enough"),
        pytest.param("not\n json", "not json", id="no JSON"),
        pytest.param('{"text": "' + "x" * 200 + '"}', "text=" + "x" * 74 + "…", id="long"),
    ],
)
def test_arguments_are_shown_in_one_short_line(arguments, shown):
    call = ToolCall("1", "read", arguments)

    assert brief(call) == shown
    assert tools_used([asked("", [call])]) == [f"read {shown}".rstrip()]
