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
        pytest.param(
            {**F, "op": "delete", "target": "document", "span": [0, 1]},
            "a.md",
            "unknown field",
            "span",
            id="nor beside another target",
        ),
        pytest.param(
            {**F, "op": "insert", "target": "document", "content": "\ud800"},
            "a.md",
            "not valid text",
            "content",
            id="content is no text",
        ),
        pytest.param(
            {**F, "op": "delete", "target": "anchor", "anchor": "a", "before": 1},
            "a.md",
            "wrong type",
            "before",
            id="context is a number",
        ),
        pytest.param(
            {**F, "op": "patch", "patch_lines": [], "why": "x"},
            "a.md",
            "unknown field",
            "why",
            id="a patch with more to say",
        ),
        pytest.param(
            {**F, "op": "patch", "target": "selection", "patch_lines": []},
            "a.md",
            "unknown target",
            "patch on selection",
            id="a patch of a part",
        ),
        pytest.param({**F, "op": 3}, "a.md", "unknown op", "int", id="op is a number"),
        pytest.param({**F, "op": "a\x1bb"}, "a.md", "unknown op", "a?b", id="control characters"),
        pytest.param({**F, "op": "x" * 60}, "a.md", "unknown op", "x" * 60, id="long"),
        pytest.param({**F, "op": "x" * 61}, "a.md", "unknown op", "x" * 59 + "…", id="too long"),
    ],
)
def test_what_is_wrong_with_an_op_is_named(body, path, reason, detail):
    assert read_op(body, 4) == Problem(4, path, reason, detail)


@pytest.mark.parametrize(
    "span, expected",
    [
        pytest.param([0, 0], Delete("a.md", Span(0, 0)), id="the very start"),
        pytest.param([0, 2], Delete("a.md", Span(0, 2)), id="from the start"),
        pytest.param((3, 3), Delete("a.md", Span(3, 3)), id="nothing"),
        pytest.param([2, 1], None, id="backwards"),
        pytest.param([-1, 2], None, id="before the start"),
        pytest.param([1], None, id="one number"),
        pytest.param([1, "2"], None, id="no number"),
        pytest.param([False, True], None, id="truth is no number"),
        pytest.param(3, None, id="not two"),
        pytest.param(None, None, id="none"),
    ],
)
def test_only_whole_spans_are_read_back(span, expected):
    body = {"op": "delete", **F, "target": "span", "span": span}

    wrong = Problem(7, "a.md", "wrong type", "span")
    assert read_op(body, 7, trusted=True) == (wrong if expected is None else expected)


def test_an_empty_anchor_is_written_down_so_that_reading_names_it():
    body = op_body(Delete("a.md", Anchor("", "b")))

    assert body == {**F, "op": "delete", "target": "anchor", "anchor": "", "before": "b"}


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
