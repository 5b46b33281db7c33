"""Chunks in, events and one verdict out."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sill.adapters.models.assemble import Assembly
from sill.adapters.models.decode import Answer
from sill.core.certificate import Usage
from sill.core.messages import ToolCall
from sill.ports import Ended, ReasoningDelta, TextDelta, ToolCallDelta

from .fault_provider import DONE, USAGE, delta, event, finished, said


def assemble(*chunks):
    """Every event of these chunks, and the verdict."""
    assembly = Assembly()
    return [event for chunk in chunks for event in assembly.add(chunk)], assembly.end()


def piece(index=None, id=None, name=None, arguments=None):
    """A tool call's delta with only what is given in it."""
    call = {"index": index, "id": id, "function": {"name": name, "arguments": arguments}}
    return {key: value for key, value in call.items() if value is not None}


def calls(*pieces):
    return delta(tool_calls=list(pieces))


FINISH = delta("tool_calls")
READ_A, READ_B = '{"path":"a"}', '{"path":"b"}'
TWO = (ToolCall("t1", "read", READ_A), ToolCall("t2", "read", READ_B))

CALLS = [
    pytest.param([calls(piece(0, "t1", "read", READ_A))], TWO[:1], id="in one piece"),
    pytest.param(
        [
            calls(piece(0, "t1", "read", "")),
            calls(piece(0, arguments='{"pa')),
            calls(piece(0, arguments='th":"a"}')),
        ],
        TWO[:1],
        id="in pieces",
    ),
    pytest.param(
        [
            calls(piece(0, "t1", "read", '{"path"'), piece(1, "t2", "read", "{")),
            calls(piece(1, arguments='"path":"b"}'), piece(0, arguments=':"a"}')),
        ],
        TWO,
        id="two, mixed",
    ),
    pytest.param(
        [calls(piece(0, "t1", "read", READ_A)), calls(piece(0, "t2", "read", READ_B))],
        TWO,
        id="all numbered 0",
    ),
    pytest.param(
        [calls(piece(None, "t1", "read", READ_A), piece(None, "t2", "read", READ_B))],
        TWO,
        id="not numbered",
    ),
    pytest.param(
        [calls(piece(0, "t1", "read", '{"path"')), calls(piece(0, "other", arguments=':"a"}'))],
        TWO[:1],
        id="a new id on every piece",
    ),
    pytest.param(
        [calls(piece(0, None, "read", READ_A))],
        (ToolCall("call_0", "read", READ_A),),
        id="without an id",
    ),
    pytest.param(
        [calls(piece(0, "t1", "now", ""))], (ToolCall("t1", "now", ""),), id="without arguments"
    ),
    pytest.param(
        [calls(piece(0, "t1", "read", {"path": "a"}))],
        (ToolCall("t1", "read", '{"path": "a"}'),),
        id="arguments as an object",
    ),
    pytest.param(
        [delta(function_call={"name": "read", "arguments": READ_A})],
        (ToolCall("call_0", "read", READ_A),),
        id="the old function call",
    ),
]


@pytest.mark.parametrize("chunks, expected", CALLS)
def test_tool_calls_are_put_together(chunks, expected):
    _, ended = assemble(*chunks, FINISH)

    assert ended == Ended("complete", "tool_calls", None, expected)


@pytest.mark.parametrize(
    "arguments, reason",
    [
        pytest.param(
            '{"path":', "the arguments of tool call 'read' are cut off or not JSON", id="cut"
        ),
        pytest.param("[1]", "the arguments of 'read' are not an object", id="a list"),
    ],
)
def test_a_tool_call_that_does_not_parse_makes_the_reply_partial(arguments, reason):
    _, ended = assemble(calls(piece(0, "t1", "read", arguments)), FINISH)

    assert ended == Ended("partial", "tool_calls", None, reason=reason)


def test_pieces_of_a_tool_call_come_out_as_they_arrive():
    events, _ = assemble(calls(piece(0, "t1", "read", '{"p')), calls(piece(0, arguments='ath":1}')))

    assert events == [ToolCallDelta(0, "read", '{"p'), ToolCallDelta(0, "read", 'ath":1}')]


TYPED = [
    {"type": "thinking", "thinking": [{"type": "text", "text": "hm"}]},
    {"type": "text", "text": "yes"},
]


@pytest.mark.parametrize(
    "chunk, events",
    [
        pytest.param(delta(content="yes"), [TextDelta("yes")], id="text"),
        pytest.param(delta(reasoning_content="hm"), [ReasoningDelta("hm")], id="reasoning_content"),
        pytest.param(delta(reasoning="hm"), [ReasoningDelta("hm")], id="reasoning"),
        pytest.param(
            delta(reasoning="hm", reasoning_content="hm"), [ReasoningDelta("hm")], id="both, once"
        ),
        pytest.param(
            delta(content=TYPED), [ReasoningDelta("hm"), TextDelta("yes")], id="typed parts"
        ),
        pytest.param(delta(refusal="no"), [TextDelta("no")], id="a refusal is text"),
        pytest.param(delta(content=None, role="assistant"), [], id="a role only"),
        pytest.param({"choices": [{"text": "yes"}]}, [TextDelta("yes")], id="a plain completion"),
        pytest.param(
            {"choices": [{"index": 1, "delta": {"content": "x"}}]}, [], id="another choice"
        ),
        pytest.param(
            {"choices": [{"delta": {"content": 7, "tool_calls": "x"}}]}, [], id="nonsense"
        ),
    ],
)
def test_a_chunk_says(chunk, events):
    assert assemble(chunk)[0] == events


