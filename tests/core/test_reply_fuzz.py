"""Replies broken in every way we could think of: no exception, and never a part of the edits."""

import json
import random
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sill.core.edits import Rejected, Scope
from sill.core.ops import Span
from sill.core.proposal import Proposal, from_json, preview, to_json
from sill.core.reply import Format, explain, proposal_from, read_reply, repair_message

SCOPE = Scope(
    {
        "a.md": "# Title\n\none\ntwo\nthree\nfour\n",
        "b.py": "def f():\r\n    return 1\r\n",
        "c.md": "```\ncode\n```\n",
        "new.md": None,
    },
    active="a.md",
    selection=Span(9, 12),
    cursor=3,
)
OPS: list[dict[str, Any]] = [
    {"op": "insert", "target_file": "a.md", "target": "cursor", "content": "x"},
    {"op": "replace", "target_file": "a.md", "target": "selection", "content": "1"},
    {"op": "delete", "target_file": "a.md", "target": "anchor", "anchor": "three\n"},
    {"op": "insert", "target_file": "new.md", "target": "document", "content": "new\n"},
    {"op": "patch", "target_file": "b.py", "patch_lines": ["@@ -1,2 +1,2 @@", " def f():", "-    return 1", "+    return 2"]},
    {"op": "replace", "target_file": "c.md", "target": "anchor", "anchor": "code", "before": "\n", "content": "text"},
]  # fmt: skip
BLOCKS = [
    "a.md\n<<<<<<< SEARCH\none\n=======\n1\n>>>>>>> REPLACE\n",
    "b.py\n```\n<<<<<<< SEARCH\n    return 1\n=======\n    return 2\n>>>>>>> REPLACE\n```\n",
    "new.md\n<<<<<<< SEARCH\n=======\nnew\n>>>>>>> REPLACE\n",
    "c.md\n<<<<<<< DELETE\n>>>>>>> DELETE\n",
]
JUNK = ["", " ", "\0", "\ud800", "\ufeff", "{", "}", "[", '"', "\\", "\n", "\r", "```", "@@", "+++ b/x", "=======",
        "<<<<<<< SEARCH", ">>>>>>> REPLACE", "null", "1e999", "../../etc/passwd", "😀", "-" * 50]  # fmt: skip
VALUES: list[Any] = [
    None,
    True,
    0,
    -1,
    1.5,
    float("nan"),
    "",
    "x",
    "\ud800",
    [],
    [None],
    {},
    {"op": {}},
    [[]] * 3,
]


def broken_text(text: str, chance: random.Random) -> str:
    for _ in range(chance.randint(1, 3)):
        at, other = sorted(chance.randrange(len(text) + 1) for _ in range(2))
        match chance.randrange(6):
            case 0:
                text = text[:at]
            case 1:
                text = text[:at] + text[other:]
            case 2:
                text = text[:at] + chance.choice(JUNK) + text[at:]
            case 3:
                text = text[:other] + text[at:]
            case 4:
                text = text[:at] + chance.choice(JUNK) + text[other:]
            case _:
                lines = text.split("\n")
                chance.shuffle(lines)
                text = "\n".join(lines)
    return text


def broken_value(body: Any, chance: random.Random) -> Any:
    """The JSON value with one thing in it replaced, removed, added or doubled."""
    if isinstance(body, dict) and body and chance.random() < 0.8:
        key = chance.choice(list(body))
        match chance.randrange(4):
            case 0:
                return {name: value for name, value in body.items() if name != key}
            case 1:
                return {**body, chance.choice(["x", "op", "target", "span"]): chance.choice(VALUES)}
            case _:
                return {**body, key: broken_value(body[key], chance)}
    if isinstance(body, list) and body and chance.random() < 0.8:
        at = chance.randrange(len(body))
        if chance.random() < 0.2:
            return [*body, body[at]]
        return [*body[:at], broken_value(body[at], chance), *body[at + 1 :]]
    if isinstance(body, str) and chance.random() < 0.5:
        return broken_text(body, chance)
    return chance.choice(VALUES)


def broken_json(chance: random.Random) -> str:
    body: Any = {"assistant_message": "Done.", "ops": chance.sample(OPS, chance.randint(1, 4))}
    if chance.random() < 0.5:
        return broken_text(json.dumps(body), chance)
    for _ in range(chance.randint(1, 2)):
        body = broken_value(body, chance)
    return (
        chance.choice(["", "Well:\n", "```json\n"])
        + json.dumps(body)
        + chance.choice(["", "\n```"])
    )


def broken_blocks(chance: random.Random) -> str:
    return broken_text("Text.\n" + "\n".join(chance.sample(BLOCKS, chance.randint(1, 4))), chance)


def check(format: Format, text: str) -> bool:
    """Whether the reply was rejected; if not, every one of its operations must be in the result."""
    reply = read_reply(format, text, SCOPE)
    result = proposal_from(format, text, SCOPE)
    if isinstance(result, Rejected):
        assert result.problems
        assert explain(result.problems)
        assert repair_message(result.problems)
        return True
    assert isinstance(result, Proposal)
    assert not isinstance(reply, Rejected)
    assert result.ops == reply.ops
    assert from_json(to_json(result)) == result
    assert not isinstance(preview(result), Rejected)
    assert set(result.base) == {op.path for op in reply.ops} <= set(SCOPE.documents)
    return False


@pytest.mark.parametrize(
    "format, make",
    [
        pytest.param("json", broken_json, id="json"),
        pytest.param("schema", broken_json, id="schema"),
        pytest.param("blocks", broken_blocks, id="blocks"),
    ],
)
def test_a_broken_reply_never_gives_a_part_of_its_edits(
    format: Format, make: Callable[[random.Random], str]
):
    chance = random.Random(f"sill {format}")
    rejected = sum(check(format, make(chance)) for _ in range(3_400))

    # A fuzz that breaks nothing, or everything at the first character, would prove little.
    assert 1_000 < rejected < 3_400


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["op", "ops", "target", "target_file", "content", "patch_lines", "x"]),
            inner,
        )
    ),
    max_leaves=8,
)


@settings(max_examples=300)
@given(json_values)
def test_any_json_is_answered(body):
    check("json", json.dumps({"ops": [body]}))
    check("json", json.dumps(body))


@settings(max_examples=300)
@given(st.text(), st.sampled_from(["json", "schema", "blocks"]))
def test_any_text_is_answered(text, format):
    check(format, text)
