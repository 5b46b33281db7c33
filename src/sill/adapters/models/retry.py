"""When to try again, and how long to wait first. Pure; the dice are an argument."""

from dataclasses import dataclass

from ...core.faults import Fault


@dataclass(frozen=True, slots=True)
class Clocks:
    """Seconds. ``idle`` counts from one payload to the next: keep-alive comments do not reset it."""

    connect: float = 5.0
    first: float = 120.0
    idle: float = 60.0
    total: float = 1800.0


CLOUD = Clocks()
LOCAL = Clocks(first=600.0, idle=300.0)  # a long prompt on a small machine takes minutes


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    attempts: int = 3
    base: float = 0.5
    longest: float = 8.0
    patience: float = 120.0  # a longer Retry-After is reported, not slept through
    loading: float = 120.0  # how long a server may say that it is loading its model


def wait_before_retry(
    policy: RetryPolicy, fault: Fault, attempt: int, elapsed: float, dice: float
) -> float | None:
    """Seconds until attempt ``attempt + 1``, or None to give up. ``dice`` is in 0..1.

    Full jitter; what the server asks for is a minimum. A loading server is waited for by time, not by count.
    """
    if not fault.may_pass:
        return None
    asked = fault.retry_after or 0.0
    if asked > policy.patience:
        return None
    delay = max(asked, dice * min(policy.longest, policy.base * 2 ** (attempt - 1)))
    if fault.kind == "loading":
        delay = max(delay, policy.base)
        return delay if elapsed + delay <= policy.loading else None
    return delay if attempt < policy.attempts else None
