import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from sill.core.edits import Change, Edited, Placement, Rejected, Scope, edit
from sill.core.ops import (
    Anchor,
    AtCursor,
    Delete,
    HunkTrouble,
    Insert,
    Patch,
    Problem,
    Replace,
    Selected,
    Span,
    Whole,
)

A, NEW = "a.md", "new.md"
MADE = Patch(NEW, ("--- /dev/null", "+++ b/new.md", "@@ -0,0 +1,2 @@", "+a", "+b"))


def after(text, op, **scope):
    """The text of a.md after one operation, or what is wrong with it."""
    result = edit(Scope({A: text, NEW: None}, active=A, **scope), [op])
    if isinstance(result, Rejected):
        return result.problems
    return {path: change.after for path, change in result.changes.items()}


@pytest.mark.parametrize(
    "text, op, expected",
    [
        pytest.param("a\n", Insert(A, Whole(), "b"), "a\nb\n", id="insert adds a line"),
        pytest.param("a", Insert(A, Whole(), "b\n"), "a\nb", id="an open end stays open"),
        pytest.param("", Insert(A, Whole(), "b\r\n"), "b\r\n", id="an empty text takes it as it is"),
        pytest.param("a\r\n", Insert(A, Whole(), "b\nc"), "a\r\nb\r\nc\r\n", id="endings adapt"),
        pytest.param("a\r\n", Replace(A, Whole(), "b\nc"), "b\r\nc\r\n", id="also for the whole"),
        pytest.param("a", Replace(A, Whole(), "b\n"), "b", id="the whole keeps its open end"),
        pytest.param("\ufeffa\n", Replace(A, Whole(), "b"), "\ufeffb\n", id="the mark stays"),
        pytest.param("a\n", Replace(A, Whole(), ""), "", id="emptied"),
        pytest.param("a\n", Delete(A, Whole()), None, id="removed"),
        pytest.param("one two", Replace(A, Anchor("one"), "1"), "1 two", id="inside a line"),
        pytest.param(
            "a b a c", Replace(A, Anchor("a", after=" c"), "x"), "a b x c", id="context decides"
        ),
        pytest.param(
            "a b a c", Replace(A, Anchor("a", before="b "), "x"), "a b x c", id="context before"
        ),
        pytest.param(
            "x\r\ny\r\nz", Replace(A, Anchor("x\ny"), "1\n2"), "1\r\n2\r\nz", id="anchor over CR LF"
        ),
        pytest.param(
            "x\r\ny\r\nz", Replace(A, Anchor("y", "x\n", "\nz"), "2"), "x\r\n2\r\nz",
            id="context over CR LF",
        ),
        pytest.param("x\ny\n", Replace(A, Anchor("x"), "1\n"), "1\ny\n", id="whole line, newline"),
        pytest.param("x\ny\n", Replace(A, Anchor("x\n"), "1"), "1\ny\n", id="newline is kept"),
        pytest.param("x\ny\n", Delete(A, Anchor("x")), "y\n", id="a whole line goes whole"),
        pytest.param("x\ny", Delete(A, Anchor("y")), "x\n", id="the last line too"),
        pytest.param("xy z\n", Delete(A, Anchor("y ")), "xz\n", id="part of a line"),
        pytest.param("# h\nt\n", Insert(A, Anchor("# h"), "n"), "# h\nn\nt\n", id="after a line"),
        pytest.param(
            "# h\nt\n", Insert(A, Anchor("# h"), "n", "before"), "n\n# h\nt\n", id="before a line"
        ),
        pytest.param("a b", Insert(A, Anchor("a"), "!"), "a! b", id="after a word"),
        pytest.param("h", Insert(A, Anchor("h"), "n"), "h\nn", id="after the last, open line"),
        pytest.param("abc", Replace(A, Span(1, 2), "\n"), "a\nc", id="spans are exact"),
        pytest.param("a\r\nb", Replace(A, Span(1, 3), "\n"), "a\nb", id="even their newlines"),
        pytest.param("abc", Insert(A, Span(1, 2), "!"), "ab!c", id="behind a span"),
        pytest.param("abc", Insert(A, Span(1, 2), "!", "before"), "a!bc", id="before a span"),
        pytest.param("abc", Delete(A, Span(1, 2)), "ac", id="without a span"),
        pytest.param("a b", Insert(A, Anchor("b"), "!", "before"), "a !b", id="before a word"),
        pytest.param("x\ny\n", Replace(A, Anchor("x\n"), ""), "y\n", id="a line becomes nothing"),
        pytest.param("one two", Replace(A, Anchor("one"), "1\n"), "1\n two", id="a newline within a line stays"),
        pytest.param("ab\r\nc", Replace(A, Anchor("b"), "1\n2"), "a1\r\n2\r\nc", id="endings adapt within a line"),
        pytest.param("x\r\n", Insert(A, Anchor("x"), "1\n2", "before"), "1\r\n2\r\nx\r\n", id="and before one"),
        pytest.param("\ufeffa\n", Replace(A, Whole(), "\ufeffb"), "\ufeffb\n", id="a mark is not doubled"),
        pytest.param("a\n\nb\n", Delete(A, Anchor("a\n")), "\nb\n", id="the empty line behind stays"),
    ],
)  # fmt: skip
def test_where_an_op_goes(text, op, expected):
    assert after(text, op) == {A: expected}


