"""Requests for clients that resend everything: they fit, they grow at their end, they repeat."""

import asyncio
import json
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sill.core.budget import Profile
from sill.core.gateway import read_messages
from sill.core.plan import OverBudget
from sill.core.request import ToolSchema, encode
from sill.engine.gateway import Fitted, Fitter
from sill.engine.prepare import Call
from sill.engine.sizing import Sizer
from sill.engine.walking import Wish
from sill.testing import WordCounter

PROFILE = Profile(window=200, reply=20)
SUBJECTS = ["garlic", "slugs", "bread", "oven", "frost", "rain", "compost", "potatoes"]
PLAIN = Wish()


def fitter(window=200, recalls=(0.1, 0.3)):
    counter = WordCounter()
    return Fitter(
        call=Call("m", PROFILE, window, "unused"),
        counter=counter,
        sizer=Sizer(counter, counter.count, "folded"),
        recalls=recalls,
    )


def fit(planner, messages, wish=PLAIN):
    return asyncio.run(planner.fit(read_messages(messages), wish))


def chat(turns, words=8):
    """A growing chat, each turn about something else: its messages as they are sent for each question."""
    messages = [{"role": "system", "content": "You are brief."}]
    for number in range(turns):
        asked = " ".join(f"ask{number}x{word}" for word in range(words))
        said = " ".join(f"say{number}x{word}" for word in range(words))
        messages.append({"role": "user", "content": f"Question: {asked}?"})
        yield list(messages)
        messages.append({"role": "assistant", "content": f"Answer: {said}."})


def body(fitted):
    return encode(fitted.request.body())


def sent(fitted):
    return [message.body() for message in fitted.request.messages]


def test_a_short_chat_is_sent_as_it_came():
    *_, messages = chat(3)

    fitted = fit(fitter(), messages)

    assert [m["content"] for m in sent(fitted)] == [m["content"] for m in messages]
    assert (fitted.evicted, fitted.recalled, fitted.plan.epoch.number) == (0, 0, 0)


@pytest.mark.parametrize("recalls", [None, (0.1, 0.3)], ids=["without recall", "with recall"])
def test_every_request_of_a_long_chat_fits_and_grows_within_its_epoch(recalls):
    planner = fitter(recalls=recalls)
    last = None
    epochs = set()
    for messages in chat(150):
        fitted = fit(planner, messages)
        assert isinstance(fitted, Fitted)
        assert fitted.certificate.predicted <= 200 - 20
        assert sent(fitted)[-1]["content"].endswith(messages[-1]["content"])
        epoch = fitted.plan.epoch.number
        if last is not None and epoch == last[0]:
            assert sent(fitted)[: len(last[1])] == last[1]
        last = (epoch, sent(fitted))
        epochs.add(epoch)

    assert 20 < len(epochs) < 50


@pytest.mark.parametrize("turns", [1, 40, 64, 65, 66, 130])
def test_a_planner_that_never_saw_the_chat_gives_the_same_bytes(turns):
    planner = fitter()
    for messages in chat(turns):
        known = fit(planner, messages)

    assert body(fit(fitter(), messages)) == body(known)
    assert body(fit(planner, messages)) == body(known)


def test_epochs_are_numbered_upwards_however_long_the_chat():
    planner = fitter()
    numbers = [fit(planner, messages).plan.epoch.number for messages in chat(140)]

    assert numbers == sorted(numbers)
    assert numbers[0] == 0


def test_a_long_chat_that_fits_is_sent_whole():
    planner = fitter(window=4000)
    *_, messages = chat(100)

    assert [m["content"] for m in sent(fit(planner, messages))] == [m["content"] for m in messages]


def test_what_left_comes_back_when_the_question_needs_it():
    *_, messages = chat(40)
    messages[1]["content"] = "My grandmother planted Rosemary Lane cider apples behind the shed."
    messages[-1]["content"] = "Which cider apples did my grandmother plant?"

    fitted = fit(fitter(window=600), messages)

    assert fitted.recalled >= 1
    assert "Rosemary Lane cider apples" in sent(fitted)[-1]["content"]
    assert "1970" not in sent(fitted)[-1]["content"]
    assert fitted.evicted > 10


def test_without_recall_it_stays_out():
    *_, messages = chat(40)
    messages[1]["content"] = "My grandmother planted Rosemary Lane cider apples behind the shed."
    messages[-1]["content"] = "Which cider apples did my grandmother plant?"

    assert "Rosemary" not in body(fit(fitter(recalls=None), messages)).decode()


def test_a_question_that_cannot_fit_is_over_budget():
    over = fit(fitter(), [{"role": "user", "content": "word " * 500}])

    assert isinstance(over, OverBudget)
    assert (over.part, over.available) == ("question", 180)


