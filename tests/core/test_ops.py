import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sill.core.ops import (
    Anchor,
    AtCursor,
    Delete,
    Insert,
    Patch,
    Problem,
    Replace,
    Selected,
    Span,
    Whole,
    op_body,
    read_op,
)

F = {"target_file": "a.md"}


@pytest.mark.parametrize(
    "body, expected",
    [
        pytest.param(
            {"op": "insert", **F, "target": "document", "content": "x"},
            Insert("a.md", Whole(), "x"),
            id="insert into a document",
        ),
        pytest.param(
            {"op": "insert", **F, "target": "cursor", "content": "x"},
            Insert("a.md", AtCursor(), "x"),
            id="insert at the cursor",
        ),
        pytest.param(
            {"op": "replace", **F, "target": "selection", "content": ""},
            Replace("a.md", Selected(), ""),
            id="replace the selection",
        ),
        pytest.param(
            {"op": "delete", **F, "target": "document"}, Delete("a.md", Whole()), id="delete"
        ),
        pytest.param(
            {
                "op": "insert",
                **F,
                "target": "anchor",
                "anchor": "a",
                "place": "before",
                "content": "",
            },
            Insert("a.md", Anchor("a"), "", "before"),
            id="insert before an anchor",
        ),
        pytest.param(
            {"op": "delete", **F, "target": "anchor", "anchor": "a", "before": "b", "after": "c"},
            Delete("a.md", Anchor("a", "b", "c")),
            id="anchor with context",
        ),
        pytest.param(
            {"op": "patch", **F, "patch_lines": ["@@", "+x"]},
            Patch("a.md", ("@@", "+x")),
            id="patch",
        ),
        pytest.param(
            {"op": "patch", **F, "target": "document", "patch_lines": []},
            Patch("a.md", ()),
            id="patch that names its only target",
        ),
    ],
)
def test_an_op_is_read(body, expected):
    assert read_op(body, 0) == expected


@pytest.mark.parametrize(
    "body, path, reason, detail",
    [
        pytest.param([], "", "not an object", "", id="a list"),
        pytest.param({"op": "delete"}, "", "field missing", "target_file", id="no file"),
        pytest.param({"target_file": 3}, "", "wrong type", "target_file", id="file is a number"),
        pytest.param(
            {"target_file": "\ud800"}, "", "not valid text", "target_file", id="surrogate"
        ),
        pytest.param({**F}, "a.md", "field missing", "op", id="no op"),
        pytest.param({**F, "op": "move"}, "a.md", "unknown op", "move", id="unknown op"),
        pytest.param({**F, "op": "delete"}, "a.md", "field missing", "target", id="no target"),
        pytest.param(
            {**F, "op": "delete", "target": "cursor"},
            "a.md",
            "unknown target",
            "delete on cursor",
            id="a cursor holds no text",
        ),
        pytest.param(
            {**F, "op": "insert", "target": "document"},
            "a.md",
            "field missing",
            "content",
            id="no content",
        ),
        pytest.param(
            {**F, "op": "insert", "target": "document", "content": None},
            "a.md",
            "wrong type",
            "content",
            id="content is null",
        ),
        pytest.param(
            {**F, "op": "delete", "target": "document", "content": "x"},
            "a.md",
            "unknown field",
            "content",
            id="delete with content",
        ),
        pytest.param(
            {**F, "op": "delete", "target": "document", "why": 1, "how": 2},
            "a.md",
            "unknown field",
            "how, why",
            id="fields nobody knows",
        ),
        pytest.param(
            {**F, "op": "delete", "target": "anchor", "anchor": ""},
            "a.md",
            "wrong type",
            "anchor is empty",
            id="empty anchor",
        ),
        pytest.param(
            {**F, "op": "insert", "target": "anchor", "anchor": "a", "place": "in", "content": ""},
            "a.md",
            "wrong type",
            "place is before or after",
            id="no such place",
        ),
        pytest.param(
            {**F, "op": "patch", "patch_lines": "@@"},
            "a.md",
            "wrong type",
            "patch_lines",
            id="patch is not a list",
        ),
        pytest.param(
            {**F, "op": "patch", "patch_lines": ["\0"]},
            "a.md",
            "not valid text",
            "patch_lines",
            id="NUL",
        ),
        pytest.param(
            {**F, "op": "delete", "target": "span", "span": [0, 1]},
            "a.md",
            "unknown target",
            "delete on span",
            id="a model may not name spans",
        ),
    ],
)
def test_what_is_wrong_with_an_op_is_named(body, path, reason, detail):
    assert read_op(body, 4) == Problem(4, path, reason, detail)


texts = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=5)
anchors = st.builds(Anchor, texts.filter(bool), texts, texts)
spans = st.tuples(st.integers(0, 9), st.integers(0, 9)).map(lambda two: Span(*sorted(two)))
targets = st.sampled_from([Whole(), Selected()]) | anchors | spans
ops = (
    st.builds(Insert, texts, st.just(AtCursor()) | targets, texts)
    | st.builds(Insert, texts, anchors, texts, st.sampled_from(["before", "after"]))
    | st.builds(Replace, texts, targets, texts)
    | st.builds(Delete, texts, targets)
    | st.builds(Patch, texts, st.lists(texts, max_size=3).map(tuple))
)


@given(ops)
def test_an_op_comes_back_from_its_json(op):
    assert read_op(json.loads(json.dumps(op_body(op))), 0, trusted=True) == op