@pytest.mark.parametrize(
    "op, scope, expected",
    [
        pytest.param(Insert(A, AtCursor(), "\n"), {"cursor": 1}, "a\r\nb\r\nc", id="cursor"),
        pytest.param(
            Replace(A, Selected(), "X"), {"selection": Span(0, 2)}, "X\r\nc", id="selection"
        ),
        pytest.param(Delete(A, Selected()), {"selection": Span(1, 2)}, "a\r\nc", id="deleted"),
        pytest.param(
            Insert(A, Selected(), "!"), {"selection": Span(0, 1)}, "a!b\r\nc", id="behind it"
        ),
        pytest.param(
            Replace(A, Selected(), "X\n"), {"selection": Span(0, 2)}, "X\r\nc", id="whole line"
        ),
        pytest.param(
            Replace(A, Selected(), "X"), {"selection": Span(4, 5)}, "ab\r\nX", id="up to the end"
        ),
    ],
)
def test_selection_and_cursor(op, scope, expected):
    assert after("ab\r\nc", op, **scope) == {A: expected}


@pytest.mark.parametrize(
    "op, reason",
    [
        pytest.param(Insert("other.md", Whole(), ""), "not a file of the request", id="file"),
        pytest.param(Delete(NEW, Whole()), "no such document", id="nothing to delete"),
        pytest.param(Insert(NEW, Anchor("x"), ""), "no such document", id="nothing to find"),
        pytest.param(Replace(A, Anchor("x"), ""), "text not found", id="not found"),
        pytest.param(Replace(A, Anchor("aa"), ""), "text not unique", id="overlapping twice"),
        pytest.param(Delete(A, Selected()), "no selection", id="no selection"),
        pytest.param(Insert(A, AtCursor(), ""), "no cursor", id="no cursor"),
        pytest.param(Delete(A, Span(0, 99)), "outside the document", id="outside"),
    ],
)
def test_one_bad_op_rejects_them_all(op, reason):
    ops = [Insert(A, Whole(), "fine"), op]

    assert edit(Scope({A: "aaa", NEW: None}), ops) == Rejected((Problem(1, op.path, reason),))


@pytest.mark.parametrize(
    "scope, reason",
    [
        pytest.param(
            Scope({A: "abc", "b.md": ""}, "b.md", Span(0, 1)), "no selection", id="elsewhere"
        ),
        pytest.param(Scope({A: "abc"}, A, Span(2, 9)), "outside the document", id="too long"),
        pytest.param(Scope({A: "abc"}, A, Span(2, 1)), "outside the document", id="backwards"),
    ],
)
def test_a_selection_that_is_not_there(scope, reason):
    assert edit(scope, [Delete(A, Selected())]) == Rejected((Problem(0, A, reason),))


@pytest.mark.parametrize(
    "ops, clashing",
    [
        pytest.param([Replace(A, Span(0, 2), "x"), Delete(A, Span(1, 3))], [1], id="overlap"),
        pytest.param([Delete(A, Span(1, 3)), Replace(A, Span(0, 2), "x")], [1], id="later one"),
        pytest.param([Delete(A, Whole()), Insert(A, Whole(), "x")], [1], id="whole and more"),
        pytest.param([Insert(A, Whole(), "x"), Replace(A, Whole(), "y")], [1], id="more and whole"),
        pytest.param([Insert(NEW, Whole(), "x"), Insert(NEW, Whole(), "y")], [1], id="made twice"),
        pytest.param([MADE, MADE], [1], id="made by two patches"),
        pytest.param([MADE, MADE, Insert(NEW, Whole(), "y")], [1, 2], id="made by patches"),
        pytest.param(
            [Replace(A, Anchor("bc"), "x"), Replace(A, Anchor("cd"), "y")], [1], id="anchors"
        ),
        pytest.param(
            [Delete(A, Span(0, 2)), Patch(A, ("@@ -1 +1 @@", "-abcdef", "+x"))], [1], id="a patch"
        ),
    ],
)
def test_overlapping_ops_are_rejected(ops, clashing):
    problems = tuple(Problem(number, ops[0].path, "edits overlap") for number in clashing)

    assert edit(Scope({A: "abcdef", NEW: None}), ops) == Rejected(problems)