def test_a_long_system_prompt_is_the_clients_own_affair():
    messages = [{"role": "system", "content": "rule " * 120}, {"role": "user", "content": "hello"}]

    assert isinstance(fit(fitter(), messages), Fitted)


@pytest.mark.parametrize(
    "asked, most",
    [
        pytest.param(None, 20, id="the profile's reply"),
        pytest.param(5, 5, id="what the client wants"),
        pytest.param(10_000, 200 - 3, id="never more than the window has left"),
    ],
)
def test_the_reply_is_as_long_as_the_client_wants_and_the_window_allows(asked, most):
    fitted = fit(fitter(), [{"role": "user", "content": "hello"}], Wish(max_tokens=asked))

    assert fitted.request.max_tokens == most


def test_what_the_client_wants_beside_goes_along():
    tool = ToolSchema("look", "Look it up.", {"type": "object"})
    wish = Wish(temperature=0.9, tools=(tool,), extra={"seed": 7, "top_p": 0.5})

    sent = fit(fitter(), [{"role": "user", "content": "hello"}], wish).request.body()

    assert (sent["temperature"], sent["seed"], sent["top_p"]) == (0.9, 7, 0.5)
    assert sent["tools"] == [tool.body()]


# --- For every history ---------------------------------------------------------------------------

WORDS = st.lists(st.sampled_from([*SUBJECTS, "the", "is", "yes"]), min_size=1, max_size=12)


@st.composite
def histories(draw):
    messages = []
    if draw(st.booleans()):
        messages.append({"role": "system", "content": "rules apply"})
    for number in range(draw(st.integers(1, 25))):
        messages.append({"role": "user", "content": " ".join(draw(WORDS))})
        for round in range(draw(st.sampled_from([0, 0, 0, 1, 2]))):
            call = {"name": "look", "arguments": "{}"}
            id = f"c{number}-{round}"
            messages.append(
                {
                    "role": "assistant",
                    "content": None,
                    "tool_calls": [{"id": id, "type": "function", "function": call}],
                }
            )
            messages.append({"role": "tool", "tool_call_id": id, "content": " ".join(draw(WORDS))})
        messages.append({"role": "assistant", "content": " ".join(draw(WORDS))})
    return messages


@settings(max_examples=60, deadline=None)
@given(histories())
def test_any_history_fits_repeats_and_keeps_calls_with_results(messages):
    planner = fitter(window=120)
    asked = [at for at, m in enumerate(messages) if m["role"] in ("user", "tool")]
    last = None
    for at in asked:
        fitted = fit(planner, messages[: at + 1])
        assert isinstance(fitted, Fitted)
        assert fitted.certificate.predicted <= 120 - 20
        wire = sent(fitted)
        called = [c["id"] for m in wire for c in m.get("tool_calls", ())]
        answered = [m["tool_call_id"] for m in wire if m["role"] == "tool"]
        assert called == answered
        if last is not None and fitted.plan.epoch == last[0]:
            assert wire[: len(last[1])] == last[1]
        last = (fitted.plan.epoch, wire)

    assert body(fit(fitter(window=120), messages[: asked[-1] + 1])) == body(fitted)


def test_another_window_is_another_plan():
    *_, messages = chat(30)
    planner = fitter()
    narrow = fit(planner, messages)
    planner.call = replace(planner.call, window=400)
    wide = fit(planner, messages)

    assert wide.evicted < narrow.evicted


def tool_loop(rounds, words=30):
    """One question and a long loop of tools, as it is sent after each round."""
    messages = [{"role": "user", "content": "find it"}]
    for number in range(rounds):
        call = {
            "id": f"c{number}",
            "type": "function",
            "function": {"name": "look", "arguments": json.dumps({"at": number})},
        }
        messages.append({"role": "assistant", "content": None, "tool_calls": [call]})
        result = " ".join(f"result{number}x{word:015}" for word in range(words))
        messages.append({"role": "tool", "tool_call_id": f"c{number}", "content": result})
        yield list(messages)


def test_a_long_loop_of_tools_gives_up_its_older_results_first():
    planner = fitter(window=400)
    last = None
    jumps = 0
    for messages in tool_loop(15):
        fitted = fit(planner, messages)
        assert isinstance(fitted, Fitted)
        assert fitted.certificate.predicted <= 400 - 20
        wire = sent(fitted)
        assert wire[-1]["content"] == messages[-1]["content"]
        if last is not None and wire[: len(last)] != last:
            jumps += 1
        last = wire

    assert fitted.masked > 8
    assert 1 <= jumps <= 6
    assert "look 0: 719 characters" in wire[2]["content"]
    assert body(fit(fitter(window=400), messages)) == body(fitted)
    after = [
        *messages,
        {"role": "assistant", "content": "there"},
        {"role": "user", "content": "thanks"},
    ]
    assert sent(fit(planner, after))[: len(wire)] == wire
