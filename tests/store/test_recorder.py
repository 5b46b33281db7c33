"""The flight recorder gives back exactly what was sent, and stores little for it."""

import json
from hashlib import sha256

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sill.adapters.store.drafts import Recent, new_pieces, recipe
from sill.adapters.store.frames import Frame
from sill.adapters.store.recorder import Piece, read_recipe, recalled, record
from sill.core.request import ChatRequest, WireMessage, encode

LONG = "A text that is long enough to be worth a row of its own: "
OTHER = 'Another one, with "quotes", a \\ and a\nline, as long as it has to be. '


def shown(pieces: tuple[Piece, ...]) -> list[tuple[str, str]]:
    return [(form, content.decode()) for form, content in pieces]


def request(*texts: str) -> bytes:
    wire = tuple(WireMessage("user", text) for text in texts)
    return encode(ChatRequest("m", wire, 9).body())


@pytest.mark.parametrize(
    "body, texts, expected",
    [
        pytest.param(b"", (), [], id="nothing"),
        pytest.param(b"plain", (), [("inline", "plain")], id="no JSON"),
        pytest.param(b'{"a":"short"}', (), [("inline", '{"a":"short"}')], id="short strings stay"),
        pytest.param(
            json.dumps({"a": LONG}, separators=(",", ":")).encode(),
            (),
            [("inline", '{"a":'), ("string", LONG), ("inline", "}")],
            id="a long string is a text",
        ),
        pytest.param(
            json.dumps([f"{LONG}\n\n{OTHER}", 1]).encode(),
            (OTHER, LONG),
            [
                ("inline", '["'),
                ("text", LONG),
                ("inline", "\\n\\n"),
                ("text", OTHER),
                ("inline", '", 1]'),
            ],
            id="known texts inside a string are found",
        ),
        pytest.param(
            b'["' + b"\\u00e9" * 20 + b'"]',
            (),
            [("inline", '["' + "\\u00e9" * 20 + '"]')],
            id="escaped in another way, kept as it is",
        ),
    ],
)
def test_record(body, texts, expected):
    recording = record(body, texts)

    assert shown(recording.pieces) == expected
    assert b"".join(piece.rendered() for piece in recording.pieces) == body


def test_the_next_request_keeps_the_pieces_of_the_last():
    first = record(request(LONG, OTHER))
    second = record(request(LONG, OTHER, LONG + OTHER), (), first)

    assert second.pieces[: len(first.pieces) - 1] == first.pieces[:-1]
    assert second == record(second.body)


def test_after_an_eviction_the_texts_of_the_last_request_are_found_again():
    folded = f"{LONG}\n\n{OTHER}"
    first = record(request("gone " * 30, folded), (LONG, OTHER))
    second = record(request(folded), (), first)

    assert [content for form, content in second.pieces if form == "text"] == [
        LONG.encode(),
        OTHER.encode(),
    ]


def stored(bodies: list[tuple[bytes, tuple[str, ...]]]) -> list[bytes]:
    """The bodies after a way through contents, recipes and back, as a database does it."""
    keys: dict[bytes, int] = {}
    recent, back = Recent(), []
    for body, texts in bodies:
        recording = record(body, texts, recent.recording)
        for content in new_pieces(recording, recent):
            keys.setdefault(content, len(keys))
        made = recipe(recording, recent, keys)
        found = {key: content for content, key in made.keys.items()}
        pieces, ends = read_recipe(made.body)
        again = recalled(pieces, found)
        assert (again, again.hash, ends) == (recording, sha256(body).digest(), made.ends)
        back.append(again.body)
        recent = Recent(1, recording, made.keys, Frame(1, made.body, 0), made.ends)
    return back


anything = st.text(st.characters(codec="utf-8"), max_size=200)


@given(st.lists(st.tuples(st.binary(max_size=300), st.tuples(anything, anything)), max_size=4))
def test_any_bytes_come_back(bodies):
    assert stored(bodies) == [body for body, _ in bodies]


@given(st.lists(st.lists(anything, max_size=5), max_size=4), st.data())
def test_any_requests_come_back(chats, data):
    bodies = []
    for texts in chats:
        joined = data.draw(st.sampled_from(["", "\n", '"', "\\", "\\\\u"])).join(texts)
        bodies.append((request(*texts, joined), tuple(texts)))

    assert stored(bodies) == [body for body, _ in bodies]
