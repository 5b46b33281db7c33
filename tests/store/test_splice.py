"""Bytes that are kept as what they add to others come back whole."""

import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sill.adapters.store import codec, splice

PLAN = b'{"tokens":10871,"items":[' + b'["turn","79d9359d176b634a",169,"kept"],' * 40 + b"]}"

few = st.binary(max_size=40)
some = st.sampled_from([b"", b"a", b"abc" * 30, PLAN, bytes(range(256)) * 40])


@given(some, few, st.lists(few, max_size=3), st.data())
def test_any_bytes_come_back(frame, before, added, data):
    start, end = sorted(data.draw(st.integers(0, len(frame))) for _ in range(2))
    body = before + frame[:start] + b"".join(added) * 9 + frame[end:]

    assert splice.unpack(splice.pack(body, frame), frame) == body
    assert splice.unpack(splice.pack(body)) == body
    assert codec.unsqueeze(*codec.squeeze(body)) == body


@given(st.binary(max_size=300), st.binary(max_size=300), some)
def test_as_many_bytes_are_common_as_both_begin_with(one, other, shared):
    length = splice.common(shared + one, shared + other, len(shared))

    assert (shared + one)[:length] == (shared + other)[:length]
    assert (shared + one)[length : length + 1] != (shared + other)[
        length : length + 1
    ] or length == (min(len(one), len(other)) + len(shared))


@pytest.mark.parametrize("frame", [b"", PLAN])
def test_what_was_packed_by_deflating_alone_is_read(frame):
    body = PLAN.replace(b"10871", b"11096")
    squeezer = zlib.compressobj(6, zlib.DEFLATED, -15, 8, zlib.Z_DEFAULT_STRATEGY, frame)

    assert splice.unpack(squeezer.compress(body) + squeezer.flush(), frame) == body
    assert codec.unsqueeze(codec.ZLIB, zlib.compress(body)) == body


def test_a_change_in_a_long_body_takes_little():
    grown = PLAN.replace(b"]}", b'["turn","f3817481a3ffcc4f",166,"kept"],]}')

    assert len(splice.pack(grown, PLAN)) < 50


@pytest.mark.parametrize("value", [0, 1, 127, 128, 300, 65_536 * 7, 2**40 + 3])
def test_numbers_come_back(value):
    written = b"x" + splice.number(value) + b"y"

    assert splice.read_number(written, 1) == (value, len(written) - 1)
