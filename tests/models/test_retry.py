import pytest
from hypothesis import given
from hypothesis import strategies as st

from sill.adapters.models.retry import RetryPolicy, wait_before_retry
from sill.core.faults import Fault

POLICY = RetryPolicy()


@pytest.mark.parametrize(
    "fault, attempt, elapsed, wait",
    [
        pytest.param(Fault("unreachable"), 1, 0, 0.5, id="first"),
        pytest.param(Fault("unreachable"), 2, 0, 1.0, id="twice as long"),
        pytest.param(Fault("unreachable"), 3, 0, None, id="three attempts and no more"),
        pytest.param(Fault("rate", status=429, retry_after=30), 1, 0, 30, id="as the server asks"),
        pytest.param(
            Fault("rate", status=429, retry_after=0.1), 1, 0, 0.5, id="at least our own wait"
        ),
        pytest.param(
            Fault("rate", status=429, retry_after=121), 1, 0, None, id="too long to sit out"
        ),
        pytest.param(Fault("loading", status=503), 9, 60, 8.0, id="loading is counted by time"),
        pytest.param(Fault("loading", status=503), 9, 115, None, id="loading for too long"),
        *(
            pytest.param(Fault("server", status=status), 1, 0, 0.5, id=str(status))
            for status in (408, 409, 500, 502, 503, 504, 529)
        ),
        pytest.param(Fault("server", status=501), 1, 0, None, id="501"),
        *(
            pytest.param(Fault(kind), 1, 0, None, id=kind)
            for kind in ("silent", "broken", "key", "model", "overflow", "format", "quota")
        ),
        *(
            pytest.param(Fault(kind), 1, 0, None, id=kind)
            for kind in ("redirect", "page", "address", "request")
        ),
    ],
)
def test_the_longest_wait_before_another_attempt(fault, attempt, elapsed, wait):
    assert wait_before_retry(POLICY, fault, attempt, elapsed, dice=1.0) == wait


@given(st.integers(1, 2), st.integers(0, 1024).map(lambda n: n / 1024))
def test_waits_are_spread_over_everything_up_to_the_longest(attempt, dice):
    wait = wait_before_retry(POLICY, Fault("unreachable"), attempt, 0, dice)

    assert wait == dice * 0.5 * 2 ** (attempt - 1)
