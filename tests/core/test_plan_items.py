"""A plan's items in three whole requests: one that grows, one that evicts, one in the middle of a tool loop."""

from dataclasses import replace

from sill.core import envelopes, masks
from sill.core.messages import (
    Epoch,
    Message,
    Sized,
    Summary,
    ToolCall,
    ToolCalls,
    ToolResult,
    Turn,
)
from sill.core.plan import Item, OverBudget, Plan, plan_context

from .test_plan import T1, ask, change, offer, recall, room, short, stamp, summary, turn, whole


def pinned(turn: str, tokens: int) -> Sized:
    return Sized(envelopes.pinned(turn, f"{turn} said"), tokens)


def summed(turns: int, tokens: int) -> Sized:
    return Sized(envelopes.summary(Summary("t0", turns), {"summary": "what was"}), tokens)


def omitted(path: str, tokens: int = 2, outline: str | None = None) -> Sized:
    return Sized(envelopes.omitted(stamp(path, "v1"), outline), tokens)


def restored(path: str, text: str, tokens: int) -> Sized:
    return Sized(envelopes.restored(stamp(path, text)), tokens)


def looked(id: str, tokens: int, found: int, *hidden: Sized) -> Turn:
    """A turn of ``tokens`` beside what is hidden; ``found`` of them are a result that a stub of 3 can stand for."""
    result = Message("tool", "x" * masks.LEAST, ToolResult("c1", "read"))
    called = Message("assistant", "", ToolCalls((ToolCall("c1", "read", "{}"),)))
    spoken = (
        Sized(Message("user", id), 1),
        Sized(called, 2),
        Sized(result, found),
        Sized(Message("assistant", id), tokens - found - 3),
    )
    return Turn(id, (*hidden, *spoken), ((len(hidden) + 2, Sized(masks.stub(result, None), 3)),))


def sent(plan: Plan) -> list[str]:
    return [short(sized.message) for sized in plan.hidden]


def test_a_request_that_grows():
    turns = [
        turn("t1", 20, whole("same", tokens=30), whole("edited", tokens=40), omitted("known")),
        turn(
            "t2", 25, whole("back", "v1", 11), whole("doomed", tokens=12), whole("old", tokens=13),
            whole("unasked", tokens=14),
        ),
        turn("t3", 30, whole("back", "v2", 15), pinned("t0", 7)),
    ]  # fmt: skip
    asked = ask(
        question=9,
        tools=50,
        overhead=6,
        summary=summed(1_200, 17),
        pins=(pinned("t0", 7), pinned("s2", 19), pinned("t2", 8), pinned("s3", 373)),
        recalls=(recall(31, "s4", "s5"), recall(70, "s6"), recall(23, "t2", "t3"), recall(8, "s2")),
        notices=(
            Sized(envelopes.deleted("doomed"), 3),
            Sized(envelopes.renamed("old", "new"), 4),
            Sized(envelopes.deleted("never shown"), 5),
        ),
        pinned=frozenset({"same", "big"}),
    )
    offers = [
        offer("same", tokens=30),
        offer("edited", "v2", tokens=45, delta=change("edited", "v1", "v2", 10)),
        offer("back", "v1", tokens=11, restored=restored("back", "v1", 2)),
        offer("new", tokens=13),
        offer("first", tokens=60),
        offer("big", tokens=1_234),
        offer("long", tokens=600, outline=omitted("long", 21, "# Parts")),
        offer("known", tokens=601),
    ]
    limits = replace(room(1_000, files=400, recall=100), margin=40)

    plan = plan_context(limits, asked, turns, Epoch(), offers)

    assert isinstance(plan, Plan)
    assert plan.items == (
        Item("system", "system prompt", 5, "kept", "always whole"),
        Item("tools", "tool schemas", 50, "kept", "the same set for the whole epoch"),
        Item("overhead", "chat template", 6, "kept", "around every request"),
        Item("file", "same", 30, "kept", "pinned; unchanged since it was sent"),
        Item("file", "edited", 50, "updated", "changed; the delta saves 35 tokens", 10),
        Item("file", "back", 28, "updated", "back in a state that is still in the window", 2),
        Item("file", "new", 0, "kept", "unchanged since it was sent"),
        Item("file", "first", 60, "sent", "not in the window yet", 60),
        Item("file", "big", 2, "omitted", "pinned; 1,234 tokens do not fit the 576 left for files; the model is told", 2),
        Item("file", "long", 21, "omitted", "600 tokens do not fit the 574 left for files; its outline is sent instead", 21),
        Item("file", "known", 2, "omitted", "601 tokens do not fit the 553 left for files; the model knows"),
        Item("file", "doomed", 15, "sent", "deleted; the model is told", 3),
        Item("file", "old", 17, "sent", "renamed to new; the model is told", 4),
        Item("file", "unasked", 14, "kept", "sent earlier, still in the window"),
        Item("turn", "t1", 20, "kept"),
        Item("turn", "t2", 25, "kept"),
        Item("turn", "t3", 37, "kept"),
        Item("summary", "1,200 earlier turns", 17, "sent", "stands for turns that left the window", 17),
        Item("pin", "t0", 0, "kept", "pinned; still in the window"),
        Item("pin", "s2", 19, "sent", "pinned; its turn is not in the window", 19),
        Item("pin", "t2", 0, "kept", "pinned; still in the window"),
        Item("pin", "s3", 0, "omitted", "pinned, but its 373 tokens do not fit what pins may take"),
        Item("recall", "s4, s5", 31, "recalled", "earlier turns that bear on the question", 31),
        Item("question", "question", 9, "sent", "always whole", 9),
        Item("reply", "reply", 10, "reserved", "room for the answer"),
        Item("margin", "margin", 40, "reserved", "in case the count falls short"),
    )  # fmt: skip
    assert sent(plan) == [
        asked.summary.message.text if asked.summary else "",
        asked.pins[1].message.text,
        "recall s4+s5",
        "doomed deleted",
        "old renamed",
        "edited'",
        "back restored",
        "first",
        "big omitted",
        "long omitted",
    ]
    assert (plan.tokens, plan.epoch, plan.next_evicts) == (458, Epoch(), False)


