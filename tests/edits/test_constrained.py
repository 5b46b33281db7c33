"""A real server holds a model that knows nothing to the format: schema and grammar both bind."""

from typing import Any

import httpx
import pytest

from sill.adapters.local.supervise import LocalServer
from sill.core.constrain import SMALL, Limits, grammar, reply_schema
from sill.core.edits import Scope
from sill.core.ops import Span
from sill.core.reply import Reply, instructions, read_reply

BRIEF = Limits(message=30, anchor=20, content=40, line=20, lines=4, ops=2)
SCOPE = Scope(
    {"notes/plan.md": "# Plan\n\nBuy milk.\n", 'odd "name" é.md': "x\n", "new.md": None},
    active="notes/plan.md",
    selection=Span(8, 17),
    cursor=0,
)
WISHES = [
    "Make the title shorter.",
    "Add a line about bread.",
    "Delete the second file.",
    "Write a poem into new.md.",
    "Fix the spelling of the selection.",
    "Do nothing.",
]


def ask(server: LocalServer, seed: int, constraint: dict[str, Any]) -> str:
    body = {
        "messages": [
            {"role": "system", "content": instructions("schema", SCOPE)},
            {"role": "user", "content": WISHES[seed % len(WISHES)]},
        ],
        "max_tokens": 700,
        "temperature": 1.0,
        "seed": seed,
        **constraint,
    }
    headers = {"Authorization": f"Bearer {server.api_key}"}
    url = f"{server.base_url}/chat/completions"
    reply = httpx.post(url, json=body, headers=headers, timeout=120).json()
    assert reply["choices"][0]["finish_reason"] == "stop", reply
    return str(reply["choices"][0]["message"]["content"])


def by_schema(limits: Limits) -> dict[str, Any]:
    schema = reply_schema(SCOPE, limits)
    return {
        "response_format": {
            "type": "json_schema",
            "json_schema": {"name": "edit", "schema": schema},
        }
    }


@pytest.mark.slow
@pytest.mark.parametrize(
    "constraint",
    [
        pytest.param(by_schema(BRIEF), id="schema"),
        pytest.param({"grammar": grammar(reply_schema(SCOPE, BRIEF))}, id="grammar"),
    ],
)
def test_every_constrained_reply_can_be_read(tiny_server, constraint):
    for seed in range(4):
        text = ask(tiny_server, seed, constraint)
        assert isinstance(read_reply("schema", text, SCOPE), Reply), text


@pytest.mark.slow
@pytest.mark.parametrize("limits", [SMALL, Limits()], ids=["small", "none"])
def test_the_server_takes_the_schema_and_the_grammar(tiny_server, limits):
    """One that it cannot compile would be refused with 400."""
    headers = {"Authorization": f"Bearer {tiny_server.api_key}"}
    for constraint in (by_schema(limits), {"grammar": grammar(reply_schema(SCOPE, limits))}):
        body = {"messages": [{"role": "user", "content": "Hi"}], "max_tokens": 4, **constraint}
        url = f"{tiny_server.base_url}/chat/completions"
        reply = httpx.post(url, json=body, headers=headers, timeout=120)
        assert reply.status_code == 200, reply.text


@pytest.mark.long
def test_thirty_replies_of_the_whole_model(smol_server):
    for seed in range(30):
        text = ask(smol_server, seed, by_schema(BRIEF))
        assert isinstance(read_reply("schema", text, SCOPE), Reply), text
