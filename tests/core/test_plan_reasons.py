"""At an eviction the ledger says of every file what became of it, and why."""

import pytest

from sill.core import envelopes
from sill.core.messages import Epoch, Sized
from sill.core.plan import Plan, plan_context

from .test_plan import ask, change, offer, room, stamp, turn, whole

KNOWN = Sized(envelopes.omitted(stamp("known", "v1")), 2)
HISTORY = [
    turn("t1", 60, whole("gone", tokens=10), whole("back", tokens=10)),
    turn(
        "t2", 60, whole("same", tokens=10), whole("new", tokens=12), whole("other", tokens=4),
        whole("large", tokens=12), KNOWN,
    ),
]  # fmt: skip
OFFERS = [
    offer("back", tokens=10),
    offer("same", tokens=10),
    offer("new", "v2", tokens=12, delta=change("new", "v1", "v2", 3)),
    offer("large", "v2", tokens=18, delta=change("large", "v1", "v2", 3)),
    offer("first", tokens=20),
    offer("big", tokens=150),
    offer("known", tokens=151),
]


@pytest.mark.parametrize(
    ("path", "became"),
    [
        pytest.param("back", ("sent", "the turn that carried it was evicted", 10, 10), id="with its turn"),
        pytest.param("same", ("kept", "unchanged since it was sent", 10, 0), id="unchanged"),
        pytest.param("new", ("sent", "one fresh copy costs no more than the old one and its changes", 12, 12), id="renewed"),
        pytest.param("large", ("updated", "changed; sent as a delta", 15, 3), id="changed"),
        pytest.param("first", ("sent", "not in the window yet", 20, 20), id="never seen"),
        pytest.param("big", ("omitted", "150 tokens do not fit the 40 left for files; the model is told", 2, 2), id="too large"),
        pytest.param("known", ("omitted", "151 tokens do not fit the 38 left for files; the model knows", 2, 0), id="told before"),
        pytest.param("gone", ("evicted", "left with the turn that carried it", 0, 0), id="nobody offers it"),
        pytest.param("other", ("kept", "sent earlier, still in the window", 4, 0), id="nobody offers it, still there"),
    ],
)  # fmt: skip
def test_an_eviction_tells_what_became_of_each_file(path, became):
    plan = plan_context(room(200, files=120), ask(), HISTORY, Epoch(), OFFERS)
    assert isinstance(plan, Plan)
    found = {item.name: item for item in plan.items if item.kind == "file"}
    item = found[path]

    assert (item.fate, item.reason, item.tokens, item.new) == became