def test_a_request_that_evicts():
    turns = [
        turn("t1", 400, whole("gone", tokens=10), whole("again", tokens=20), omitted("known")),
        looked(
            "t2", 300, 120, summed(3, 30), recall(40, "t0"), whole("same", tokens=30),
            whole("edited", tokens=40), pinned("s1", 50),
        ),
        turn(
            "t3", 60, recall(35, "s7"), whole("back", "v1", 11), whole("doomed", tokens=12),
            whole("old", tokens=13), whole("unasked", tokens=14), whole("other", tokens=4),
        ),
        turn("t4", 30, whole("back", "v2", 15), omitted("wide")),
    ]  # fmt: skip
    asked = ask(
        question=9,
        tools=50,
        overhead=6,
        pins=(pinned("s1", 50), pinned("t1", 19), pinned("t3", 8)),
        recalls=(recall(31, "t1"), recall(100, "s6"), recall(23, "t2", "t3"), recall(30, "s7")),
        notices=(Sized(envelopes.deleted("doomed"), 3), Sized(envelopes.renamed("old", "new"), 4)),
        pinned=frozenset({"first"}),
    )
    offers = [
        offer("same", tokens=30),
        offer("edited", "v2", tokens=90, delta=change("edited", "v1", "v2", 10)),
        offer("back", "v1", tokens=11, restored=restored("back", "v1", 2)),
        offer("again", tokens=20),
        offer("new", tokens=13),
        offer("first", tokens=60),
        offer("wide", tokens=1_234),
        offer("known", tokens=601),
    ]
    epoch = Epoch(4, "t1", frozenset({("t1", 0), ("left", 3)}), frozenset({("left", 7)}))
    limits = room(1_000, files=400, recall=99)

    plan = plan_context(limits, asked, turns, epoch, offers)

    assert isinstance(plan, Plan)
    assert plan.items == (
        Item("system", "system prompt", 5, "kept", "always whole"),
        Item("tools", "tool schemas", 50, "kept", "the same set for the whole epoch"),
        Item("overhead", "chat template", 6, "kept", "around every request"),
        Item("file", "same", 30, "kept", "unchanged since it was sent"),
        Item("file", "edited", 50, "updated", "changed; sent as a delta", 10),
        Item("file", "back", 11, "kept", "unchanged since it was sent"),
        Item("file", "again", 20, "sent", "the turn that carried it was evicted", 20),
        Item("file", "new", 13, "sent", "renamed; the copy in the window bore its old name", 13),
        Item("file", "first", 60, "sent", "pinned; not in the window yet", 60),
        Item("file", "wide", 2, "omitted", "1,234 tokens do not fit the 492 left for files; the model knows"),
        Item("file", "known", 2, "omitted", "601 tokens do not fit the 490 left for files; the model is told", 2),
        Item("file", "unasked", 14, "kept", "sent earlier, still in the window"),
        Item("file", "other", 4, "kept", "sent earlier, still in the window"),
        Item("file", "doomed", 3, "sent", "deleted; the model is told", 3),
        Item("file", "old", 4, "sent", "renamed to new; the model is told", 4),
        Item("turn", "t1", 400, "evicted", "past the high-water mark, oldest first"),
        Item("turn", "t2", 233, "kept", "old tool results as one-line stubs"),
        Item("turn", "t3", 60, "kept"),
        Item("turn", "t4", 30, "kept"),
        Item("pin", "s1", 0, "kept", "pinned; still in the window"),
        Item("pin", "t1", 19, "sent", "pinned; its turn is not in the window", 19),
        Item("pin", "t3", 0, "kept", "pinned; still in the window"),
        Item("recall", "s7", 30, "recalled", "earlier turns that bear on the question", 30),
        Item("question", "question", 9, "sent", "always whole", 9),
        Item("reply", "reply", 10, "reserved", "room for the answer"),
    )  # fmt: skip
    assert sent(plan) == [
        asked.pins[1].message.text,
        "recall s7",
        "doomed deleted",
        "old renamed",
        "edited'",
        "again",
        "new",
        "first",
        "known omitted",
    ]
    dropped = {("t2", 0), ("t2", 1), ("t3", 0), ("t3", 2), ("t3", 3), ("t4", 0)}
    assert plan.epoch == Epoch(5, "t2", frozenset(dropped), frozenset({("t2", 7)}))
    assert (plan.tokens, plan.next_evicts, plan.budget) == (655, False, limits)


