"""plan_context decides what the model sees; one token is one unit here, sizes are given by hand."""

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sill.core import envelopes
from sill.core.budget import PROFILES, Budget, budget
from sill.core.messages import (
    Epoch,
    FileDelta,
    FileNotice,
    FileStamp,
    FileState,
    Message,
    Recall,
    Sized,
    Summary,
    Turn,
    fingerprint,
)
from sill.core.offers import FileOffer
from sill.core.plan import Ask, OverBudget, Plan, plan_context


def room(tokens: int, files: int = 40, recall: int = 10) -> Budget:
    """A room with its marks at 90 and 50 per cent."""
    return Budget(
        window=tokens + 10, reply=10, margin=0, system_cap=tokens // 2,
        high=tokens * 9 // 10, low=tokens // 2,
        system=0, tools=0, files=files, history=0, recall=recall,
    )  # fmt: skip


def stamp(path: str, text: str) -> FileStamp:
    return FileStamp(path, fingerprint(text))


def whole(path: str, text: str = "v1", tokens: int = 20) -> Sized:
    return Sized(envelopes.state(stamp(path, text), text), tokens)


def change(path: str, base: str, text: str, tokens: int) -> Sized:
    return Sized(envelopes.delta(stamp(path, text), fingerprint(base), ""), tokens)


def offer(path: str, text: str = "v1", tokens: int = 20, **ways: Sized) -> FileOffer:
    named = Sized(envelopes.omitted(stamp(path, text)), 2)
    return FileOffer(stamp(path, text), whole(path, text, tokens), named, **ways)


def turn(id: str, tokens: int, *hidden: Sized) -> Turn:
    question = Sized(Message("user", id), 1)
    return Turn(id, (*hidden, question, Sized(Message("assistant", id), tokens - 1)))


def ask(question: int = 5, **rest) -> Ask:
    return Ask(Sized(Message("system", "s"), 5), Sized(Message("user", "q"), question), **rest)


def short(message: Message) -> str:
    match message.carries:
        case FileState(stamp):
            return f"{stamp.path}"
        case FileDelta(stamp, _):
            return f"{stamp.path}'"
        case FileNotice(path=path, event=event):
            return f"{path} {event}"
        case Recall(turns):
            return f"recall {'+'.join(turns)}"
        case _:
            return message.text


def summary(plan: Plan | OverBudget) -> str:
    """Turns kept, then what is sent, then the tokens."""
    assert isinstance(plan, Plan)
    kept = [item.name for item in plan.items if (item.kind, item.fate) == ("turn", "kept")]
    sent = [short(sized.message) for sized in plan.hidden]
    return f"{' '.join(kept)} | {', '.join(sent)} | {plan.tokens}"


# Each turn talks for 10; system and question take 10.
T1, T2, T3 = turn("t1", 10), turn("t2", 10), turn("t3", 10)


