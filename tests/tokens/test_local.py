"""Counting on this machine: exact texts, sums that never fall short, and no text that hangs."""

import asyncio
import base64
import random
import threading

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sill.adapters.tokens import counter_for
from sill.adapters.tokens import local as local_module
from sill.adapters.tokens._vocabularies import Count
from sill.adapters.tokens._vocabularies import vocabulary as packaged
from sill.adapters.tokens._wire import sound
from sill.core.certificate import Counts, weakest
from sill.core.families import family_of
from sill.core.messages import ToolCall
from sill.core.request import ChatRequest, JsonFormat, ToolSchema, WireMessage

from .texts import hard_texts

MODELS = [
    "gpt-5", "gpt-4o", "gpt-4", "gpt-3.5-turbo", "o1-mini", "gpt-oss-120b", "devstral-small-2",
    "mistral-large-latest", "mistral-small-latest", "llama-3.1-8b", "llama-4-scout", "deepseek-chat",
    "qwen3-8b", "claude-opus-4", "unheard-of",
]  # fmt: skip

texts = st.one_of(
    st.text(max_size=40),
    st.sampled_from(["", "\n", " x", "hello world", "<|im_end|>", "def f():\n    pass\n"]),
)
names = st.sampled_from(["read", "get_user_country", "durability_get_weather_in_city", "a-b_c9"])
calls = st.builds(ToolCall, st.just("id"), names, st.sampled_from(["{}", '{"path": "a.md"}', "x"]))


@st.composite
def turns(draw):
    said = [WireMessage("user", draw(texts))]
    if draw(st.booleans()):
        call = draw(calls)
        said.append(WireMessage("assistant", draw(st.none() | texts), tool_calls=(call,)))
        said.append(WireMessage("tool", draw(texts), tool_call_id="id", name=call.name))
    if draw(st.booleans()):
        said.append(WireMessage("assistant", draw(texts)))
    return said


@st.composite
def message_lists(draw):
    lead = [WireMessage("system", draw(texts))] if draw(st.booleans()) else []
    return (*lead, *(m for turn in draw(st.lists(turns(), max_size=4)) for m in turn))


async def sum_of_parts(counter, messages):
    """What a plan adds up: every text alone, and the overhead of its role."""
    overhead = await counter.overhead()
    led = bool(messages) and messages[0].role == "system"
    total = overhead.request + (0 if led else overhead.default_system)
    for message in messages:
        parts = [message.content or ""]
        for call in message.tool_calls:
            parts += [call.name, call.name, call.arguments]
            total += overhead.tool_call
        total += sum((await counter.count(parts)).tokens) + overhead.message[message.role]
    return total


@pytest.mark.parametrize("model", MODELS)
def test_the_sum_of_parts_is_never_below_the_whole(model):
    counter = asyncio.run(counter_for(model)).counter

    @settings(max_examples=120, suppress_health_check=[HealthCheck.too_slow], deadline=None)
    @given(message_lists())
    def holds(messages):
        async def both():
            request = ChatRequest(model, messages, max_tokens=1)
            whole = await counter.count_request(request)
            return whole.tokens[0], await sum_of_parts(counter, messages)

        whole, parts = asyncio.run(both())
        assert whole <= parts

    holds()


@pytest.mark.parametrize("model", ["gpt-5", "devstral-small-2", "llama-3.1-8b"])
def test_a_batch_is_counted_text_by_text(model):
    batch = list(hard_texts(200, seed=11))
    counter = asyncio.run(counter_for(model)).counter

    together = asyncio.run(counter.count(batch))
    alone = [asyncio.run(counter.count([text])).tokens[0] for text in batch]

    assert together == Counts(tuple(alone), "exact")