USED = {"prompt_tokens": 9, "completion_tokens": 1}


@pytest.mark.parametrize(
    "chunks, usage",
    [
        pytest.param([{**delta("stop"), "usage": USED}], Usage(9, 1), id="in the finish chunk"),
        pytest.param(
            [delta("stop"), {"choices": [], "usage": USED}], Usage(9, 1), id="in its own chunk"
        ),
        pytest.param(
            [{**delta("stop"), "x_groq": {"usage": USED}}], Usage(9, 1), id="Groq's place"
        ),
        pytest.param([{**delta("stop"), "usage": None}], None, id="null"),
        pytest.param(
            [{**delta("stop"), "timings": {"cache_n": 7, "prompt_n": 2, "predicted_n": 1}}],
            Usage(9, 1, 7),
            id="only llama.cpp's timings",
        ),
        pytest.param(
            [{**delta(), "usage": {"prompt_tokens": 9}}, {**delta("stop"), "usage": USED}],
            Usage(9, 1),
            id="the last one counts",
        ),
    ],
)
def test_usage_is_taken_wherever_it_stands(chunks, usage):
    assert assemble(*chunks)[1].usage == usage


@pytest.mark.parametrize(
    "pieces, texts",
    [
        pytest.param(["👍"], ["👍"], id="a whole character"),
        pytest.param(["up \ud83d", "\udc4d!"], ["up ", "👍!"], id="halves in two pieces"),
        pytest.param(["\ud83d", "\udc4d"], ["👍"], id="nothing but halves"),
        pytest.param(["\ud83d", "x"], ["\ufffdx"], id="the other half never comes"),
        pytest.param(["a\udc4d"], ["a\ufffd"], id="a second half alone"),
        pytest.param(["a\ud83d"], ["a"], id="cut between the halves"),
    ],
)
def test_text_is_whole_characters_however_it_is_cut(pieces, texts):
    assembly = Assembly()
    chunks = [{"choices": [{"delta": {"content": piece}}]} for piece in pieces]

    assert [event for chunk in chunks for event in assembly.add(chunk)] == [
        TextDelta(text) for text in texts
    ]


def test_a_missing_finish_reason_is_accepted_only_on_request():
    assembly = Assembly(finish_reason_optional=True)
    assembly.add(delta(content="Hello"))

    assert assembly.end() == Ended("complete", None, None)


def verdict(data: bytes) -> tuple[str, str]:
    """(outcome, text) of an answer whose bytes end cleanly here."""
    decoder, assembly = Answer(), Assembly()
    chunks = [*decoder.feed(data), *decoder.close()]
    text = "".join(
        e.text for chunk in chunks for e in assembly.add(chunk) if isinstance(e, TextDelta)
    )
    return assembly.end(decoder.fault).outcome, text


TRANSCRIPT = said("Hel") + said("lö 😀") + finished() + USAGE + DONE


def test_a_stream_cut_anywhere_before_its_finish_reason_is_partial():
    # The last event may lack its two line ends: its JSON is whole without them.
    finish_ends = TRANSCRIPT.index(finished()) + len(finished()) - 2

    outcomes = [verdict(TRANSCRIPT[:cut])[0] for cut in range(finish_ends)]

    assert set(outcomes) == {"partial"}


def test_whatever_is_called_complete_has_all_its_text():
    texts = {text for cut in range(len(TRANSCRIPT) + 1)
             for outcome, text in [verdict(TRANSCRIPT[:cut])] if outcome == "complete"}  # fmt: skip

    assert texts == {"Hellö 😀"}


def test_an_unstreamed_answer_cut_anywhere_is_partial():
    body = json.dumps(
        {"choices": [{"message": {"content": "Hello"}, "finish_reason": "stop"}]}
    ).encode()

    assert {verdict(body[:cut])[0] for cut in range(len(body))} == {"partial"}
    assert verdict(body) == ("complete", "Hello")


def feed(data: bytes, cuts):
    decoder, at, chunks = Answer(), 0, []
    for cut in [*sorted(cuts), len(data)]:
        chunks += decoder.feed(data[at:cut])
        at = cut
    return chunks + decoder.close(), decoder.fault


BODIES = [
    TRANSCRIPT,
    b"\n\n " + TRANSCRIPT,
    b'\n{"a": 1}',
    b"<html>",
    b"",
    said("x") + b"data: {\n\n",
]


@given(st.sampled_from(BODIES), st.data())
def test_an_answer_reads_the_same_in_any_pieces(data, draw):
    cuts = draw.draw(st.lists(st.integers(0, len(data)), max_size=9))

    assert feed(data, cuts) == feed(data, [])


def test_nothing_is_read_after_done():
    assert feed(event(delta(content="a")) + DONE + b"data: {nonsense\n\n", []) == (
        [delta(content="a")],
        None,
    )
