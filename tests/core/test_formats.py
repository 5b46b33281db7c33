"""What services bill, as sums that can be checked by eye: one token per word."""

import pytest

from sill.core.formats import Billed, billed, chat_of
from sill.core.formats.chat import Function
from sill.core.formats.typescript import namespace


def words(text):
    return len(text.split())


def user(text):
    return {"role": "user", "content": text}


def call(*names, arguments="{}"):
    calls = [
        {"id": f"id{n}", "type": "function", "function": {"name": name, "arguments": arguments}}
        for n, name in enumerate(names)
    ]
    return {"role": "assistant", "content": None, "tool_calls": calls}


def result(number, text):
    return {"role": "tool", "tool_call_id": f"id{number}", "content": text}


TOOL = {"type": "function", "function": {"name": "look", "description": "Looks around."}}
SYSTEM = {"role": "system", "content": "be kind"}


@pytest.mark.parametrize(
    "style, messages, expected",
    [
        pytest.param(
            "gpt-4", [user("one two")], 3 + 1 + 2 + 3, id="three, a role, the text, a reply"
        ),
        pytest.param("gpt-4o", [SYSTEM, user("hi")], 2 * 4 + 3 + 3, id="two messages"),
        pytest.param("gpt-3.5", [{**SYSTEM, "name": "ann"}], 4 + 2 + 2 + 3, id="a name and one"),
        pytest.param("gpt-4", [], 3, id="nothing said"),
        pytest.param("gpt-4", [user(None)], 4 + 3, id="null content"),
        pytest.param("harmony", [user("one two")], 4 + 2 + 2, id="harmony"),
        pytest.param("harmony", [SYSTEM, user("hi")], 2 * 4 + 3 + 2, id="harmony with system"),
        pytest.param("mistral", [SYSTEM, user("hi")], 1 + 2 * 2 + 3, id="mistral"),
        pytest.param(
            "mistral",
            [user("hi"), {"role": "assistant", "content": "yes"}, user("and")],
            1 + 3 + 2 + 3,
            id="mistral ends an answer with one",
        ),
        pytest.param(
            "mistral-small", [user("hi")], 1 + 3 + 12, id="the small one bills twelve more"
        ),
    ],
)
def test_plain_talk_is_billed_exactly(style, messages, expected):
    assert billed(chat_of({"messages": messages}), style, words) == Billed(expected, "exact")


@pytest.mark.parametrize(
    "style, body, expected",
    [
        pytest.param(
            "gpt-4",
            {"messages": [user("hi"), call("f", arguments="a b"), result(0, "sunny")]},
            3 + (4 + 1) + (4 + 1 + 2) + (3 + 1 + 1),
            id="one call and its result",
        ),
        pytest.param(
            "gpt-4o",
            {"messages": [user("hi"), call("f", arguments="a b"), result(0, "sunny")]},
            3 + (4 + 1) + (4 + 1 + 2) + (3 + 1 + 3 + 1),
            id="newer models say where a result goes",
        ),
        pytest.param(
            "gpt-4",
            {"messages": [call("f", "g"), result(0, "x y"), result(1, "z")]},
            3 + (4 + 1 + 9) + (3 + 1) + 3,
            id="calls made at once are one call",
        ),
        pytest.param(
            "harmony",
            {"messages": [call("f", arguments="a b"), result(0, "sunny")]},
            2 + (8 + 1 + 2) + (8 + 1 + 1),
            id="harmony calls",
        ),
        pytest.param(
            "gpt-3.5",
            {"messages": [user("hi"), {"role": "function", "name": "f", "content": "{}"}]},
            3 + 5 + (3 + 1 + 1),
            id="the result of a function of old",
        ),
        pytest.param(
            "gpt-4",
            {"messages": [SYSTEM], "tools": [TOOL]},
            3 + (4 + 2) + 9 + 3 + 3 + 7 + 3 - 4 - 0,
            id="declarations join the system message",
        ),
        pytest.param(
            "gpt-4",
            {"messages": [user("hi")], "tools": [TOOL], "tool_choice": "none"},
            3 + 5 + 9 + 16 + 1,
            id="a choice of none costs one",
        ),
        pytest.param(
            "gpt-4",
            {
                "messages": [user("hi")],
                "tools": [TOOL],
                "tool_choice": {"type": "function", "function": {"name": "look"}},
            },
            3 + 5 + 9 + 16 + 7 + 1,
            id="a forced tool costs its name and seven",
        ),
        pytest.param(
            "gpt-4",
            {"messages": [user("hi")], "functions": [TOOL["function"]], "function_call": {"name": "look"}},
            3 + 5 + 9 + 16 + 4 + 1,
            id="a forced function of old its name and four",
        ),
    ],
)  # fmt: skip
def test_tools_are_bounded(style, body, expected):
    assert billed(chat_of(body), style, words) == Billed(expected, "bound")


