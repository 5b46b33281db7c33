"""What is worked out before a transaction begins, so that it holds the database for as short as it can."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from ...core.messages import Epoch, Message
from ...ports import Opening
from . import codec, contents, recorder


@dataclass(frozen=True, slots=True)
class Frame:
    """Bytes that resemble what follows, and the row they are in.

    ``depth`` is how many other rows it takes to read them.
    """

    key: int
    body: bytes
    depth: int


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
    plan: Frame | None = None


@dataclass(frozen=True, slots=True)
class Draft:
    """A turn that is ready to be begun."""

    turn: str
    opening: Opening
    recording: recorder.Recording
    recent: Recent
    texts: dict[bytes, contents.Content]  # all that may be new


def draft(turn: str, opening: Opening, recent: Recent) -> Draft:
    recording = recorder.record(
        opening.request, [message.text for message in opening.messages], recent.recording
    )
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
    )


def new_pieces(recording: recorder.Recording, recent: Recent) -> list[bytes]:
    return [
        piece.content
        for piece in recording.pieces
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


DEEPEST = 24


def packed(body: bytes, frame: Frame | None) -> tuple[Frame | None, bytes]:
    """The frame and what the body adds to it, if that is worth it; else the body alone."""
    if frame is not None and frame.depth < DEEPEST:
        added = codec.pack(body, frame.body)
        if len(added) * 4 < len(body):
            return frame, added
    return None, codec.pack(body)


def framed(key: int, body: bytes, base: Frame | None) -> Frame:
    """What the next body can be kept against."""
    return Frame(key, body, base.depth + 1 if base else 0)
