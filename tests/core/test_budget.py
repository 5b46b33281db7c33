import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sill.core.budget import PROFILES, Profile, Shares, budget


@pytest.mark.parametrize(
    "name, window, reply, room, system_cap, marks",
    [
        pytest.param("chat", None, 4_096, 12_288, 6_144, (11_059, 7_372), id="chat"),
        pytest.param("chat", 131_072, 4_096, 126_976, 8_192, (114_278, 76_185), id="large window"),
        pytest.param("chat", 4_096, 1_024, 3_072, 1_536, (2_764, 1_843), id="reserves shrink"),
        pytest.param("chat", 2_048, 512, 1_536, 768, (1_382, 921), id="smaller still"),
        pytest.param("completion", None, 256, 3_840, 1_024, (3_456, 2_304), id="completion"),
        pytest.param("chat", 0, 0, 0, 0, (0, 0), id="no window at all"),
    ],
)
def test_a_profile_meets_a_window(name, window, reply, room, system_cap, marks):
    found = budget(PROFILES[name], window)

    assert (found.reply, found.room, found.system_cap) == (reply, room, system_cap)
    assert (found.high, found.low) == marks


def test_every_capability_has_its_profile():
    assert list(PROFILES) == ["completion", "edit", "chat", "chat_ops"]


@pytest.mark.parametrize("shares", [PROFILES[name].shares for name in PROFILES], ids=list(PROFILES))
def test_shares_add_up_to_the_room(shares):
    parts = (shares.system, shares.tools, shares.files, shares.history, shares.recall)

    assert sum(parts) == pytest.approx(1.0)


@settings(max_examples=2_000)
@given(
    window=st.integers(0, 300_000),
    reply=st.integers(0, 50_000),
    margin=st.integers(0, 5_000),
    shortfall=st.floats(0, 2),
)
def test_a_full_room_fits_the_window_even_if_every_count_fell_short(
    window, reply, margin, shortfall
):
    found = budget(Profile(window, reply, margin, shares=Shares()), shortfall=shortfall)

    assert found.room * (1 + shortfall) <= window - found.reply + 1e-6 * window
    assert 0 <= found.low <= found.high <= found.room
    assert found.reply <= reply


def test_less_room_takes_the_marks_along():
    found = budget(PROFILES["chat"], 4_096).less(500)

    assert (found.room, found.high, found.low) == (2_572, 2_572, 1_843)
