"""What is worked out before a transaction begins, so that it holds the database for as short as it can."""

from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from typing import TypeVar

from ...core.certificate import Certificate
from ...core.messages import Epoch, Message
from ...ports import Closing, Opening, SoFar
from . import codec, contents, recorder
from .frames import Frame

K = TypeVar("K")
V = TypeVar("V")

REMEMBERED_CHATS = 8


def remember(known: OrderedDict[K, V], chat: K, what: V) -> None:
    """Of the chats that were used last."""
    known[chat] = what
    known.move_to_end(chat)
    while len(known) > REMEMBERED_CHATS:
        known.popitem(last=False)


@dataclass(frozen=True, slots=True)
class Recent:
    """A chat's last request as it was cut. None of it is needed; all of it saves reading and room.

    It is of a finished turn, or of this process's own open one, so its contents cannot vanish while the
    chat exists, and another process may add turns meanwhile; a chat that was deleted and imported again
    has another key.
    """

    chat: int = 0
    recording: recorder.Recording | None = None
    keys: dict[bytes, int] = field(default_factory=dict)  # of the contents in the recording
    recipe: Frame | None = None
    ends: tuple[int, ...] = ()  # of the recording's pieces in the recipe
    plan: Frame | None = None
    said: tuple[str, ...] = ()  # since: the next request will hold it


@dataclass(frozen=True, slots=True)
class Draft:
    """A turn that is ready to be begun."""

    turn: str
    opening: Opening
    recording: recorder.Recording
    recent: Recent
    texts: dict[bytes, contents.Content]  # all that may be new
    started: int | None = None  # else when it is written


@dataclass(frozen=True, slots=True)
class Further:
    """A further request of an open turn, ready to be written."""

    certificate: Certificate
    recording: recorder.Recording
    recent: Recent
    texts: dict[bytes, contents.Content]  # all that may be new
    so_far: SoFar


def further(certificate: Certificate, request: bytes, recent: Recent, so_far: SoFar) -> Further:
    recording = recorder.record(request, (), recent.recording)
    return Further(
        certificate,
        recording,
        recent,
        contents.prepared(
            [
                *new_pieces(recording, recent),
                *(codec.as_bytes(message.text) for message in so_far.rounds),
                *reference_bodies(so_far.references),
            ]
        ),
        so_far,
    )


def draft(turn: str, opening: Opening, recent: Recent, started: int | None = None) -> Draft:
    texts = [*(message.text for message in opening.messages), *recent.said]
    recording = recorder.record(opening.request, texts, recent.recording)
    return Draft(
        turn,
        opening,
        recording,
        recent,
        contents.prepared(
            [
                *(codec.as_bytes(message.text) for message in opening.messages),
                *new_pieces(recording, recent),
                *epoch_bodies(opening.epoch),
            ]
        ),
        started,
    )


def new_pieces(recording: recorder.Recording, recent: Recent) -> list[bytes]:
    return [
        piece.content
        for piece in recording.new
        if piece.form != "inline" and piece.content not in recent.keys
    ]


def epoch_bodies(epoch: Epoch) -> list[bytes]:
    """Nothing for the first epoch, which has nothing to say."""
    return [] if epoch == Epoch() else [codec.as_bytes(codec.epoch_text(epoch))]


def reference_bodies(references: str) -> list[bytes]:
    """Nothing where an answer refers to nothing."""
    return [codec.as_bytes(references)] if references else []


def message_texts(messages: Sequence[Message]) -> dict[bytes, contents.Content]:
    return contents.prepared(codec.as_bytes(message.text) for message in messages)


def closing_texts(closing: Closing, known: int = 0) -> dict[bytes, contents.Content]:
    """All that may be new, where the first ``known`` messages are not."""
    return contents.prepared(
        [
            *(codec.as_bytes(message.text) for message in closing.messages[known:]),
            *([] if closing.epoch is None else epoch_bodies(closing.epoch)),
            *reference_bodies(closing.references),
        ]
    )


@dataclass(frozen=True, slots=True)
class Recipe:
    """A recording as it is stored, where each of its pieces ends in that, and the keys of its contents."""

    body: bytes
    ends: tuple[int, ...]
    keys: dict[bytes, int]


def recipe(recording: recorder.Recording, recent: Recent, new_keys: Mapping[bytes, int]) -> Recipe:
    """Of what is kept of the last one nothing is worked out again."""
    kept = recording.kept
    start = recent.ends[kept - 1] if kept else 0
    known = {**recent.keys, **new_keys}
    before = recording.pieces[:kept]
    parts = recorder.recipe_parts(recording.new, known.__getitem__, before)
    ends = recent.ends[:kept] + tuple(accumulate(map(len, parts), initial=start))[1:]
    begun = recent.recipe.body[:start] if recent.recipe else b""
    # After an eviction most of what was known is out of sight.
    if kept * 2 < len(recent.ends):
        known = {p.content: known[p.content] for p in recording.pieces if p.form != "inline"}
    return Recipe(begun + b"".join(parts), ends, known)
