"""An answer on a real screen: every line once in the scrollback, whatever the pace and the size."""

from io import StringIO

import pyte
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sill.cli.repl.flow import LiveFlow, PlainFlow
from sill.cli.repl.markdown import rendered

ANSWER = """\
# Three ovens

The **first** one fell in May, because the clay was wet and nobody had waited long enough for it to dry.

1. wait
2. wait more

```python
for day in range(30):

    wait(day)
```

That is *all*, see [[Bread oven]].
"""


def screen_after(write, columns: int, rows: int) -> list[str]:
    """What a terminal of this size shows, with everything that was scrolled out above it."""
    screen = pyte.HistoryScreen(columns, rows, history=10_000, ratio=0.001)
    stream = pyte.Stream(screen)
    out = StringIO()
    write(out)
    stream.feed(out.getvalue().replace("\n", "\r\n"))
    above = ["".join(line[x].data for x in range(columns)) for line in screen.history.top]
    lines = [line.rstrip() for line in [*above, *screen.display]]
    while lines and not lines[-1]:
        lines.pop()
    return lines


def shown(pieces: list[str], columns: int = 60, rows: int = 12) -> list[str]:
    def write(out: StringIO) -> None:
        now = iter(range(10_000))
        flow = LiveFlow(out, lambda: (columns, rows), colours=True, clock=lambda: float(next(now)))
        flow.wait("waiting …")
        for piece in pieces:
            flow.add(piece)
        flow.finish()

    return screen_after(write, columns, rows)


def whole(text: str, columns: int = 60) -> list[str]:
    """The same answer printed at once, block by block."""
    from sill.cli.repl.blocks import split

    finished, rest = split(text)
    lines: list[str] = []
    for block in [*finished, rest]:
        laid_out = rendered(block, columns - 1, colours=False) if block.strip() else []
        lines += ["", *laid_out] if lines and laid_out else laid_out
    screen = pyte.Screen(columns, max(1, len(lines)))
    pyte.Stream(screen).feed("\r\n".join(lines))
    return [line.rstrip() for line in screen.display] if lines else []


@pytest.mark.parametrize("size", [1, 3, 7, 50, 1000])
@pytest.mark.parametrize("rows", [pytest.param(40, id="tall"), pytest.param(6, id="six rows")])
def test_an_answer_that_comes_in_pieces_looks_like_one_that_came_at_once(size, rows):
    pieces = [ANSWER[at : at + size] for at in range(0, len(ANSWER), size)]

    assert shown(pieces, rows=rows) == whole(ANSWER)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.text(st.sampled_from("ab* \n`-#1."), max_size=12), max_size=30))
def test_no_line_is_lost_or_shown_twice(pieces):
    assert shown(pieces, columns=30, rows=6) == whole("".join(pieces), columns=30)


def test_what_stands_below_a_growing_answer_is_gone_with_its_end():
    def write(out: StringIO) -> None:
        flow = LiveFlow(out, lambda: (40, 8), colours=True, clock=iter(range(999)).__next__)
        for number in range(30):
            flow.status(f"{number} tokens")
            flow.add(f"line {number}\n\n")
        assert "29 tokens" in out.getvalue()
        flow.finish()

    lines = screen_after(write, 40, 8)
    assert [line for line in lines if line] == [f"line {number}" for number in range(30)]


def test_a_long_code_block_is_in_the_scrollback_once():
    code = "```\n" + "".join(f"line {n}\n" for n in range(200)) + "```\n"

    lines = shown([code[at : at + 9] for at in range(0, len(code), 9)], rows=10)
    assert [line for line in lines if line.startswith("line")] == [f"line {n}" for n in range(200)]


def test_a_remark_follows_the_paragraph_it_came_in():
    def write(out: StringIO) -> None:
        flow = LiveFlow(out, lambda: (40, 10), colours=False, clock=iter(range(99)).__next__)
        flow.add("Beginning ")
        flow.note("sill: a remark")
        flow.add("and end.\n\nMore.\n\nMost.")
        flow.note("sill: the last")
        flow.finish()

    assert screen_after(write, 40, 10) == [
        "Beginning and end.",
        "sill: a remark",
        "",
        "More.",
        "",
        "Most.",
        "sill: the last",
    ]


def test_a_narrower_terminal_takes_back_as_many_rows_as_the_line_fills_now():
    sizes = iter([(80, 10)] * 2 + [(20, 10)] * 20)
    out = StringIO()
    flow = LiveFlow(out, sizes.__next__, colours=False, clock=iter(range(99)).__next__)

    flow.add("word " * 12)
    before = len(out.getvalue())
    flow.add("more.")
    flow.finish()
    assert out.getvalue()[before:].startswith("\x1b[3A\r")


def test_without_a_terminal_the_text_is_all_there_is():
    out, err = StringIO(), StringIO()
    flow = PlainFlow(out, err)
    flow.wait("waiting")
    flow.add("**a**")
    flow.note("a remark")
    flow.finish()

    assert (out.getvalue(), err.getvalue()) == ("**a**\n", "a remark\n")
