"""What a client's body asks for: what is ours is read, everything else goes on as it came."""

import pytest

from sill.core.gateway import Conversation
from sill.core.request import JsonFormat, ToolSchema
from sill.engine.walking import Wish
from sill.web.gateway.failures import Failure
from sill.web.gateway.parse import Given, order_of, wish_of
from sill.web.schemas.openai import ChatCompletionRequest

HELLO = {"role": "user", "content": "Hello"}
PICTURE = {"role": "user", "content": [{"type": "image_url", "image_url": {"url": "data:,"}}]}
LOOK = {"type": "function", "function": {"name": "look", "description": "Looks.", "parameters": {"type": "object"}}}  # fmt: skip
NAMELESS = {"type": "function", "function": {}}
SEARCH = {"type": "web_search"}
SCHEMA = {"type": "json_schema", "json_schema": {"name": "n", "schema": {"type": "object"}}}


def wanted(**given) -> ChatCompletionRequest:
    return ChatCompletionRequest.model_validate({"messages": [HELLO], **given})


@pytest.mark.parametrize(
    "given, wish",
    [
        pytest.param({}, Wish(), id="nothing"),
        pytest.param({"max_tokens": 5}, Wish(max_tokens=5), id="old limit"),
        pytest.param({"max_tokens": 5, "max_completion_tokens": 7}, Wish(max_tokens=7), id="new limit first"),
        pytest.param({"temperature": 0.5}, Wish(temperature=0.5), id="temperature"),
        pytest.param({"top_p": 0.9, "seed": 3}, Wish(extra={"top_p": 0.9, "seed": 3}), id="not ours"),
        pytest.param({"stop": None}, Wish(), id="an empty wish"),
        pytest.param({"tools": [LOOK]}, Wish(tools=(ToolSchema("look", "Looks.", {"type": "object"}),)), id="a tool"),
        pytest.param({"tools": [SEARCH]}, Wish(extra={"tools": [SEARCH]}), id="a tool of the model's own"),
        pytest.param({"tool_choice": "none"}, Wish(tool_choice="none"), id="a choice"),
        pytest.param({"tool_choice": {"type": "x"}}, Wish(extra={"tool_choice": {"type": "x"}}), id="another choice"),
        pytest.param(
            {"response_format": SCHEMA},
            Wish(response_format=JsonFormat("n", {"type": "object"}), extra={"response_format": SCHEMA}),
            id="a schema",
        ),
        pytest.param({"response_format": {"type": "text"}}, Wish(extra={"response_format": {"type": "text"}}), id="plain"),
    ],
)  # fmt: skip
def test_a_body_is_a_wish(given, wish):
    assert wish_of(wanted(**given)) == wish


@pytest.mark.parametrize(
    "given, param",
    [
        pytest.param({"n": 2}, "n", id="two answers"),
        pytest.param({"logprobs": True}, "logprobs", id="probabilities"),
        pytest.param({"tools": [LOOK, NAMELESS]}, "tools[1]", id="a tool without a name"),
        pytest.param(
            {"messages": [{"content": "no role"}]}, "messages[0].role", id="nobody says it"
        ),
    ],
)
def test_what_cannot_be_is_refused_and_named(given, param):
    with pytest.raises(Failure) as caught:
        order_of(wanted(**given))

    assert (caught.value.status, caught.value.param) == (400, param)


def test_plain_talk_is_planned():
    order, notes = order_of(wanted())

    assert (type(order.said), notes) == (Conversation, [])


@pytest.mark.parametrize(
    "given, has_notes",
    [
        pytest.param({"sill": {"mode": "passthrough"}}, False, id="as the client wants it"),
        pytest.param({"messages": [HELLO, PICTURE]}, True, id="what cannot be counted, with the reason"),
    ],
)  # fmt: skip
def test_some_messages_go_on_as_they_came(given, has_notes):
    asked = wanted(**given)
    order, notes = order_of(asked)

    assert [one.body() for one in order.said if isinstance(one, Given)] == asked.messages
    assert bool(notes) == has_notes