def test_every_problem_is_told_in_the_order_of_the_ops():
    ops = [
        Delete("other.md", Whole()),
        Replace(A, Span(0, 2), "x"),
        Delete(A, Span(1, 3)),
        Delete("another.md", Whole()),
        Replace(A, Anchor("z"), ""),
    ]

    assert edit(Scope({A: "abcdef"}), ops) == Rejected(
        (
            Problem(0, "other.md", "not a file of the request"),
            Problem(2, A, "edits overlap"),
            Problem(3, "another.md", "not a file of the request"),
            Problem(4, A, "text not found"),
        )
    )


def test_a_cursor_in_another_document_is_none():
    scope = Scope({A: "abc", "b.md": ""}, "b.md", cursor=1)

    assert edit(scope, [Insert(A, AtCursor(), "x")]) == Rejected((Problem(0, A, "no cursor"),))


MISSING = HunkTrouble(1, "@@ -2 +2 @@", "three", "two")


@pytest.mark.parametrize(
    "path, lines, expected",
    [
        pytest.param(
            A, ("@@ -1 +1 @@", " one"),
            Problem(1, A, "patch unreadable", "it holds no added or removed line"), id="it changes nothing",
        ),
        pytest.param(
            NEW, ("@@ -1 +1 @@", " one"),
            Problem(1, NEW, "patch unreadable", "it holds no added or removed line"), id="nothing for a new file",
        ),
        pytest.param(
            A, ("--- /dev/null", "+++ b/a.md", "@@ -0,0 +1 @@", "+x"),
            Problem(1, A, "patch does not fit", "the document exists already"), id="a file that is there",
        ),
        pytest.param(
            A, ("@@ -1 +1 @@", "-one", "+1", "@@ -2 +2 @@", "-three", "+3"),
            Problem(1, A, "patch does not fit", "hunk 2", MISSING), id="its second hunk",
        ),
    ],
)  # fmt: skip
def test_a_patch_that_cannot_be_used(path, lines, expected):
    ops = [Insert("b.md", Whole(), "fine"), Patch(path, lines)]

    assert edit(Scope({A: "one\ntwo\n", "b.md": "", NEW: None}), ops) == Rejected((expected,))


def test_how_a_patch_was_bent_is_told():
    ops = [Insert("b.md", Whole(), "x"), Patch(A, ("@@ -1,9 +1,9 @@", " one", "-two ", "+2"))]

    assert edit(Scope({A: "zero\none\ntwo\n", "b.md": ""}), ops) == Edited(
        {"b.md": Change("", "x"), A: Change("zero\none\ntwo\n", "zero\none\n2\n")},
        (Placement(1, A, fuzz=1, offset=1, normalizations=("counts repaired",)),),
    )


def test_several_ops_refer_to_the_text_as_it_was():
    ops = [
        Insert(A, Whole(), "last"),
        Replace(A, Anchor("one"), "three"),
        Replace(A, Anchor("three"), "one"),
        Insert(NEW, Whole(), "made"),
        Delete("b.md", Whole()),
        Replace("c.md", Whole(), "same"),
    ]
    documents = {A: "one three", "b.md": "b", "c.md": "same", NEW: None}

    assert edit(Scope(documents), ops) == Edited(
        {
            A: Change("one three", "three one\nlast"),
            NEW: Change(None, "made"),
            "b.md": Change("b", None),
        }
    )


def test_a_patch_can_make_a_file():
    assert edit(Scope({NEW: None}), [MADE]) == Edited(
        {NEW: Change(None, "a\nb\n")}, (Placement(0, NEW),)
    )


endings = st.sampled_from(["\n", "\r\n", "\r"])
line = st.text(st.sampled_from("ab \t\ufeff\u2028`+-@"), max_size=4)
documents = st.tuples(
    st.sampled_from(["", "\ufeff"]),
    st.lists(st.tuples(line, endings).map("".join), max_size=8).map("".join),
    line,
).map("".join)


@given(documents, st.data())
def test_everything_outside_a_span_stays(text, data):
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, len(text)))
    new = data.draw(line)
    result = edit(Scope({A: text}), [Replace(A, Span(start, end), new)])

    assert isinstance(result, Edited)
    changed = result.changes[A].after if result.changes else text
    assert changed == text[:start] + new + text[end:]


@given(documents, line)
@example("a\r\n", "b")
def test_an_added_line_leaves_all_others_alone(text, added):
    result = edit(Scope({A: text}), [Insert(A, Whole(), added)])

    assert isinstance(result, Edited)
    changed = result.changes[A].after if result.changes else text
    assert changed.startswith(text)
    assert added in changed[len(text) :]
