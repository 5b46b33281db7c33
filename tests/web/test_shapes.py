"""Values of the engine become shapes of the wire, each kind its own."""

from typing import get_args

import pytest

from sill.core.cost import DOLLAR, OverLimit, Spending
from sill.core.messages import (
    Carried,
    FileDelta,
    FileNotice,
    FileStamp,
    FileState,
    Message,
    Pinned,
    ProposalNews,
    Recall,
    Remembered,
    Summary,
    ToolCall,
    ToolCalls,
    ToolResult,
    fingerprint,
)
from sill.core.references import Reference
from sill.engine.events import Delta, Notice, Refused, Thought, ToolUsed
from sill.web.convert import labelled, stored_plan, stored_references
from sill.web.schemas.common import SourceReference
from sill.web.schemas.events import DeltaEvent, NoticeEvent, RefusedEvent, ThoughtEvent, ToolEvent
from sill.web.telling import wired

STATE = fingerprint("text")
STAMP = FileStamp("a.md", STATE)
CARRIED = [
    pytest.param(None, ("", None), id="talk"),
    pytest.param(FileState(STAMP), ("file", "a.md"), id="a file"),
    pytest.param(FileDelta(STAMP, STATE), ("delta", "a.md"), id="a change"),
    pytest.param(FileNotice("a.md", "deleted"), ("notice", "a.md"), id="a notice"),
    pytest.param(Recall(("t",)), ("recall", None), id="a recall"),
    pytest.param(Summary("t", 3), ("summary", None), id="a summary"),
    pytest.param(Pinned("t"), ("pinned", None), id="a pin"),
    pytest.param(ProposalNews(("p applied",)), ("proposalnews", None), id="news of a proposal"),
    pytest.param(Remembered(("f",)), ("remembered", None), id="a fact"),
    pytest.param(ToolCalls((ToolCall("c", "look", "{}"),)), ("call", None), id="a call"),
    pytest.param(ToolResult("c", "look"), ("tool look", None), id="what it brought"),
]


@pytest.mark.parametrize("carries, label", CARRIED)
def test_what_a_message_carries_has_a_name_and_perhaps_a_file(carries, label):
    assert labelled(Message("assistant", "text", carries)) == label


def test_nothing_that_a_message_carries_was_forgotten():
    assert {type(row.values[0]) for row in CARRIED} == {type(None), *get_args(Carried)}


LOOKED = Reference("read", "a.md", (1, 2), STATE, excerpt="text")
DEAR = OverLimit(Spending("day", 2, 1), 3)


@pytest.mark.parametrize(
    "event, shape",
    [
        pytest.param(Delta("a", 3), DeltaEvent(text="a", tokens=3), id="text"),
        pytest.param(Thought("hm"), ThoughtEvent(text="hm"), id="a thought"),
        pytest.param(Notice("x", "warning"), NoticeEvent(text="x", level="warning"), id="a notice"),
        pytest.param(
            ToolUsed("look", "at a.md", "cut", 7, (LOOKED,)),
            ToolEvent(
                name="look",
                arguments="at a.md",
                outcome="cut",
                tokens=7,
                references=[
                    SourceReference(
                        path="a.md", origin="read", fingerprint=STATE, lines=(1, 2), excerpt="text"
                    )
                ],
            ),
            id="a tool",
        ),
        pytest.param(
            Refused(9, 4, "too long"),
            RefusedEvent(reason="too long", needed=9, available=4, cost=0.0),
            id="no room",
        ),
        pytest.param(
            Refused(9, 4, "too dear", DEAR, cost=DOLLAR // 4),
            RefusedEvent(reason="too dear", needed=9, available=4, over_limit=True, cost=0.25),
            id="too dear",
        ),
        pytest.param(
            Refused(0, 0, "nobody knows", cost=None),
            RefusedEvent(reason="nobody knows", needed=0, available=0, cost=None),
            id="at a price nobody knows",
        ),
    ],
)
def test_an_event_has_a_shape_of_its_own(event, shape):
    assert wired(event) == shape


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("", id="nothing was stored"),
        pytest.param("{", id="damaged"),
        pytest.param("{}", id="of another version"),
        pytest.param("[1]", id="of another kind"),
    ],
)
def test_a_stored_plan_that_cannot_be_read_is_no_plan(text):
    assert stored_plan(text) is None


def test_of_stored_references_only_what_is_known_is_shown():
    rows = '[{"origin": "link", "path": "a.md", "later": 1}, {"path": "b.md"}, 3]'

    assert stored_references(rows) == [SourceReference(origin="link", path="a.md")]
    assert stored_references("") == []
