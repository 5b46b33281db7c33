"""An answer carries what it came from, and its quotations are held against that."""

import asyncio

import pytest

from sill.core.documents import Document
from sill.core.messages import fingerprint
from sill.core.references import Reference, read_rows
from sill.engine.cited import UNKNOWN, doubts
from sill.engine.events import Finished, Notice
from sill.engine.prepare import Question
from tests.engine.test_chat import make_chat, stored

TEXT = 'the oven\nwas built in May\nby "four" hands and\nnobody saw it crack\n'
NOTE = Document("oven.md", TEXT)
STAMP = fingerprint(TEXT)
SHOWN = Reference("file", "oven.md", fingerprint=STAMP)


def references(answer: str, question: Question) -> tuple[Reference, ...]:
    chat = make_chat([answer])

    async def finished() -> Finished:
        *_, last = [event async for event in chat.ask(None, question)]
        return last

    found = asyncio.run(finished()).references
    # What is stored with the turn is what was told.
    assert read_rows(stored(chat)[0].references) == found
    return found


@pytest.mark.parametrize(
    "answer, expected",
    [
        pytest.param("in May", (SHOWN,), id="no quotation"),
        pytest.param(
            'It says "was built in May by four hands".',
            (Reference("quote", "oven.md", (2, 3), STAMP, "\n".join(TEXT.split("\n")[1:3])),),
            id="a quotation of the file names its lines",
        ),
        pytest.param(
            'It says "was built in June by four hands".',
            (
                SHOWN,
                Reference("quote", None, excerpt="was built in June by four hands", note=UNKNOWN),
            ),
            id="a quotation that is nowhere is marked",
        ),
        pytest.param(
            'You asked "when was the dome of it built".', (SHOWN,), id="what was asked is known too"
        ),
        pytest.param('the "so called" oven', (SHOWN,), id="two words are a manner of speaking"),
    ],
)
def test_quotations_of_an_answer_are_checked(answer, expected):
    asked = Question("when was the dome of it built", (NOTE,))

    assert references(answer, asked) == expected


def test_a_file_of_an_earlier_turn_is_a_source_too():
    chat = make_chat(["seen"], ['"nobody saw it crack", it says, and "nobody ever saw a crack"'])

    async def talk() -> Finished:
        first = [event async for event in chat.ask(None, Question("look", (NOTE,)))]
        *_, last = [event async for event in chat.ask(first[0].chat, Question("who saw it"))]
        return last

    assert asyncio.run(talk()).references == (
        SHOWN,
        Reference("quote", None, excerpt="nobody ever saw a crack", note=UNKNOWN),
    )


def test_links_come_first_and_a_link_to_a_shown_file_is_listed_once():
    link = Reference("link", "oven.md", (1, 4), STAMP, TEXT, "[[Ofen]]", "found by its alias")
    gone = Reference("link", None, link="[[Kiln]]", note="no such file")

    assert references("yes", Question("[[Ofen]] [[Kiln]]", (NOTE,), references=(link, gone))) == (
        link,
        gone,
    )


def test_what_is_known_about_a_typed_link_is_told_before_the_answer():
    chat = make_chat(["yes"])
    link = Reference(
        "link", "oven.md", (1, 4), STAMP, TEXT, "[[Ofen]]", "found by its alias “Ofen”"
    )

    async def first() -> object:
        question = Question("[[Ofen]]", (NOTE,), references=(link,))
        first, *_ = [event async for event in chat.ask(None, question)]
        return first

    assert asyncio.run(first()) == Notice("[[Ofen]]: found by its alias “Ofen”")


@pytest.mark.parametrize(
    "count, expected",
    [
        pytest.param(0, [], id="none"),
        pytest.param(1, [f"“said 0”: {UNKNOWN}"], id="one"),
        pytest.param(
            5,
            [*(f"“said {n}”: {UNKNOWN}" for n in range(3)), "and 2 more quotations like that"],
            id="many",
        ),
    ],
)
def test_unknown_quotations_are_told_after_the_answer(count, expected):
    unknown = [Reference("quote", None, excerpt=f"said {n}", note=UNKNOWN) for n in range(count)]

    assert doubts([SHOWN, *unknown]) == expected
