"""Mistral's format against mistral-common's own rendering, with the vocabularies that it carries."""

import json
from pathlib import Path

import mistral_common
import pytest
from mistral_common.protocol.instruct.request import ChatCompletionRequest
from mistral_common.tokens.tokenizers.mistral import MistralTokenizer

from sill.adapters.tokens._vocabularies import vocabulary
from sill.core.formats import billed, chat_of

CARRIED = Path(mistral_common.__file__).parent / "data" / "tekken_240911.json"


@pytest.fixture(scope="module", params=["v3", "v7"])
def reference(request, tmp_path_factory):
    """The reference tokenizer of one generation of the format."""
    contents = json.loads(CARRIED.read_text())
    contents["config"]["version"] = request.param
    contents.pop("multimodal", None)
    path = tmp_path_factory.mktemp("tekken") / "tekken.json"
    path.write_text(json.dumps(contents))
    return MistralTokenizer.from_file(str(path))


TOOL = {
    "type": "function",
    "function": {
        "name": "get_weather",
        "description": "Get the current weather",
        "parameters": {
            "type": "object",
            "properties": {"city": {"type": "string", "description": "The city"}},
            "required": ["city"],
        },
    },
}


def call(*ids):
    function = {"name": "get_weather", "arguments": '{"city": "Paris"}'}
    calls = [{"id": id, "type": "function", "function": function} for id in ids]
    return {"role": "assistant", "content": "", "tool_calls": calls}


def result(id, text):
    return {"role": "tool", "tool_call_id": id, "name": "get_weather", "content": text}


ASK = {"role": "user", "content": "What about Paris?"}
SAY = {"role": "assistant", "content": "It is sunny."}
LEAD = {"role": "system", "content": "Be brief."}

PLAIN = {
    "a question": {"messages": [ASK]},
    "a turn before it": {"messages": [ASK, SAY, ASK]},
}
BOUNDED = {
    "a system message": {"messages": [LEAD, ASK, SAY, ASK]},
    "tools": {"messages": [ASK], "tools": [TOOL, TOOL]},
    "a call": {"messages": [ASK, call("abc123def"), result("abc123def", "sun")], "tools": [TOOL]},
    "two calls": {
        "messages": [
            ASK,
            call("abc123def", "abc123deg"),
            result("abc123def", "sun"),
            result("abc123deg", "rain"),
        ],
        "tools": [TOOL],
    },
}


def ours(body):
    return billed(chat_of(body), "mistral", vocabulary("tekken").count).tokens


def theirs(tokenizer, body):
    return len(tokenizer.encode_chat_completion(ChatCompletionRequest(**body)).tokens)


@pytest.mark.parametrize("name", PLAIN)
def test_plain_talk_is_exact(reference, name):
    assert ours(PLAIN[name]) == theirs(reference, PLAIN[name])


@pytest.mark.parametrize("reference", ["v7"], indirect=True)
def test_a_system_message_is_exact_where_it_has_tokens_of_its_own(reference):
    body = BOUNDED["a system message"]

    assert ours(body) == theirs(reference, body)


@pytest.mark.parametrize("name", BOUNDED)
def test_the_rest_is_a_near_bound(reference, name):
    body = BOUNDED[name]
    billed_tokens = theirs(reference, body)

    assert billed_tokens <= ours(body) <= billed_tokens * 1.25