@pytest.mark.parametrize(
    "tokens, turns, offers, expected",
    [
        pytest.param(100, [T1, T2], [], "t1 t2 |  | 30", id="everything fits"),
        pytest.param(100, [T1], [offer("a")], "t1 | a | 40", id="a new file"),
        pytest.param(
            100, [turn("t1", 10, whole("a"))], [offer("a")], "t1 |  | 40", id="an unchanged file"
        ),
        pytest.param(
            100,
            [turn("t1", 10, whole("a"))],
            [offer("a", "v2", delta=change("a", "v1", "v2", 9))],
            "t1 | a' | 49",
            id="a small change",
        ),
        pytest.param(
            100,
            [turn("t1", 10, whole("a"))],
            [offer("a", "v2", delta=change("a", "v1", "v2", 10))],
            "t1 | a | 60",
            id="a delta of half the file is no bargain",
        ),
        pytest.param(
            100,
            [turn("t1", 10, whole("a"))],
            [offer("a", "v3", delta=change("a", "v2", "v3", 5))],
            "t1 | a | 60",
            id="a delta of another base is not used",
        ),
        pytest.param(
            100,
            [turn("t1", 10, whole("a"), whole("a", "v2"))],
            [offer("a", restored=Sized(envelopes.restored(stamp("a", "v1")), 3))],
            "t1 | a restored | 63",
            id="back in an earlier state",
        ),
        pytest.param(60, [T1, T2], [offer("a")], "t1 t2 | a | 50", id="up to the high-water mark"),
        pytest.param(
            60, [T1, T2, turn("t3", 10)], [offer("a")], "t3 | a | 40", id="past it: one eviction"
        ),
        pytest.param(
            100,
            [turn("t1", 41, whole("a")), T2, T3],
            [offer("a")],
            "t2 t3 | a | 50",
            id="a file leaves with its turn and is sent again",
        ),
        pytest.param(
            100,
            [turn("t1", 41), turn("t2", 10, whole("a")), T3],
            [offer("a")],
            "t2 t3 |  | 50",
            id="a file whose turn stays is not sent again",
        ),
        pytest.param(
            100,
            [turn("t1", 30), turn("t2", 10, whole("a"), change("a", "v1", "v2", 9), whole("b"))],
            [offer("a", "v2"), offer("b")],
            "t2 | a | 60",
            id="a chain is consolidated where that is cheaper",
        ),
        pytest.param(
            60, [T1, T2, turn("t3", 10)], [offer("a", tokens=45)],
            "t1 t2 t3 | a omitted | 42", id="a file must leave room for the latest turn",
        ),
        pytest.param(
            60, [], [offer("a", tokens=44)], " | a | 54", id="with no turns it may fill the window"
        ),
        pytest.param(
            60, [turn("t1", 44)], [offer("a", tokens=40)], " | a | 50",
            id="within their share files outrank even the latest turn",
        ),
        pytest.param(
            60, [], [offer("a", tokens=30), offer("b", tokens=30), offer("c", tokens=10)],
            " | a, b omitted, c | 52", id="a smaller file may still fit",
        ),
        pytest.param(
            60, [turn("t1", 10, Sized(envelopes.omitted(stamp("a", "v1")), 2))],
            [offer("a", tokens=99)], "t1 |  | 22", id="omitted: told once",
        ),
        pytest.param(
            60, [turn("t1", 10, Sized(envelopes.omitted(stamp("a", "v1")), 2))],
            [offer("a", "v2", tokens=99)], "t1 | a omitted | 24", id="omitted in a new state",
        ),
        pytest.param(
            60, [],
            [offer("a", tokens=99, outline=Sized(envelopes.omitted(stamp("a", "v1"), "#"), 7))],
            " | a omitted | 17", id="an outline stands for a file",
        ),
        pytest.param(60, [turn("t1", 48)], [], "t1 |  | 58", id="the latest turn stays if it can"),
        pytest.param(60, [turn("t1", 51)], [], " |  | 10", id="and goes if it cannot"),
    ],
)  # fmt: skip
def test_plan(tokens, turns, offers, expected):
    assert summary(plan_context(room(tokens), ask(), turns, Epoch(), offers)) == expected


@pytest.mark.parametrize(
    "turns, expected",
    [
        pytest.param([T1], Epoch(), id="no eviction: the same epoch"),
        pytest.param([turn("t1", 80), T2], Epoch(1, "t2"), id="turns went"),
        pytest.param(
            [turn("t1", 81)],
            Epoch(1, "t1", frozenset({("t1", 0), ("t1", 1)})),
            id="not even the latest stays",
        ),
        pytest.param(
            [turn("t1", 11), turn("t2", 40, whole("a", "v1", 10), whole("a", "v2", 10))],
            Epoch(1, "t2", frozenset({("t2", 0)})),
            id="the superseded copy is dropped with them",
        ),
    ],
)
def test_epoch(turns, expected):
    plan = plan_context(room(100), ask(question=15), turns, Epoch(), [offer("a", "v2", 10)])

    assert isinstance(plan, Plan)
    assert plan.epoch == expected


@pytest.mark.parametrize(
    "asked, expected",
    [
        pytest.param(
            ask(question=96),
            OverBudget(101, 100, "question", (("system", 5), ("tools", 0), ("question", 96), ("rounds", 0))),
            id="question",
        ),
        pytest.param(
            Ask(Sized(Message("system", "s"), 51), Sized(Message("user", "q"), 1)),
            OverBudget(51, 50, "system", (("system", 51), ("tools", 0), ("question", 1), ("rounds", 0))),
            id="system prompt over its cap",
        ),
        pytest.param(
            ask(tools=80, overhead=11),
            OverBudget(101, 100, "tools", (("system", 5), ("tools", 80), ("question", 5), ("rounds", 0))),
            id="tools",
        ),
        pytest.param(
            ask(rounds=(Sized(Message("tool", "x"), 91),)),
            OverBudget(101, 100, "rounds", (("system", 5), ("tools", 0), ("question", 5), ("rounds", 91))),
            id="a tool's result",
        ),
    ],
)  # fmt: skip
def test_what_must_go_in_but_cannot_is_refused(asked, expected):
    assert plan_context(room(100), asked, [], Epoch(), [offer("a")]) == expected