def test_a_request_between_tool_rounds():
    turns = [turn("t1", 60, whole("a", tokens=20)), turn("t2", 10)]
    told = (
        summed(1, 6),
        pinned("t0", 7),
        recall(8, "s1"),
        recall(9, "s2"),
        change("a", "v1", "v2", 5),
        whole("b", tokens=11),
    )
    rounds = (Sized(Message("assistant", "let me look"), 2), Sized(Message("tool", "found"), 30))

    plan = plan_context(room(200), ask(sent=told, rounds=rounds), turns, Epoch(), [offer("c")])

    assert isinstance(plan, Plan)
    assert plan.items == (
        Item("system", "system prompt", 5, "kept", "always whole"),
        Item("file", "a", 25, "kept", "sent earlier, still in the window"),
        Item("file", "b", 11, "kept", "sent earlier, still in the window"),
        Item("turn", "t1", 60, "kept"),
        Item("turn", "t2", 10, "kept"),
        Item("recall", "earlier turns", 17, "kept", "sent with this question"),
        Item("summary", "1 earlier turn", 6, "kept", "sent with this question"),
        Item("pin", "t0", 7, "kept", "sent with this question"),
        Item("question", "question", 5, "sent", "always whole", 5),
        Item("rounds", "tool rounds", 32, "sent", "of this turn", 32),
        Item("reply", "reply", 10, "reserved", "room for the answer"),
    )
    assert (plan.tokens, plan.hidden, plan.epoch) == (178, (), Epoch())


def test_a_pinned_turn_stays_where_it_is_between_tool_rounds():
    turns = [turn("t1", 30), turn("t2", 30, pinned("t0", 5)), turn("t3", 10)]
    rounds = (Sized(Message("tool", "found"), 40),)
    found = {
        holds: plan_context(room(100), ask(rounds=rounds, holds=holds), turns, Epoch(), [])
        for holds in ((), ("t3",), ("t0",), ("t0", "t1"))
    }

    parts = (("system", 5), ("tools", 0), ("question", 5), ("rounds", 40))
    assert [summary(found[holds]) for holds in [(), ("t3",), ("t0",)]] == [
        "t3 |  | 60",
        "t3 |  | 60",
        "t2 t3 |  | 95",
    ]
    assert found["t0", "t1"] == OverBudget(125, 100, "rounds", parts)


def test_what_is_pinned_is_told_between_tool_rounds():
    rounds = (Sized(Message("tool", "found"), 40),)

    plan = plan_context(room(100), ask(rounds=rounds, holds=("t1",)), [T1], Epoch(), [])

    assert isinstance(plan, Plan)
    assert [item for item in plan.items if item.kind == "pin"] == [
        Item("pin", "t1", 0, "kept", "pinned; still in the window")
    ]
