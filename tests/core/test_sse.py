"""Bytes in any pieces, the same events."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sill.core.sse import EventStream, Lines, ServerEvent


def read(data: bytes, cuts=(), limit: int = 1000):
    """(events, problem) of ``data`` fed in pieces that end at ``cuts``."""
    stream, at = EventStream(limit), 0
    events = []
    for cut in [*sorted(cuts), len(data)]:
        events += stream.feed(data[at:cut])
        at = cut
    return events + stream.close(), stream.problem


def message(data: str, name: str = "message") -> ServerEvent:
    return ServerEvent(data, name)


ROWS = [
    pytest.param(b"data: a\n\n", [message("a")], None, id="one event"),
    pytest.param(b"data: a\r\n\r\n", [message("a")], None, id="CRLF"),
    pytest.param(b"data: a\r\rdata: b\r\r", [message("a"), message("b")], None, id="bare CR"),
    pytest.param(
        b"data:a\n\ndata:  b\n\n", [message("a"), message(" b")], None, id="one space is dropped"
    ),
    pytest.param(b"data: a\ndata: b\n\n", [message("a\nb")], None, id="lines of one event join"),
    pytest.param(b"event: error\ndata: a\n\n", [message("a", "error")], None, id="named"),
    pytest.param(
        b"event: x\n\ndata: a\n\n", [message("a")], None, id="a name without data is dropped"
    ),
    pytest.param(b": ping\n\n: ping\n\ndata: a\n\n", [message("a")], None, id="comments"),
    pytest.param(
        b"id: 7\nretry: 1\nfoo: bar\nbaz\ndata: a\n\n", [message("a")], None, id="other fields"
    ),
    pytest.param(b"data\n\n", [message("")], None, id="a field without a colon is empty"),
    pytest.param(b"\n\n\n", [], None, id="blank lines keep alive"),
    pytest.param(b"\xef\xbb\xbfdata: a\n\n", [message("a")], None, id="byte order mark"),
    pytest.param("data: é😀日\n\n".encode(), [message("é😀日")], None, id="multi-byte characters"),
    pytest.param(
        b"data: a\n\ndata: b", [message("a"), message("b")], None, id="the last line has no end"
    ),
    pytest.param(
        b"data: a\n\ndata: b\n", [message("a"), message("b")], None, id="no closing empty line"
    ),
    pytest.param(b"", [], None, id="nothing"),
    pytest.param(
        b"data: a\n\ndata: \xff\n\ndata: b\n\n",
        [message("a")],
        "bytes that are not UTF-8",
        id="not UTF-8",
    ),
    pytest.param(
        b"data: a\n\ndata: " + b"x" * 1000 + b"\n\ndata: b\n\n",
        [message("a")],
        "a line is too long",
        id="too long",
    ),
    pytest.param(
        b"data: a\n\n" + b"data: xxxxxxxxxxxxxxxxxxx\n" * 60,
        [message("a")],
        "a line is too long",
        id="no end",
    ),
]


@pytest.mark.parametrize("data, events, problem", ROWS)
def test_events_are_the_same_wherever_the_bytes_are_cut(data, events, problem):
    for cut in range(len(data) + 1):
        assert read(data, [cut]) == (events, problem)

    assert read(data, range(len(data))) == (events, problem)


FRAGMENTS = [b"data: ", b"data:", b"event: e", b"\n", b"\r", b"\r\n", b"\n\n", b": c", b"{}"]
ODD = ["é😀".encode(), b"\xff", b"\xc3", b"x" * 30, b"\xef\xbb\xbf", b"", b" ", b":"]
pieces = st.sampled_from([*FRAGMENTS, *ODD])


@given(st.lists(pieces, max_size=24).map(b"".join), st.data())
def test_any_bytes_read_the_same_in_any_pieces(data, draw):
    cuts = draw.draw(st.lists(st.integers(0, len(data)), max_size=12))

    assert read(data, cuts, limit=40) == read(data, limit=40)


@given(
    st.lists(
        st.text(st.characters(exclude_characters="\r\n", codec="utf-8"), min_size=1), max_size=8
    )
)
def test_what_was_written_as_events_is_read_back(texts):
    data = "".join(f"data: {text}\n\n" for text in texts).encode()

    assert read(data, limit=10**6) == ([message(text) for text in texts], None)


def test_an_endless_line_holds_no_more_than_the_limit():
    lines = Lines(limit=1000)
    for _ in range(10_000):
        lines.feed(b"x" * 100)

    assert (lines.overlong, lines.rest()) == (True, b"")