@pytest.mark.parametrize(
    "turns, notice, expected",
    [
        pytest.param(
            [turn("t1", 10, whole("a"))], envelopes.deleted("a"), "t1 | a deleted | 43", id="held"
        ),
        pytest.param([T1], envelopes.deleted("a"), "t1 |  | 20", id="never seen: nothing to tell"),
        pytest.param(
            [turn("t1", 10, whole("a"), Sized(envelopes.deleted("a"), 3))],
            envelopes.deleted("a"),
            "t1 |  | 43",
            id="told already",
        ),
        pytest.param(
            [turn("t1", 60, whole("a")), T2],
            envelopes.deleted("a"),
            "t2 | a deleted | 23",
            id="evicted: told all the same, for the trail",
        ),
    ],
)
def test_a_deleted_file_is_told_once(turns, notice, expected):
    asked = ask(notices=(Sized(notice, 3),))

    assert summary(plan_context(room(100), asked, turns, Epoch(), [])) == expected


def test_a_renamed_file_is_not_sent_again():
    asked = ask(notices=(Sized(envelopes.renamed("a", "b"), 3),))
    turns = [turn("t1", 10, whole("a"))]

    plan = plan_context(room(100), asked, turns, Epoch(), [offer("b")])

    assert summary(plan) == "t1 | a renamed | 43"


def recall(tokens: int, *turns: str) -> Sized:
    return Sized(envelopes.recall(turns, "said"), tokens)


@pytest.mark.parametrize(
    "recalls, expected",
    [
        pytest.param([recall(5, "t0")], "t1 | recall t0 | 30", id="an evicted turn"),
        pytest.param([recall(5, "t1")], "t1 |  | 25", id="a turn that is there anyway"),
        pytest.param([recall(5, "t8")], "t1 |  | 25", id="recalled before"),
        pytest.param([recall(11, "t0"), recall(9, "t5")], "t1 | recall t5 | 34", id="share"),
        pytest.param([recall(6, "t0"), recall(6, "t5")], "t1 | recall t0 | 31", id="best first"),
    ],
)
def test_recall(recalls, expected):
    turns = [turn("t1", 10, recall(5, "t8"))]
    asked = ask(recalls=tuple(recalls))

    assert summary(plan_context(room(100), asked, turns, Epoch(3), [])) == expected


@pytest.mark.parametrize(
    "tokens, expected",
    [
        pytest.param(79, "t1 |  | 99", id="past the mark but in the room: nothing moves"),
        pytest.param(85, " |  | 95", id="past the room: old turns go"),
    ],
)
def test_tool_rounds_grow_into_the_room(tokens, expected):
    asked = ask(rounds=(Sized(Message("tool", "found"), tokens),))

    assert summary(plan_context(room(100), asked, [T1], Epoch(), [])) == expected


def test_a_file_sent_with_the_question_is_not_sent_again_between_tool_rounds():
    asked = ask(sent=(whole("a"),), rounds=(Sized(Message("tool", "found"), 65),))

    plan = plan_context(room(100), asked, [T1], Epoch(), [offer("a"), offer("b")])

    assert summary(plan) == " |  | 95"


def test_a_tool_loop_ends_before_a_delta_would_lose_its_base():
    turns = [turn("t1", 10, whole("a"))]
    asked = ask(sent=(change("a", "v1", "v2", 5),), rounds=(Sized(Message("tool", "found"), 56),))

    plan = plan_context(room(100), asked, turns, Epoch(), [])

    parts = (("system", 5), ("tools", 0), ("question", 5), ("rounds", 61))
    assert plan == OverBudget(101, 100, "rounds", parts)


