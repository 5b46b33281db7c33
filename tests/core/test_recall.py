"""Which earlier utterances a question needs, and what is said of them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sill.core.memory import Memory, Utterance, sentences, utterance
from sill.core.periods import Period, closeness, named
from sill.core.recall import Closeness, is_follow_up, query, rank
from sill.core.stems import stem, terms

DAY = 86_400_000
MAY_8 = 1_683_504_000_000  # 2023


def remember(*said: str, apart: int = 0) -> Memory:
    memory = Memory()
    memory.add(
        utterance(f"t{number}", number, MAY_8 + number * apart, "user", text)
        for number, text in enumerate(said, start=1)
    )
    return memory


def best(memory: Memory, question: str, *recent: str) -> str:
    return memory.said[rank(memory, query(question, recent))[0].place].text


@pytest.mark.parametrize(
    "forms",
    [
        pytest.param("run runs running ran", id="irregular"),
        pytest.param("camp camps camped camping", id="regular"),
        pytest.param("story stories", id="y"),
        pytest.param("child children kid kids", id="same thing"),
        pytest.param("Maria's maria", id="possessive"),
        pytest.param("paint painting painted", id="ing"),
        pytest.param("donate donation donated", id="ation"),
    ],
)
def test_forms_of_one_word_have_one_stem(forms):
    assert len(set(terms(forms))) == 1


@pytest.mark.parametrize(
    "text, expected",
    [
        pytest.param("what was it about", [], id="common words"),
        pytest.param("東京 и Москва", ["東京", "и", "москва"], id="other scripts as they stand"),
        pytest.param("it’s Ann’s", ["ann"], id="typographic apostrophe"),
        pytest.param("", [], id="nothing"),
    ],
)
def test_terms(text, expected):
    assert terms(text) == expected


@given(st.text())
def test_stems_never_fail_and_are_never_longer(word):
    assert len(stem(word.lower())) <= max(len(word.lower()), 12)


@pytest.mark.parametrize(
    "text, speaker, rest",
    [
        pytest.param("Ann: hello", "Ann", "hello", id="named"),
        pytest.param("Mary Ann: hello", "Mary Ann", "hello", id="two names"),
        pytest.param("hello: there", "hello", "there", id="looks like a name"),
        pytest.param("see https://x.org", "user", "see https://x.org", id="an address"),
        pytest.param("at 10:30", "user", "at 10:30", id="a time"),
        pytest.param("Ann:", "user", "Ann:", id="says nothing"),
    ],
)
def test_who_speaks(text, speaker, rest):
    assert utterance("t", 1, 0, "user", text) == Utterance("t", 1, speaker, 0, rest)


@pytest.mark.parametrize(
    "question, expected",
    [
        pytest.param("When did Ann go camping?", False, id="stands by itself"),
        pytest.param("And when was that?", True, id="points"),
        pytest.param("Why?", True, id="one word"),
        pytest.param("what about the kitchen?", True, id="adds"),
        pytest.param("Did it break the new oven door again?", False, id="says enough"),
    ],
)
def test_follow_ups(question, expected):
    assert is_follow_up(question) is expected


FAR = (
    "We fired the oven with beech.",
    "The tomatoes have blight again.",
    "Ann: my sister moved to Lisbon last spring.",
    "Bob: my sister moved to Oslo.",
    "Let us talk about something else.",
)


@pytest.mark.parametrize(
    "question, recent, expected",
    [
        pytest.param("what wood for the oven?", (), FAR[0], id="words"),
        pytest.param("did a tomato get blighted?", (), FAR[1], id="other forms"),
        pytest.param("Where did Bob's sister move?", (), "my sister moved to Oslo.", id="speaker"),
        pytest.param("and when was that?", ("where did Ann's sister go, Lisbon?",),
                     "my sister moved to Lisbon last spring.", id="follow-up with the recent subject"),
        pytest.param("why?", ("where is the blight on the tomatoes?", "really?"), FAR[1], id="over a chain of follow-ups"),
    ],
)  # fmt: skip
def test_the_best_utterance(question, recent, expected):
    assert best(remember(*FAR), question, *recent) == expected


def test_an_answer_is_found_by_the_words_of_its_question():
    memory = remember("nothing here", "which paint was on the door?", "linseed", "nothing there")

    ranked = rank(memory, query("paint of the door"))

    assert {scored.place for scored in ranked[:2]} == {1, 2}


def test_the_time_of_a_question_counts():
    memory = remember("we ate soup", "we ate soup", "we ate soup", apart=40 * DAY)

    assert rank(memory, query("what soup was it in June 2023?"))[0].place == 0
    assert rank(memory, query("what soup was it in August 2023?"))[0].place == 2


def test_meaning_finds_what_has_no_word_in_common():
    memory = remember(*FAR)
    close = Closeness([0.1, 0.1, 0.1, 0.1, 0.9], [0.1, 0.1, 0.1, 0.5, 0.9])

    assert rank(memory, query("change of subject"), close)[0].place == 4


@pytest.mark.parametrize(
    "memory, question",
    [
        pytest.param(Memory(), "what?", id="nothing was said"),
        pytest.param(remember("one"), "and what is it?", id="nothing to look for"),
    ],
)
def test_nothing_is_ranked(memory, question):
    assert rank(memory, query(question)) == []


@given(st.lists(st.text(max_size=40), min_size=1, max_size=12), st.text(max_size=60))
def test_a_rank_holds_every_utterance_once_and_does_not_depend_on_how_the_memory_grew(
    said, question
):
    at_once, one_by_one = remember(*said), Memory()
    for one in at_once.said:
        one_by_one.add([one])
        rank(one_by_one, query(question))

    ranked = rank(at_once, query(question))

    assert ranked == rank(one_by_one, query(question))
    assert sorted(scored.place for scored in ranked) in ([], list(range(len(at_once.said))))
    assert all(0 <= scored.chance <= 1 for scored in ranked)


@pytest.mark.parametrize(
    "question, expected",
    [
        pytest.param("on May 25, 2023", (Period(2023, 5, 25),), id="American"),
        pytest.param("on the 3rd of June", (Period(None, 6, 3),), id="English"),
        pytest.param("in July 2022 or August", (Period(2022, 7), Period(None, 8)), id="months"),
        pytest.param("may I march?", (), id="not months"),
        pytest.param("in May", (Period(None, 5),), id="a month after all"),
        pytest.param("2023-11-05", (Period(2023, 11, 5),), id="ISO"),
        pytest.param("back in 2019", (Period(2019),), id="a year"),
        pytest.param("room 1204", (), id="a number"),
    ],
)
def test_dates_in_questions(question, expected):
    assert named(question) == expected


@pytest.mark.parametrize(
    "period, expected",
    [
        pytest.param(Period(2023, 5, 8), 1.0, id="that day"),
        pytest.param(Period(2023, 5, 1), 1.0, id="told a week later"),
        pytest.param(Period(2023, 4, 10), 0.4, id="a month later"),
        pytest.param(Period(2023, 6, 8), 0.0, id="not before it happened"),
        pytest.param(Period(None, 5), 1.0, id="that month of any year"),
        pytest.param(Period(2023, 4), 0.5, id="last month"),
        pytest.param(Period(2023), 0.3, id="that year"),
        pytest.param(Period(2022), 0.0, id="another year"),
        pytest.param(Period(2023, 2, 31), 0.0, id="no such day"),
    ],
)
def test_a_moment_fits_a_period(period, expected):
    assert closeness(MAY_8, [period], [2022, 2023]) == expected


@given(st.integers(), st.integers(0, 9999), st.integers(1, 12), st.integers(0, 99))
def test_no_moment_is_too_far(moment, year, month, day):
    assert 0 <= closeness(moment, [Period(year, month, day)], [year]) <= 1


@given(st.text(alphabet=" .!?\n[](abcÄ。'\"", max_size=80))
def test_sentences_hold_the_whole_text(text):
    together = "".join(sentence.text for sentence in sentences(text))

    assert "".join(together.split()) == "".join(text.split())


def test_a_run_of_marks_is_read_in_no_time():
    assert len(sentences("." * 200_000 + "x")) == 1
