"""The answer may take what the prompt leaves of the window, and is always promised its reserve."""

import asyncio

import pytest

from sill.app.profile import profile_numbers
from sill.core.budget import Profile, budget
from sill.engine.chat import Chat
from sill.engine.events import Started
from sill.engine.prepare import Call, Question
from sill.engine.sizing import Sizer
from sill.settings import load
from sill.testing import MemoryStore, ScriptedModel, WordCounter

WINDOW = 1_600
GROWS = Profile(window=WINDOW, reply=400, reply_least=100)
ANSWER = "so " * 60


def asked(profile: Profile, turns: int) -> list[tuple[int, int, int, int, str]]:
    """Of every request: its prompt, the longest answer, the epoch, and what the ledger says of the reply."""

    async def run() -> list[tuple[int, int, int, int, str]]:
        counter, model = WordCounter(), ScriptedModel(*([ANSWER] for _ in range(turns)))
        sizer = Sizer(counter, counter.count, "folded")
        call = Call("m", profile, WINDOW, "Be brief.")
        chat, id, rows = Chat(MemoryStore(), model, counter, sizer, call, "w"), None, []
        for number in range(turns):
            async for event in chat.ask(id, Question(f"{number} " + "why " * 40)):
                if isinstance(event, Started):
                    id = event.chat
                    (item,) = (one for one in event.plan.items if one.kind == "reply")
                    prompt, epoch = event.certificate.predicted, event.plan.epoch.number
                    rows.append((prompt, epoch, item))
        return [
            (prompt, request.max_tokens, epoch, item.tokens, item.reason)
            for (prompt, epoch, item), request in zip(rows, model.sent, strict=True)
        ]

    return asyncio.run(run())


def test_an_answer_gets_all_it_may_have_until_the_prompt_needs_the_room():
    rows = asked(GROWS, 14)
    limits = budget(GROWS)

    assert [most for _, most, *_ in rows] == [
        max(100, min(400, WINDOW - prompt)) for prompt, *_ in rows
    ]
    assert rows[0][1] == limits.reply_most == 400
    assert min(most for _, most, *_ in rows) < 400  # the window did fill up
    assert all(prompt + most <= WINDOW for prompt, most, *_ in rows)
    assert rows[0][3:] == (100, "at least this much for the answer; here up to 400")


def test_a_smaller_promise_keeps_a_conversation_whole_for_longer():
    def first_eviction(profile: Profile) -> int:
        return next(at for at, row in enumerate(asked(profile, 20)) if row[2] > 0)

    assert first_eviction(GROWS) > first_eviction(Profile(window=WINDOW, reply=400))


def test_a_reserve_that_is_kept_whole_is_the_longest_answer_too():
    rows = asked(Profile(window=WINDOW, reply=400), 12)

    assert {(most, kept, reason) for _, most, _, kept, reason in rows} == {
        (400, 400, "room for the answer")
    }


@pytest.mark.parametrize(
    "given, expected",
    [
        pytest.param({}, (4_096, 512), id="as shipped"),
        pytest.param({"LLM_CHAT_REPLY": "3000"}, (3_000, None), id="what is set is kept whole"),
        pytest.param({"LLM_CHAT_REPLY_LEAST": "700"}, (4_096, 700), id="another promise"),
        pytest.param(
            {"LLM_CHAT_REPLY": "9000", "LLM_CHAT_REPLY_LEAST": "900"}, (9_000, 900), id="both"
        ),
    ],
)
def test_a_reserve_that_was_set_is_kept_as_set(tmp_path, given, expected):
    nowhere = tmp_path / "none.toml"
    settings = load(user_file=nowhere, project_file=None, environment=given)
    numbers = profile_numbers(settings, "chat")

    assert (numbers.reply, numbers.reply_least) == expected