@pytest.mark.parametrize(
    "carried, sent",
    [
        pytest.param(
            whole("a"), (Sized(envelopes.renamed("a", "b"), 3),), id="the copy of a renamed file"
        ),
        pytest.param(
            Sized(envelopes.summary(Summary("gone", 1), {"files": "b"}), 20),
            (Sized(envelopes.news("taken"), 3),),
            id="the summary that no other replaces yet",
        ),
    ],
)
def test_an_eviction_between_tool_rounds_keeps(carried, sent):
    turns = [turn("t1", 30), turn("t2", 10, carried)]
    asked = ask(sent=sent, rounds=(Sized(Message("tool", "found"), 40),))

    plan = plan_context(room(100), asked, turns, Epoch(), [])

    assert isinstance(plan, Plan)
    assert (plan.epoch, plan.tokens) == (Epoch(1, "t2"), 83)


def test_items_name_everything_with_a_reason():
    turns = [turn("t1", 60), turn("t2", 10, whole("a"))]
    offered = [offer("a"), offer("big", tokens=99)]
    plan = plan_context(room(100), ask(tools=3, overhead=2), turns, Epoch(), offered)
    assert isinstance(plan, Plan)

    assert [(i.kind, i.name, i.tokens, i.fate, i.new) for i in plan.items] == [
        ("system", "system prompt", 5, "kept", 0),
        ("tools", "tool schemas", 3, "kept", 0),
        ("overhead", "chat template", 2, "kept", 0),
        ("file", "a", 20, "kept", 0),
        ("file", "big", 2, "omitted", 2),
        ("turn", "t1", 60, "evicted", 0),
        ("turn", "t2", 10, "kept", 0),
        ("question", "question", 5, "sent", 5),
        ("reply", "reply", 10, "reserved", 0),
    ]
    assert plan.items[4].reason == "99 tokens do not fit the 45 left for files; the model is told"


def test_a_small_window_with_a_large_file_still_answers():
    limits = budget(PROFILES["chat"], 2_048)
    asked = Ask(Sized(Message("system", "s"), 215), Sized(Message("user", "q"), 40))
    outline = Sized(envelopes.omitted(stamp("big", "v1"), "# Parts"), 120)
    turns = [turn("t1", 400), turn("t2", 300)]

    plan = plan_context(
        limits, asked, turns, Epoch(), [offer("big", tokens=3_000, outline=outline)]
    )

    assert summary(plan) == "t1 t2 | big omitted | 1075"


def test_an_outdated_copy_never_stays_without_a_word_about_it():
    turns = [turn("t1", 1, whole("x", "v1", 10), whole("a", "v1", 1))]
    named = Sized(envelopes.omitted(stamp("a", "v2")), 7)
    offered = [
        offer("x", "v2", tokens=44, delta=change("x", "v1", "v2", 10)),
        replace(offer("a", "v2", tokens=99), omitted=named),
    ]

    plan = plan_context(room(60, files=50), ask(), turns, Epoch(), offered)

    assert summary(plan) == "t1 | x' | 31"
    assert isinstance(plan, Plan)
    assert plan.epoch == Epoch(1, "t1", frozenset({("t1", 1)}))


def test_marks_above_the_room_do_not_let_a_plan_overflow():
    limits = replace(room(100), margin=40)

    plan = plan_context(limits, ask(), [turn("t1", 60)], Epoch(), [offer("a", tokens=60)])

    assert summary(plan) == " | a omitted | 12"


sizes = st.integers(0, 60)
histories = st.lists(sizes, max_size=8).map(
    lambda found: [turn(f"t{at}", tokens + 1) for at, tokens in enumerate(found)]
)
offered_files = st.lists(sizes | st.just(10_000), max_size=4).map(
    lambda found: [offer(f"f{at}", tokens=tokens) for at, tokens in enumerate(found)]
)


@settings(max_examples=2_000, deadline=None)
@given(st.integers(0, 150), st.integers(0, 80), st.integers(0, 80), histories, offered_files)
def test_any_sizes_end_in_a_plan_that_fits_or_a_refusal(tokens, system, question, turns, offers):
    asked = Ask(Sized(Message("system", "s"), system), Sized(Message("user", "q"), question))

    match plan_context(room(tokens), asked, turns, Epoch(), offers):
        case OverBudget(needed=needed, available=available):
            assert needed > available
        case Plan() as plan:
            assert plan.tokens <= tokens
            assert plan.tokens == sum(item.tokens for item in plan.items if item.in_prompt)
            assert {item.name for item in plan.items} >= {o.stamp.path for o in offers}
