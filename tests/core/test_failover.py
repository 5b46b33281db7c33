"""Whom to ask next: breakers and stickiness as tables, with the clock as an argument."""

import pytest

from sill.core.failover import Breaker, Stuck, order

SHUT, OPEN = Breaker(), Breaker(opened=100.0)


@pytest.mark.parametrize(
    "failures, now, is_open",
    [
        pytest.param([], 0, False, id="nothing failed"),
        pytest.param([0], 1, False, id="once is no pattern"),
        pytest.param([0, 29.9], 30, True, id="twice in 30 seconds"),
        pytest.param([0, 30], 31, False, id="twice in more than that"),
        pytest.param([0, 30, 59], 60, True, id="the last two count"),
        pytest.param([0, 1], 90.9, True, id="open for 90 seconds"),
        pytest.param([0, 1], 91, False, id="and then tried again"),
        pytest.param([0, 1, 50], 130, True, id="a failure while open keeps it open"),
        pytest.param([0, 1, 92], 93, False, id="after that it takes two again"),
    ],
)
def test_breaker(failures, now, is_open):
    breaker = Breaker()
    for at in failures:
        breaker = breaker.failed(at)

    assert breaker.is_open(now) == is_open


@pytest.mark.parametrize(
    "allowed, breakers, stuck, expected",
    [
        pytest.param([1], [SHUT], None, (0,), id="one place"),
        pytest.param([1], [OPEN], None, (0,), id="the only place is asked even if it failed"),
        pytest.param([1, 1, 1], [SHUT] * 3, None, (0, 1, 2), id="in their order"),
        pytest.param([1, 0, 1], [SHUT] * 3, None, (0, 2), id="without those not allowed"),
        pytest.param([1, 1], [OPEN, SHUT], None, (1,), id="an open breaker is left alone"),
        pytest.param([1, 1], [OPEN, OPEN], None, (0,), id="all open: the first"),
        pytest.param([1, 0], [OPEN, SHUT], None, (0,), id="the rest is not allowed: the first"),
        pytest.param([1, 1, 1], [SHUT] * 3, Stuck(2, 0), (2, 0, 1), id="stuck to the last"),
        pytest.param([1, 1], [SHUT] * 2, Stuck(1, -490), (1, 0), id="stuck for ten minutes"),
        pytest.param([1, 1], [SHUT] * 2, Stuck(1, -491), (0, 1), id="and no longer"),
        pytest.param([1, 1], [SHUT, OPEN], Stuck(1, 0), (0,), id="stuck to one that fails"),
    ],
)
def test_order(allowed, breakers, stuck, expected):
    assert order([bool(may) for may in allowed], breakers, stuck, now=109.0) == expected