ADVERSARIAL = {
    "one letter": "a" * 1_000_000,
    "spaces": " " * 1_000_000,
    "newlines": "\n" * 1_000_000,
    "emoji": "👍" * 250_000,
    "base64": base64.b64encode(random.Random(1).randbytes(750_000)).decode(),
    "equals signs": "=" * 1_000_000,
    "carriage returns": "\r" * 1_000_000,
    "NUL": "\0" * 1_000_000,
    "a letter a line": "a\n" * 500_000,
    "combining marks": "\u0301" * 500_000,
    "one Chinese run": "".join(map(chr, random.Random(2).choices(range(0x4E00, 0x9FFF), k=333_000))),
    "digits": "".join(random.Random(3).choices("0123456789", k=1_000_000)),
    "punctuation": "".join(random.Random(4).choices("!#$%&()*+,-./:;<=>?@[]^_{|}~'\"\\", k=1_000_000)),
    "zero-width joiners": "\u200d" * 333_000,
    "families": "👩\u200d👩\u200d👧" * 55_000,
    "letters": "".join(random.Random(5).choices("abcdefghijklmnopqrstuvwxyz", k=1_000_000)),
    "half surrogates": "\ud800" * 333_000,
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize(
    "model",
    ["gpt-5", "gpt-4", "devstral-small-2", "llama-3.1-8b", "deepseek-chat", "unheard-of"],
)
@pytest.mark.parametrize("name", ADVERSARIAL)
def test_a_megabyte_without_a_cut_is_counted(model, name):
    text = ADVERSARIAL[name]
    counter = asyncio.run(counter_for(model)).counter

    counts = asyncio.run(counter.count([text]))

    # On a machine that is busy enough only a bound may be known in time.
    assert weakest(counts.kind, "bound") == weakest(counter.tokenizer.kind, "bound")
    assert 0 < counts.tokens[0] <= len(sound(text).encode())


def held_up(release: threading.Event) -> Count:
    """A vocabulary that does not answer before it is released."""

    def count(text: str) -> int:
        assert release.wait(60)
        return 1

    return count


@pytest.mark.parametrize(
    "count, expected",
    [
        pytest.param(
            lambda counter: counter.count(["é" * 500_001, "ab"]), (1_000_002, 2), id="texts"
        ),
        pytest.param(
            lambda counter: counter.count_body(
                {"messages": [{"role": "user", "content": "é" * 600_000}]}
            ),
            (1_200_007,),
            id="a request",
        ),
    ],
)
def test_nobody_waits_for_a_count_that_does_not_come(count, expected):
    async def run():
        release = threading.Event()
        family = family_of("gpt-4o")
        counter = local_module.Local(family, held_up(release), seconds=0.01)
        try:
            return await count(counter)
        finally:
            release.set()

    assert asyncio.run(run()) == Counts(expected, "bound")


@pytest.mark.parametrize(
    "model, ratio, expected",
    [
        pytest.param("gpt-5", 1.0, True, id="a proved vocabulary"),
        pytest.param("hermes-3-8b", 1.0, True, id="guessed, but proved"),
        pytest.param("hermes-3-8b", 1.1, False, id="scaled, so rounded up"),
        pytest.param("qwen3-8b", 1.0, False, id="not proved"),
        pytest.param("claude-sonnet-4-5", 1.0, False, id="only alike"),
    ],
)
def test_whose_counts_add_up_at_cuts(model, ratio, expected):
    assert local_module.local_counter(family_of(model), ratio).cuts is expected


@pytest.mark.parametrize("vocabulary", ["o200k_base", "tekken"])
def test_what_is_too_long_to_count_in_time_is_bounded_by_its_bytes(vocabulary, monkeypatch):
    monkeypatch.setattr(local_module, "AT_ONCE", 1_000)
    count = packaged(vocabulary).count
    text = "x" * 5_000 + " and words" * 300

    in_time = local_module.bounded_count(text, count, until=float("inf"))
    too_late = local_module.bounded_count(text, count, until=0.0)

    assert in_time[1] == too_late[1] == "bound"
    assert count(text) <= in_time[0] <= too_late[0] == len(text)


def test_a_lone_surrogate_is_counted_as_the_replacement_character():
    counter = asyncio.run(counter_for("gpt-5")).counter

    assert asyncio.run(counter.count(["a\ud800b"])) == asyncio.run(counter.count(["a\ufffdb"]))


@pytest.mark.parametrize("inside", ["properties", "items", "anyOf"])
def test_a_schema_that_contains_itself_is_counted_somehow(inside):
    loop = {"type": "array" if inside == "items" else "object"}
    loop[inside] = {"properties": {"a": loop}, "items": loop, "anyOf": [loop]}[inside]
    tool = ToolSchema("f", "", {"type": "object", "properties": {"a": loop}})
    request = ChatRequest("gpt-5", (WireMessage("user", "hi"),), 1, tools=(tool,))

    counts = asyncio.run(asyncio.run(counter_for("gpt-5")).counter.count_request(request))

    assert counts.tokens[0] > 90


def test_tools_and_reply_schemas_add_to_the_count():
    counter = asyncio.run(counter_for("gpt-5")).counter
    plain = ChatRequest("gpt-5", (WireMessage("user", "hi"),), max_tokens=1)
    schema = {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]}
    tools = (ToolSchema("f", "Does f.", schema),)

    sizes = [
        asyncio.run(counter.count_request(request)).tokens[0]
        for request in (
            plain,
            ChatRequest("gpt-5", plain.messages, 1, tools=tools),
            ChatRequest("gpt-5", plain.messages, 1, response_format=JsonFormat("r", schema)),
        )
    ]

    assert sizes[0] < min(sizes[1:])
