import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sill.core import deltas

FILE = "".join(f"line {number}\n" for number in range(40))


@pytest.mark.parametrize(
    "base, new, expected",
    [
        pytest.param("same\n", "same\n", "", id="no change"),
        pytest.param("", "a\n", "@@ -0,0 +1,1 @@\n+a", id="from nothing"),
        pytest.param("a\n", "", "@@ -1,1 +0,0 @@\n-a", id="to nothing"),
        pytest.param(
            "a\nb",
            "a\nb\n",
            "@@ -1,2 +1,2 @@\n a\n-b\n\\ No newline at end of file\n+b",
            id="only the last newline",
        ),
        pytest.param("a\r\n", "a\n", "@@ -1,1 +1,1 @@\n-a\r\n+a", id="line ends are text"),
        pytest.param(
            FILE,
            FILE.replace("line 9\n", "line nine\n"),
            "@@ -9,3 +9,3 @@\n line 8\n-line 9\n+line nine\n line 10",
            id="one line in the middle",
        ),
        pytest.param(
            FILE,
            FILE.replace("line 9\n", "").replace("line 30\n", "line 30\nmore\n"),
            "@@ -9,3 +9,2 @@\n line 8\n-line 9\n line 10\n"
            "@@ -31,2 +30,3 @@\n line 30\n+more\n line 31",
            id="two hunks",
        ),
    ],
)
def test_a_delta_has_one_exact_form(base, new, expected):
    assert deltas.make(base, new) == expected
    assert deltas.apply(base, expected) == new


lines = st.sampled_from(
    ["a", "b", "", " ", "+", "-", "@@", "\\ No newline at end of file", "é\u2028"]
)
texts = st.lists(lines, max_size=12).flatmap(
    lambda found: st.sampled_from(["\n".join(found), "\r\n".join(found)])
)
any_text = (
    texts | st.text(alphabet="ab\n\r\x00\x0c\x85\u2028\\+- @", max_size=40) | st.text(max_size=20)
)


@settings(max_examples=2_000)
@given(any_text, any_text)
def test_a_delta_reproduces_every_text_exactly(base, new):
    diff = deltas.make(base, new)

    assert deltas.apply(base, diff) == new
    assert deltas.make(base, new) == diff


@pytest.mark.parametrize("diff", ["nonsense", "@@ -1,1 +1,1 @@\n-x\n+y", "@@ -9,1 +9,1 @@\n-a\n+b"])
def test_a_delta_that_does_not_fit_gives_nothing(diff):
    assert deltas.apply("a\n", diff) is None


def test_a_rewritten_file_is_one_hunk_and_takes_no_search():
    base = "".join(f"old {number}\n" for number in range(3_000))
    new = "".join(f"new {number}\n" for number in range(3_000))
    diff = deltas.make(base, new)

    assert diff.count("@@ -") == 1
    assert deltas.apply(base, diff) == new
