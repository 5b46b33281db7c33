"""Roles, names and rates."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sill.core.access import ROLES, Bucket, Rate, Taken, User, take, user_name


@pytest.mark.parametrize(
    "role, allowed",
    [
        pytest.param("viewer", ["viewer"], id="a viewer looks"),
        pytest.param("contributor", ["viewer", "contributor"], id="a contributor chats"),
        pytest.param("admin", ["viewer", "contributor", "admin"], id="an admin may all"),
    ],
)
def test_each_role_may_what_those_below_it_may(role, allowed):
    assert [needed for needed in ROLES if User("u", "ann", role).may(needed)] == allowed


@pytest.mark.parametrize(
    "given, name",
    [
        pytest.param(" Ann ", "ann", id="case and space do not count"),
        pytest.param("ann@example.org", "ann@example.org", id="an address"),
        pytest.param("", None, id="empty"),
        pytest.param("ann smith", None, id="a space"),
        pytest.param(".ann", None, id="begins with a dot"),
        pytest.param("a" * 65, None, id="too long"),
        pytest.param("аnn", None, id="a letter that only looks like one"),
        pytest.param("ann\n", "ann", id="a line end"),
        pytest.param("local", "local", id="any word"),
    ],
)
def test_a_name_is_plain(given, name):
    assert user_name(given) == name


RATES = st.builds(Rate, st.floats(0.1, 600), st.floats(1, 50))


@given(RATES, st.lists(st.integers(0, 120_000), max_size=60))
def test_no_more_is_granted_than_the_rate_allows(rate, pauses):
    bucket, now, granted = None, 0, 0
    for pause in pauses:
        now += pause
        taken = take(bucket, rate, now)
        bucket = taken.bucket
        granted += taken.wait_ms == 0

    assert granted <= rate.burst + now * rate.per_ms + 1e-6


@given(RATES, st.floats(0, 0.99))
def test_who_waits_as_long_as_told_is_granted(rate, left):
    refused = take(Bucket(left, 0), rate, 0)

    assert refused.wait_ms > 0
    assert take(refused.bucket, rate, refused.wait_ms).wait_ms == 0


def test_a_clock_that_goes_back_costs_nothing():
    assert take(Bucket(2.0, 100), Rate(60, 3), 50) == Taken(Bucket(1.0, 50), 0)