WEATHER = Function(
    "weather",
    "Tells the weather.\n  In a place.",
    {
        "type": "object",
        "properties": {
            "place": {"type": "string", "description": "Where"},
            "unit": {"enum": ["C", "F"]},
            "at": {
                "type": "object",
                "properties": {"lat": {"type": "number", "description": "north"}, "tags": {"type": "array", "items": {"type": "string"}}},
                "required": ["lat"],
            },
            "mood": {"anyOf": [{"type": "string"}, {"type": "null"}], "default": None},
        },
        "required": ["place"],
    },
)  # fmt: skip
PLAIN = Function("plain", "", {"type": "object", "properties": {"a": {"type": "integer"}, "b": {"const": "x"}}})  # fmt: skip


def test_the_late_dialect_writes_objects_without_comments_on_one_line():
    assert namespace([WEATHER, PLAIN, Function("empty", "", {})], "late") == (
        "namespace functions {\n\n"
        "// Tells the weather.\nIn a place.\n"
        "type weather = (_: {\n// Where\nplace: string,\n"
        'unit?: "C" | "F",\nat?: {\n// north\nlat: number,\ntags?: string[],\n},\n'
        "mood?: string | null, // default: null\n}) => any;\n\n"
        'type plain = (_: { a?: number, b?: "x" }) => any;\n\n'
        "type empty = () => any;\n\n"
        "} // namespace functions"
    )


def test_the_early_dialect_indents_nested_objects_and_forgets_their_comments():
    assert namespace([WEATHER, PLAIN], "early") == (
        "namespace functions {\n\n"
        "// Tells the weather.\nIn a place.\n"
        "type weather = (_: {\n// Where\nplace: string,\n"
        'unit?: "C" | "F",\nat?: {\n  lat: number,\n  tags?: string[],\n},\n'
        "mood?: string | null,\n}) => any;\n\n"
        "type plain = (_: {\na?: number,\nb?: any,\n}) => any;\n\n"
        "} // namespace functions"
    )


@pytest.mark.parametrize(
    "body",
    [
        pytest.param({}, id="no messages"),
        pytest.param({"messages": None, "tools": None}, id="nulls"),
        pytest.param({"messages": "text"}, id="not a list"),
        pytest.param({"messages": [3, None, "x", {}]}, id="not messages"),
        pytest.param({"messages": [{"role": 7, "content": 9, "name": 3}]}, id="numbers"),
        pytest.param(
            {"messages": [{"role": "user", "content": [{"type": "new"}]}]}, id="a new part"
        ),
        pytest.param({"messages": [], "tools": [{"type": "other"}, {}]}, id="unknown tools"),
        pytest.param(
            {
                "messages": [],
                "tools": [
                    {"function": {"parameters": {"properties": {"a": 3, "b": {"type": []}}}}}
                ],
            },
            id="odd schemas",
        ),
        pytest.param({"messages": [], "response_format": {"type": "json_schema"}}, id="no schema"),
    ],
)
@pytest.mark.parametrize(
    "style",
    ["gpt-3.5", "gpt-4", "gpt-4o", "o1-mini", "harmony", "gpt-oss", "mistral", "tekken", "chatml", "deepseek", "llama3", "llama4", "agent"],
)  # fmt: skip
def test_any_body_can_be_counted(style, body):
    assert billed(chat_of(body), style, words).tokens >= 0


def test_pictures_are_counted_above_their_price():
    parts = [{"type": "text", "text": "see"}, {"type": "image_url", "image_url": {"url": "x"}}]

    assert billed(chat_of({"messages": [user(parts)]}), "gpt-4o", words) == Billed(1608, "bound")
