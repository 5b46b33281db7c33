"""Chats as Markdown to read and to keep among notes: links are wikilinks, facts are in the front matter."""

import json
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

from ...core.messages import FileDelta, FileState, Message, ToolCalls
from ...ports import ChatCopy, StoredTurn


def to_markdown(copy: ChatCopy) -> str:
    """What was said on the chat's present way; branches that were left and hidden context are not in it."""
    turns = list(_way(copy))
    return "\n".join([*_front_matter(copy, turns), *(line for t in turns for line in _turn(t))])


def _way(copy: ChatCopy) -> Iterator[StoredTurn]:
    """The turns from the first to the present one, and those beside them that did not end well."""
    by_id = {turn.id: turn for turn in copy.turns}
    way: set[str | None] = {None}
    at = copy.head
    while at is not None:
        way.add(at)
        at = by_id[at].parent
    for turn in copy.turns:
        if turn.id in way or (turn.status != "complete" and turn.parent in way):
            yield turn


def _front_matter(copy: ChatCopy, turns: list[StoredTurn]) -> Iterator[str]:
    info = copy.info
    yield "---"
    # A JSON string is a YAML string too, whatever is in it.
    yield f"title: {json.dumps(info.title or 'Chat', ensure_ascii=False)}"
    yield f"chat: {info.id}"
    yield f"created: {_time(info.created_ms)}"
    yield f"updated: {_time(info.used_ms)}"
    models = dict.fromkeys(turn.model for turn in turns if turn.model)
    yield f"models: {json.dumps(list(models), ensure_ascii=False)}"
    links = dict.fromkeys(link for turn in turns for link in links_of(turn))
    yield f"references: {json.dumps(list(links), ensure_ascii=False)}"
    yield "---"
    yield ""
    yield f"# {info.title or 'Chat'}"
    yield ""


def _turn(turn: StoredTurn) -> Iterator[str]:
    for message in turn.messages:
        match message.carries:
            case None if message.role == "user":
                yield f"## You, {_time(turn.started_ms)}"
            case None:
                yield f"## {turn.model or 'Assistant'}"
            case ToolCalls(calls=calls):
                yield from (f"> used `{call.name}`" for call in calls)
            case _:
                continue
        yield ""
        if message.text and message.role != "tool":
            yield message.text
            yield ""
    if turn.status != "complete":
        yield f"> *{turn.status}*" + (f": {_line(turn.outcome)}" if turn.outcome else "")
        yield ""
    links = links_of(turn)
    if links:
        yield "References: " + ", ".join(links)
        yield ""


def links_of(turn: StoredTurn) -> list[str]:
    """The documents that a turn was shown or that its answer refers to, as wikilinks."""
    shown = [path for message in turn.messages if (path := _path(message))]
    links = [wikilink(path) for path in shown]
    links += [link for row in _rows(turn.references) if (link := _reference(row))]
    return list(dict.fromkeys(links))


def _path(message: Message) -> str | None:
    match message.carries:
        case FileState(stamp=stamp) | FileDelta(stamp=stamp):
            return stamp.path
        case _:
            return None


def _rows(references: str) -> list[Any]:
    rows = json.loads(references) if references else []
    return rows if isinstance(rows, list) else []


def _reference(row: Any) -> str | None:
    if isinstance(row, str):
        return wikilink(row)
    path = row.get("path") if isinstance(row, dict) else None
    return wikilink(path) if isinstance(path, str) else None


def wikilink(path: str) -> str:
    """As Obsidian writes it: notes without their ending, in full so that it cannot mean another."""
    return f"[[{path.removesuffix('.md')}]]"


def _time(ms: int) -> str:
    return datetime.fromtimestamp(ms / 1000, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def _line(text: str) -> str:
    return " ".join(text.split())
