"""File context as the model reads it: minified JSON, key order fixed, one object per message.

Whatever a file holds stays inside its JSON string, so no text can close an envelope or pose as one.
Reading an envelope gives the file's text back exactly.
"""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from .control import neutral_json
from .documents import language_of
from .messages import (
    FileDelta,
    FileNotice,
    FileStamp,
    FileState,
    Fingerprint,
    Hidden,
    Message,
    Pinned,
    ProposalNews,
    Recall,
    Remembered,
    Summary,
)

SCHEMA_VERSION = 1


class NotText(ValueError):
    """The string holds half of a surrogate pair, which no UTF-8 file can; ``position`` says where."""

    def __init__(self, position: int) -> None:
        super().__init__(f"lone surrogate at character {position}: this is not valid Unicode text")
        self.position = position


def state(stamp: FileStamp, text: str) -> Message:
    return _message(
        {
            "type": "virtual_file_context",
            "schema_version": SCHEMA_VERSION,
            "file_id": stamp.path,
            "fingerprint": stamp.fingerprint,
            "language": language_of(stamp.path),
            "content": text,
        },
        FileState(stamp),
    )


def delta(stamp: FileStamp, base: Fingerprint, diff: str) -> Message:
    return _message(
        {
            "type": "virtual_file_delta",
            "schema_version": SCHEMA_VERSION,
            "file_id": stamp.path,
            "base_fingerprint": base,
            "fingerprint": stamp.fingerprint,
            "diff": diff,
        },
        FileDelta(stamp, base),
    )


def deleted(path: str) -> Message:
    return _notice(FileNotice(path, "deleted"))


def renamed(path: str, new_path: str) -> Message:
    return _notice(FileNotice(path, "renamed", new_path=new_path))


def omitted(stamp: FileStamp, outline: str | None = None) -> Message:
    """The file exists but its text is not in the request; an outline may stand for it."""
    return _notice(FileNotice(stamp.path, "omitted", stamp.fingerprint), outline)


def restored(stamp: FileStamp) -> Message:
    """The file is again in a state whose whole text is already in the request."""
    return _notice(FileNotice(stamp.path, "restored", stamp.fingerprint))


def recall(turns: tuple[str, ...], content: str) -> Message:
    return _message(
        {
            "type": "recalled_turns",
            "schema_version": SCHEMA_VERSION,
            "turns": list(turns),
            "content": content,
        },
        Recall(turns),
    )


def summary(covered: Summary, sections: Mapping[str, str]) -> Message:
    """What stands for turns that left the window; ``sections`` by name, empty ones are left out."""
    fields: dict[str, Any] = {
        "type": "earlier_turns",
        "schema_version": SCHEMA_VERSION,
        "turns": covered.turns,
    }
    return _message(fields | {name: text for name, text in sections.items() if text}, covered)


def pinned(turn: str, content: str) -> Message:
    return _message(
        {"type": "pinned_turn", "schema_version": SCHEMA_VERSION, "content": content}, Pinned(turn)
    )


def news(content: str, told: tuple[str, ...] = ()) -> Message:
    """What became of edits that the model proposed."""
    return _message(
        {"type": "proposal_news", "schema_version": SCHEMA_VERSION, "content": content},
        ProposalNews(told),
    )


def remembered(carried: Remembered, facts: Sequence[str], withdrawn: Sequence[str]) -> Message:
    """Facts that were remembered in other chats or before; ``withdrawn`` ones were told and hold no more."""
    fields: dict[str, Any] = {
        "type": "remembered_facts",
        "schema_version": SCHEMA_VERSION,
        "facts": list(facts),
    }
    return _message(fields | ({"no_longer_true": list(withdrawn)} if withdrawn else {}), carried)


def read(message: Message) -> dict[str, Any]:
    """The envelope's fields, by name; none if the text is no envelope."""
    try:
        fields = json.loads(message.text)
    except ValueError:
        return {}
    return fields if isinstance(fields, dict) else {}


def _notice(notice: FileNotice, outline: str | None = None) -> Message:
    fields: dict[str, Any] = {
        "type": "virtual_file_notice",
        "schema_version": SCHEMA_VERSION,
        "file_id": notice.path,
        "event": notice.event,
    }
    if notice.new_path is not None:
        fields["new_file_id"] = notice.new_path
    if notice.fingerprint is not None:
        fields["fingerprint"] = notice.fingerprint
    if outline is not None:
        fields["outline"] = outline
    return _message(fields, notice)


def _message(fields: dict[str, Any], carries: Hidden) -> Message:
    encoded = json.dumps(fields, ensure_ascii=False, separators=(",", ":"))
    try:
        encoded.encode()
    except UnicodeEncodeError as error:
        raise NotText(error.start) from None
    return Message("assistant", neutral_json(encoded), carries)
