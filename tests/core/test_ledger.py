"""The ledger says what the model holds, and only that."""

import pytest

from sill.core import deltas, envelopes, ledger, offers
from sill.core.messages import Epoch, FileStamp, Message, Sized, Summary, Turn, fingerprint

SUMMARY = Summary("s", 1)
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
        pytest.param([envelopes.renamed("a", "b")], {}, id="a new name of what was never shown"),
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


@pytest.mark.parametrize(
    "messages, expected",
    [
        pytest.param([], None, id="nothing"),
        pytest.param([whole(V1), change(V1, V2)], V2, id="a copy and its change"),
        pytest.param([change(V1, V2)], None, id="a change without a copy"),
        pytest.param(
            [change("", V2)], None, id="a change of a file that was empty, without a copy"
        ),
        pytest.param([envelopes.renamed("b", "a"), whole(V1)], V1, id="notices are passed over"),
    ],
)
def test_a_text_is_put_together_from_a_copy_on(messages, expected):
    assert ledger.text_of(messages) == expected


def sized(*messages: Message, tokens: int = 1) -> list[Sized]:
    return [Sized(message, tokens) for message in messages]


def test_what_is_added_belongs_to_the_present_turn():
    known, copy, news = sized(envelopes.omitted(stamp(V1, "b")), whole(V1), Message("user", "hi"))
    notice, named = sized(envelopes.deleted("b"), envelopes.omitted(stamp(V1, "c")))
    before = ledger.read([turn("t", known.message)], Epoch())

    book = before.after([news, copy, notice, named])

    old, new = ledger.Carrier(0, 0, known), ledger.Carrier(1, 1, copy)
    gone, told = ledger.Carrier(1, 2, notice), ledger.Carrier(1, 3, named)
    assert before == ledger.Ledger({}, {}, {"b": old}, (old,), (2,))
    assert book == ledger.Ledger(
        held={"a": ledger.Holding(stamp(V1), (new,))},
        copies={stamp(V1): new},
        omitted={"c": told},
        carriers=(old, new, gone, told),
        talk=(2,),
    )


def test_a_file_that_is_shown_is_no_longer_left_out():
    book = read(envelopes.omitted(stamp(V1)), envelopes.omitted(stamp(V1, "b")), whole(V1))

    assert list(book.omitted) == ["b"]


@pytest.mark.parametrize(
    "stub, epoch, talk, spares",
    [
        pytest.param(3, Epoch(), 24, (ledger.Spare(0, 1, 17),), id="a stub could stand for it"),
        pytest.param(19, Epoch(), 24, (ledger.Spare(0, 1, 1),), id="and save one token"),
        pytest.param(20, Epoch(), 24, (), id="nothing is saved"),
        pytest.param(3, Epoch(1, "t", masked=frozenset({("t", 1)})), 7, (), id="it does already"),
        pytest.param(3, Epoch(1, "t", frozenset({("t", 1)})), 24, (), id="it is not shown at all"),
    ],
)
def test_what_a_turn_could_spare(stub, epoch, talk, spares):
    spoken = (Message("user", "q"), Message("tool", "long"), Message("assistant", "r"))
    messages = tuple(Sized(m, n) for m, n in zip(spoken, (1, 20, 3), strict=True))
    made = Turn("t", messages, ((1, Sized(Message("tool", "short"), stub)),))

    book = ledger.read([made], epoch)

    assert (book.talk, book.spares) == ((talk,), spares)


def test_what_an_eviction_replaces_can_be_spared():
    said = sized(
        envelopes.recall(["s"], "said"), whole(V1), envelopes.summary(SUMMARY, {}), tokens=5
    )
    made = Turn("t", (*said, *sized(Message("user", "q"))))

    book = ledger.read([turn("s"), made], Epoch(1, "s", frozenset({("t", 9)})))

    assert book.talk == (2, 11)
    assert book.spares == (
        ledger.Spare(1, 0, 5, is_replaced=True),
        ledger.Spare(1, 2, 5, is_replaced=True, is_summary=True),
    )


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


def counted(message: Message) -> Sized:
    return Sized(message, len(message.text))


@pytest.mark.parametrize(
    "book, text, outline, expected",
    [
        pytest.param(
            read(), V1, None,
            offers.FileOffer(stamp(V1), counted(whole(V1)), counted(envelopes.omitted(stamp(V1)))),
            id="never seen",
        ),
        pytest.param(
            read(whole(V1), whole(V2)), V1, "# One",
            offers.FileOffer(
                stamp(V1), counted(whole(V1)), counted(envelopes.omitted(stamp(V1))),
                delta=counted(change(V2, V1)),
                restored=counted(envelopes.restored(stamp(V1))),
                outline=counted(envelopes.omitted(stamp(V1), "# One")),
            ),
            id="every way is open",
        ),
        pytest.param(
            read(whole(V1)), V1, "",
            offers.FileOffer(
                stamp(V1), counted(whole(V1)), counted(envelopes.omitted(stamp(V1))),
                outline=counted(envelopes.omitted(stamp(V1), "")),
            ),
            id="an outline with nothing in it",
        ),
    ],
)  # fmt: skip
def test_every_way_of_an_offer_is_counted(book, text, outline, expected):
    draft = offers.draft(book, "a", text, outline)
    ways = (expected.full, expected.omitted, expected.delta, expected.restored, expected.outline)

    assert draft.sized(counted) == expected
    assert draft.messages == tuple(way.message for way in ways if way is not None)


def test_an_offer_of_half_a_surrogate_pair_is_refused():
    with pytest.raises(envelopes.NotText) as refused:
        offers.draft(read(), "a", "ab\ud800")

    assert refused.value.position == 2
