"""Prompt sizes that services really billed."""

import asyncio
import json
import os
from pathlib import Path

import pytest

from sill.adapters.tokens import counter_for

ROOT = Path(__file__).resolve().parents[2]


def count(body):
    async def work():
        chosen = await counter_for(body["model"])
        return await chosen.counter.count_body(body)

    return asyncio.run(work())


def asked(model, *contents, **more):
    messages = [{"role": role, "content": text} for role, text in contents]
    return {"model": model, "messages": messages, **more}


# The published formulas on texts whose tokens are plain to see: "hello" and " world" are one each.
@pytest.mark.parametrize(
    "body, expected",
    [
        pytest.param(asked("gpt-4", ("user", "hello world")), 3 + 1 + 2 + 3, id="gpt-4"),
        pytest.param(asked("gpt-3.5-turbo", ("user", "hello")), 8, id="gpt-3.5"),
        pytest.param(asked("gpt-4o", ("system", "hello"), ("user", "hello")), 13, id="gpt-4o"),
        pytest.param(asked("gpt-5", ("user", "hello world")), 4 + 2 + 2, id="gpt-5"),
        pytest.param(asked("gpt-5-mini", ("user", "hello"), ("assistant", "hello")), 12, id="mini"),
        pytest.param(asked("o3", ("user", "hello")), 7, id="o3"),
        pytest.param(asked("mistral-large-latest", ("user", "hello")), 1 + 2 + 1, id="mistral"),
        pytest.param(
            asked("gpt-4", ("user", "<|endoftext|>")), 3 + 1 + 7 + 3, id="special text is text"
        ),
    ],
)
def test_published_formulas(body, expected):
    counts = count(body)

    assert (counts.tokens, counts.kind) == ((expected,), "exact")


def recorded_bills():
    """The file named by SILL_PROMPT_TOKENS, or one kept in a folder beside the repository."""
    if named := os.environ.get("SILL_PROMPT_TOKENS"):
        return Path(named)
    return next(iter(sorted(ROOT.parent.glob("*/data/prompt-tokens-dev.json"))), None)


def test_recorded_bills_are_never_above_the_count():
    path = recorded_bills()
    if path is None:
        pytest.skip("no recorded bills at hand: set SILL_PROMPT_TOKENS to a file of them")
    cases = [case for group in json.loads(path.read_text()).values() for case in group]
    counted = [(case, count(case)) for case in cases]

    short = [case["id"] for case, counts in counted if counts.tokens[0] < case["prompt_tokens"]]
    wrong = [
        case["id"]
        for case, counts in counted
        if counts.kind == "exact" and counts.tokens[0] != case["prompt_tokens"]
    ]
    over = [counts.tokens[0] / case["prompt_tokens"] - 1 for case, counts in counted]
    assert short == []
    assert wrong == []
    assert sum(over) / len(over) <= 0.03


# One record was changed after it was billed: a comment in the document it sends reads otherwise in the file as it was
# published. With the published words it is billed to the token.
CHANGED = (
    "Add them to the `redirects` block in the unified-docs repo (pydantic/unified-docs, astro.config.mjs).",
    "Instead add them to docs-site/src/index.ts",
)


def test_texts_that_come_in_parts_are_billed_as_one_text():
    path = recorded_bills()
    if path is None:
        pytest.skip("no recorded bills at hand: set SILL_PROMPT_TOKENS to a file of them")
    cases = [case for group in json.loads(path.read_text()).values() for case in group]
    parted = [
        case for case in cases if "tools" not in case and any(map(is_parted, case["messages"]))
    ]
    for part in (part for case in parted for one in case["messages"] for part in one["content"]):
        part["text"] = part["text"].replace(*CHANGED)

    counted = {case["id"]: (count(case).tokens[0], case["prompt_tokens"]) for case in parted}

    assert counted
    assert {id: pair for id, pair in counted.items() if pair[0] != pair[1]} == {}


def is_parted(message):
    content = message.get("content")
    return (
        isinstance(content, list)
        and len(content) > 1
        and all(part["type"] == "text" for part in content)
    )
