import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sill.core.truncate import Counted, Fitted, Surroundings, TooLarge, counted, fit, split


def words(text: str) -> Counted:
    """Every word a piece of one token."""
    pieces = tuple(text.split())
    return Counted(pieces, (1,) * len(pieces))


GIVEN = Surroundings(
    fixed=10,
    prefix=words("p1 p2 p3 p4"),
    suffix=words("s1 s2 s3 s4"),
    conversation=words("c1 c2"),
    system=words("least more"),
)


@pytest.mark.parametrize(
    "room, expected, cut",
    [
        pytest.param(22, "p1p2p3p4 | s1s2s3s4 | c1c2 | leastmore", (), id="all fits"),
        pytest.param(
            20, "p1p2p3p4 | s1s2 | c1c2 | leastmore", ("suffix",), id="the suffix loses its end"
        ),
        pytest.param(
            17, "p2p3p4 |  | c1c2 | leastmore", ("suffix", "prefix"), id="then the prefix its start"
        ),
        pytest.param(
            13, " |  | c2 | leastmore", ("suffix", "prefix", "conversation"), id="then old talk"
        ),
        pytest.param(
            11,
            " |  |  | more",
            ("suffix", "prefix", "conversation", "system"),
            id="then optional fragments, the least important first",
        ),
        pytest.param(
            10, " |  |  | ", ("suffix", "prefix", "conversation", "system"), id="bare bones"
        ),
    ],
)
def test_cuts_come_in_one_order(room, expected, cut):
    found = fit(GIVEN, room, prefix=99, suffix=99)
    assert isinstance(found, Fitted)

    kept = found.kept
    parts = (kept.prefix, kept.suffix, kept.conversation, kept.system)
    assert (" | ".join(part.text for part in parts), found.cut) == (expected, cut)
    assert found.tokens <= room


def test_prefix_and_suffix_have_their_own_limits():
    found = fit(GIVEN, 99, prefix=2, suffix=1)
    assert isinstance(found, Fitted)

    assert (found.kept.prefix.text, found.kept.suffix.text) == ("p3p4", "s1")
    assert found.cut == ("suffix", "prefix")


def test_what_must_stay_whole_is_never_cut():
    assert fit(GIVEN, 9, prefix=99, suffix=99) == TooLarge(10, 9)


@settings(max_examples=2_000)
@given(st.text(alphabet="ab \n\r\u2028", max_size=60) | st.integers(0, 900).map(lambda n: "x" * n))
def test_pieces_joined_are_the_text(text):
    assert "".join(split(text)) == text
    assert counted(text, len).total == len(text)


numbers = st.lists(st.integers(0, 9), max_size=6).map(
    lambda found: Counted(tuple(str(n) for n in found), tuple(found))
)


@settings(max_examples=2_000)
@given(
    st.builds(Surroundings, st.integers(0, 30), numbers, numbers, numbers, numbers),
    st.integers(0, 90),
)
def test_every_cut_fits_or_is_refused(given_parts, room):
    match fit(given_parts, room, prefix=20, suffix=10):
        case TooLarge(needed=needed, available=available):
            assert needed > available
        case Fitted(kept=kept, tokens=tokens):
            assert tokens <= room
            capped = fit(given_parts, 10_000, prefix=20, suffix=10)
            assert isinstance(capped, Fitted)
            assert kept.prefix == capped.kept.prefix or kept.suffix == Counted()
            assert kept.conversation == given_parts.conversation or kept.prefix == Counted()
            assert kept.system == given_parts.system or kept.conversation == Counted()
