"""A client that resends a chat of three windows, on the real tiny model."""

import random
from dataclasses import dataclass
from itertools import pairwise

import openai
import pytest

from .live import Live

pytestmark = pytest.mark.slow

TURNS, WINDOW = 40, 2048
SYLLABLES = ["ba", "do", "fe", "gu", "ki", "lo", "mu", "na", "pe", "ri", "so", "tu", "va", "ze"]


@dataclass(frozen=True, slots=True)
class Asked:
    epoch: int
    prompt: int
    cached: int
    predicted: int
    evicted: int


def grow(live: Live) -> list[Asked]:
    client = openai.OpenAI(base_url=live.url + "/v1", api_key=live.token, max_retries=0)
    dice = random.Random(7)
    messages = [{"role": "system", "content": "You answer in one sentence."}]
    asked = []
    for number in range(TURNS):
        words = ("".join(dice.choices(SYLLABLES, k=3)) for _ in range(40))
        text = " ".join(words)
        messages.append({"role": "user", "content": f"Item {number}: {text}. What is it for?"})
        answer = client.chat.completions.create(
            model="sill", messages=messages, max_tokens=24, temperature=0, seed=number
        )
        said, usage = answer.choices[0].message.content, answer.usage
        messages.append({"role": "assistant", "content": said or "-"})
        asked.append(
            Asked(
                answer.sill["epoch"],
                usage.prompt_tokens,
                usage.prompt_tokens_details.cached_tokens,
                answer.sill["predicted_tokens"],
                answer.sill["evicted_turns"],
            )
        )
    return asked


def test_a_chat_of_three_windows_gets_every_answer_and_keeps_its_prefix(live):
    asked = grow(live)
    pairs = [(last, now) for last, now in pairwise(asked) if last.epoch == now.epoch]
    reused = sum(now.cached for _, now in pairs) / sum(last.prompt for last, _ in pairs)

    assert len(asked) == TURNS
    assert asked[-1].evicted > TURNS / 2
    assert sum(later.prompt - one.prompt for one, later in pairs) > WINDOW
    assert all(one.prompt == one.predicted <= WINDOW for one in asked)
    assert len(pairs) > TURNS / 2
    assert reused >= 0.9
