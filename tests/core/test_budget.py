from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sill.core.budget import PROFILES, Budget, Profile, Shares, budget


@pytest.mark.parametrize(
    "name, window, reply, room, system_cap, marks",
    [
        pytest.param("chat", None, (1_024, 4_096), 15_360, 7_680, (13_824, 9_216), id="chat"),
        pytest.param("chat", 131_072, (4_096, 4_096), 126_976, 8_192, (114_278, 76_185), id="large window"),
        pytest.param("chat", 32_768, (2_048, 4_096), 30_720, 8_192, (27_648, 18_432), id="a sixteenth"),
        pytest.param("chat", 8_192, (512, 2_048), 7_680, 3_840, (6_912, 4_608), id="both shrink"),
        pytest.param("chat", 4_096, (512, 1_024), 3_584, 1_792, (3_225, 2_150), id="never under 512"),
        pytest.param("chat", 2_048, (512, 512), 1_536, 768, (1_382, 921), id="but for a quarter"),
        pytest.param("chat_ops", None, (4_096, 4_096), 12_288, 6_144, (11_059, 7_372), id="edits come whole"),
        pytest.param("completion", None, (256, 256), 3_840, 1_024, (3_456, 2_304), id="completion"),
        pytest.param("chat", 0, (0, 0), 0, 0, (0, 0), id="no window at all"),
    ],
)  # fmt: skip
def test_a_profile_meets_a_window(name, window, reply, room, system_cap, marks):
    found = budget(PROFILES[name], window)

    assert (found.reply, found.reply_most) == reply
    assert (found.room, found.system_cap) == (room, system_cap)
    assert (found.high, found.low) == marks


@pytest.mark.parametrize(
    "prompt, expected",
    [
        pytest.param(0, 2_048, id="all that the profile wants"),
        pytest.param(6_144, 2_048, id="just so"),
        pytest.param(6_145, 2_047, id="what the prompt leaves"),
        pytest.param(7_680, 512, id="the room is full"),
        pytest.param(9_999, 512, id="no less for a prompt that does not fit"),
    ],
)
def test_an_answer_may_take_what_the_prompt_leaves(prompt, expected):
    assert budget(PROFILES["chat"], 8_192).reply_beside(prompt) == expected


def test_a_reserve_without_a_least_is_kept_whole():
    found = budget(Profile(window=8_192, reply=2_000))

    assert (found.reply, found.reply_most, found.room) == (2_000, 2_000, 6_192)
    assert {found.reply_beside(prompt) for prompt in (0, 3_000, 6_192)} == {2_000}


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
    least=st.none() | st.integers(1, 50_000),
    margin=st.integers(0, 5_000),
    shortfall=st.floats(0, 2),
    filled=st.floats(0, 1),
)
def test_a_prompt_and_the_longest_answer_to_it_fit_the_window_even_if_every_count_fell_short(
    window, reply, least, margin, shortfall, filled
):
    profile = Profile(window, reply, margin, least, shares=Shares())
    found = budget(profile, shortfall=shortfall)
    prompt = int(found.room * filled)

    assert found.room * (1 + shortfall) <= window - found.reply + 1e-6 * window
    assert prompt * (1 + shortfall) + found.reply_beside(prompt) <= window * (1 + 1e-6)
    assert found.reply <= found.reply_beside(prompt) <= found.reply_most <= reply
    assert found.reply_beside(found.room) == found.reply
    assert 0 <= found.low <= found.high <= found.room


def test_every_limit_of_a_budget():
    profile = Profile(10_000, 2_000, margin=900, system_cap=9_999, high=0.8, low=0.5)

    # A twentieth of the window is the most that a profile's own margin may take.
    assert budget(profile, shortfall=0.25) == Budget(
        window=10_000, reply=2_000, margin=2_100, system_cap=2_950, high=4_720, low=2_950,
        system=885, tools=590, files=2_360, history=1_180, recall=885, reply_most=2_000,
    )  # fmt: skip
    assert budget(replace(profile, margin=1)).margin == 1
    assert budget(replace(profile, low=0.9)).low == budget(profile).high


@pytest.mark.parametrize(
    "tokens, expected",
    [
        pytest.param(0, (6_000, 5_400, 3_600), id="no less"),
        pytest.param(1_000, (5_000, 5_000, 3_600), id="below the high mark"),
        pytest.param(3_000, (3_000, 3_000, 3_000), id="below both"),
        pytest.param(9_000, (0, 0, 0), id="nothing left"),
    ],
)
def test_marks_stay_inside_the_room(tokens, expected):
    found = budget(Profile(8_000, 2_000)).less(tokens)

    assert (found.room, found.high, found.low) == expected


def test_less_room_takes_the_marks_along():
    found = budget(PROFILES["chat_ops"], 4_096).less(500)

    assert (found.room, found.high, found.low) == (2_572, 2_572, 1_843)
