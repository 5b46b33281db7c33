import pytest
from hypothesis import given
from hypothesis import strategies as st

from sill.core.edits import Splice, splice
from sill.core.merge import Clash, merge

BASE = "1\n2\n3\n4\n5\n6\n7\n"


def merged(base, mine, theirs):
    result = merge(base, mine, theirs)
    return splice(mine, [Splice(c.start, c.end, 0, c.new) for c in result.cuts]), result.clashes


@pytest.mark.parametrize(
    "mine, theirs, expected",
    [
        pytest.param(
            BASE, "1\nx\n3\n4\n5\n6\n7\n", "1\nx\n3\n4\n5\n6\n7\n", id="only they changed"
        ),
        pytest.param("x\n" + BASE[2:], BASE, "x\n" + BASE[2:], id="only I changed"),
        pytest.param("x\n" + BASE[2:], BASE + "8\n", "x\n" + BASE[2:] + "8\n", id="apart"),
        pytest.param(
            "0\n" + BASE, BASE[:-2] + "seven\n", "0\n" + BASE[:-2] + "seven\n", id="shifted"
        ),
        pytest.param(
            "1\nx\n" + BASE[4:], "1\nx\n" + BASE[4:], "1\nx\n" + BASE[4:], id="same change"
        ),
        pytest.param("1\n4\n5\n6\n7\n", BASE[:-2] + "!\n", "1\n4\n5\n6\n!\n", id="I removed"),
        pytest.param(
            "1\r\n2\r\n3\n4\n5\n6\n7\n",
            "1\n2\n3\n4\n5\n6\n7",
            "1\r\n2\r\n3\n4\n5\n6\n7",
            id="endings",
        ),
    ],
)
def test_changes_that_do_not_touch_merge(mine, theirs, expected):
    assert merged(BASE, mine, theirs) == (expected, ())


@pytest.mark.parametrize(
    "mine, theirs, clash",
    [
        pytest.param(
            "m\n" + BASE[2:], "t\n" + BASE[2:], Clash(1, "1\n", "m\n", "t\n"), id="same line"
        ),
        pytest.param(
            "m\n" + BASE[2:],
            "1\nt\n" + BASE[4:],
            Clash(1, "1\n2\n", "m\n2\n", "1\nt\n"),
            id="lines that touch",
        ),
        pytest.param(BASE + "m\n", BASE + "t\n", Clash(8, "", "m\n", "t\n"), id="both add"),
    ],
)
def test_changes_that_touch_clash(mine, theirs, clash):
    assert merged(BASE, mine, theirs) == (mine, (clash,))


def test_what_does_not_clash_is_still_merged():
    mine, theirs = "m\n2\n3\n4\n5\n6\n7\n", "t\n2\n3\n4\n5\n6\nt\n"

    assert merged(BASE, mine, theirs) == ("m\n2\n3\n4\n5\n6\nt\n", (Clash(1, "1\n", "m\n", "t\n"),))


lines = st.lists(st.sampled_from(["a\n", "b\n", "c\n", "d"]), max_size=12).map("".join)


@given(lines, lines)
def test_their_change_to_an_unchanged_text_is_their_text(base, theirs):
    assert merged(base, base, theirs) == (theirs, ())


@given(lines, lines)
def test_nothing_new_from_them_leaves_my_text(base, mine):
    assert merged(base, mine, base) == (mine, ())
    assert merged(base, mine, mine) == (mine, ())


@given(lines, lines, lines)
def test_merging_is_symmetric_when_nothing_clashes(base, one, other):
    ours, clashes = merged(base, one, other)
    theirs, reverse = merged(base, other, one)

    assert bool(clashes) == bool(reverse)
    if not clashes:
        assert ours == theirs
