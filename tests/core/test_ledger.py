"""The ledger says what the model holds, and only that."""

import pytest

from sill.core import deltas, envelopes, ledger, offers
from sill.core.messages import Epoch, FileStamp, Message, Sized, Turn, fingerprint

V1, V2, V3 = "one\ntwo\n", "one\n2\n", "1\n2\n"


def stamp(text: str, path: str = "a") -> FileStamp:
    return FileStamp(path, fingerprint(text))


def whole(text: str, path: str = "a") -> Message:
    return envelopes.state(stamp(text, path), text)


def change(base: str, new: str, path: str = "a") -> Message:
    return envelopes.delta(stamp(new, path), fingerprint(base), deltas.make(base, new))


def turn(id: str, *hidden: Message) -> Turn:
    messages = (*hidden, Message("user", "q"), Message("assistant", "r"))
    return Turn(id, tuple(Sized(message, 1) for message in messages))


def texts(*turns: Turn, epoch: Epoch | None = None) -> dict[str, str | None]:
    epoch = epoch or Epoch()
    book = ledger.read(ledger.window(turns, epoch), epoch)
    return {path: held.text for path, held in book.held.items()}


@pytest.mark.parametrize(
    "hidden, expected",
    [
        pytest.param([], {}, id="nothing yet"),
        pytest.param([whole(V1)], {"a": V1}, id="a whole copy"),
        pytest.param([whole(V1), whole(V2)], {"a": V2}, id="the newest copy counts"),
        pytest.param([whole(V1), change(V1, V2)], {"a": V2}, id="copy and delta"),
        pytest.param([whole(V1), change(V1, V2), change(V2, V3)], {"a": V3}, id="a chain"),
        pytest.param([change(V1, V2)], {}, id="a delta without its base"),
        pytest.param([whole(V1), change(V2, V3)], {}, id="a delta of another base"),
        pytest.param([whole(V1), envelopes.deleted("a")], {}, id="deleted"),
        pytest.param([whole(V1), envelopes.renamed("a", "b")], {"b": V1}, id="renamed"),
        pytest.param(
            [whole(V1), envelopes.renamed("a", "b"), change(V1, V2, "b")],
            {"b": V2},
            id="renamed, then changed",
        ),
        pytest.param([whole(V1), envelopes.omitted(stamp(V2))], {}, id="outdated by a notice"),
        pytest.param(
            [whole(V1), whole(V2), envelopes.restored(stamp(V1))], {"a": V1}, id="restored"
        ),
        pytest.param([envelopes.restored(stamp(V1))], {}, id="restored from nowhere"),
    ],
)
def test_what_the_model_holds(hidden, expected):
    apart = [turn(f"t{at}", message) for at, message in enumerate(hidden)]

    assert texts(turn("t", *hidden)) == expected
    assert texts(*apart) == expected


@pytest.mark.parametrize(
    "epoch, expected",
    [
        pytest.param(Epoch(), {"a": V2}, id="all turns"),
        pytest.param(Epoch(1, "t1"), {}, id="the base left with its turn"),
        pytest.param(Epoch(1, "t0", frozenset({("t1", 0)})), {"a": V1}, id="a dropped delta"),
        pytest.param(Epoch(1, "gone"), {"a": V2}, id="earlier turns were not even loaded"),
    ],
)
def test_only_what_the_epoch_shows_counts(epoch, expected):
    assert texts(turn("t0", whole(V1)), turn("t1", change(V1, V2)), epoch=epoch) == expected


def test_a_turn_that_is_wholly_dropped_is_not_in_the_window():
    last = turn("t1", whole(V1))
    epoch = Epoch(1, "t1", frozenset(("t1", at) for at in range(3)))

    assert ledger.window((turn("t0"), last), epoch) == ()
    assert ledger.window((turn("t0"), last, turn("t2")), epoch) == (turn("t2"),)


@pytest.mark.parametrize(
    "broken",
    [
        pytest.param(Message("assistant", whole(V2).text, whole(V1).carries), id="another text"),
        pytest.param(Message("assistant", "{}", whole(V1).carries), id="no content"),
        pytest.param(Message("assistant", "not JSON", whole(V1).carries), id="no envelope"),
    ],
)
def test_a_message_that_is_not_what_it_claims_gives_no_text(broken):
    assert texts(turn("t", broken)) == {"a": None}


def test_a_delta_that_does_not_lead_to_its_fingerprint_gives_no_text():
    wrong = Message("assistant", change(V1, V3).text, change(V1, V2).carries)

    assert texts(turn("t", whole(V1), wrong)) == {"a": None}


def read(*hidden: Message) -> ledger.Ledger:
    return ledger.read([turn("t", *hidden)], Epoch())


@pytest.mark.parametrize(
    "book, text, expected",
    [
        pytest.param(read(), V1, (False, False), id="never seen"),
        pytest.param(read(whole(V1)), V1, (False, False), id="held as it is"),
        pytest.param(read(whole(V1)), V2, (True, False), id="changed"),
        pytest.param(read(whole(V1), whole(V2)), V1, (True, True), id="back again"),
        pytest.param(
            read(Message("assistant", "not JSON", whole(V1).carries)),
            V2,
            (False, False),
            id="a base that cannot be read",
        ),
    ],
)
def test_an_offer_has_every_way_that_is_open(book, text, expected):
    draft = offers.draft(book, "a", text)

    assert (draft.delta is not None, draft.restored is not None) == expected
    assert (draft.full, draft.omitted) == (whole(text), envelopes.omitted(stamp(text)))


def test_an_offer_of_half_a_surrogate_pair_is_refused():
    with pytest.raises(envelopes.NotText) as refused:
        offers.draft(read(), "a", "ab\ud800")

    assert refused.value.position == 2
