"""Chats as JSON that imports back whole."""

import base64
import hashlib
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from ...core.cost import Price, Rates
from ...core.messages import Message
from ...errors import UsageError
from ...ports import ChatCopy, StoredTurn
from ...records import (
    Attempt,
    ChatInfo,
    Pin,
    Recorded,
    Settlement,
    StoredAttempt,
    StoredProposal,
)
from . import codec
from .recorder import Piece, Recording, record

FORMAT = "sill-chat"
VERSION = 1
ENDED = ("complete", "partial", "failed", "cancelled", "interrupted")

Json = dict[str, Any]

# --- JSON ----------------------------------------------------------------------------------------


def to_json(copy: ChatCopy) -> str:
    """Each text stands once, by its fingerprint; messages and requests refer to it."""
    texts: dict[str, Any] = {}

    def refer(body: bytes) -> str:
        name = codec.named(_hash(body))
        texts.setdefault(name, _shown(body))
        return name

    last: Recording | None = None
    turns = []
    for turn in copy.turns:
        requests, plans = [], [recorded.plan for recorded in copy.requests[turn.id]]
        for recorded in copy.requests[turn.id]:
            last = record(recorded.request, [m.text for m in turn.messages], last)
            pieces = [[p.form, _piece(p, refer)] for p in last.pieces]
            requests.append([codec.certificate_text(recorded.certificate), pieces])
        turns.append(_turn_json(turn, refer) | {"requests": requests, "plans": plans})
    whole = {
        "format": FORMAT,
        "version": VERSION,
        "chat": asdict(copy.info),
        "head": copy.head,
        "turns": turns,
        "proposals": [asdict(proposal) for proposal in copy.proposals],
        "attempts": [asdict(attempt) for attempt in copy.attempts],
        "pins": [asdict(pin) for pin in copy.pins],
        "texts": texts,
    }
    return json.dumps(whole, indent=1)


def _hash(body: bytes) -> bytes:
    return hashlib.sha256(body).digest()


def _shown(body: bytes) -> Any:
    try:
        return codec.as_text(body)
    except UnicodeDecodeError:
        return {"base64": base64.b64encode(body).decode()}


def _hidden(shown: Any) -> bytes:
    return base64.b64decode(shown["base64"]) if isinstance(shown, dict) else codec.as_bytes(shown)


def _piece(piece: Piece, refer: Callable[[bytes], str]) -> Any:
    return _shown(piece.content) if piece.form == "inline" else refer(piece.content)


def _turn_json(turn: StoredTurn, refer: Callable[[bytes], str]) -> Json:
    return {
        "id": turn.id,
        "parent": turn.parent,
        "sequence": turn.sequence,
        "status": turn.status,
        "started_ms": turn.started_ms,
        "took_ms": turn.took_ms,
        "model": turn.model,
        "endpoint": turn.endpoint,
        "outcome": turn.outcome,
        "certificate": codec.certificate_text(turn.certificate),
        "usage": codec.usage_text(turn.usage),
        "epoch": codec.epoch_text(turn.epoch),
        "references": turn.references,
        "plan": turn.plan,
        "messages": [
            [m.role, refer(codec.as_bytes(m.text)), codec.carried_text(m.carries)]
            for m in turn.messages
        ],
    }


def from_json(text: str) -> ChatCopy:
    """The chat in an exported file. ``UsageError`` if it is not one, or was changed by hand."""
    try:
        whole = json.loads(text)
        if whole["format"] != FORMAT:
            raise ValueError("another format")
        if whole["version"] > VERSION:
            raise UsageError("a newer Sill has written this file", hint="update this one")
        return _copy(whole)
    except (ValueError, KeyError, TypeError, AttributeError, IndexError) as error:
        raise UsageError(
            f"this is not an exported chat ({type(error).__name__})",
            hint="`sill chats export` writes one",
        ) from error


def _copy(whole: Json) -> ChatCopy:
    texts = {name: _hidden(shown) for name, shown in whole["texts"].items()}
    for name, body in texts.items():
        if codec.named(_hash(body)) != name:
            raise ValueError("a text does not match its fingerprint")
    info = ChatInfo(**whole["chat"])
    turns = tuple(_turn(turn, info.id, texts) for turn in whole["turns"])
    _check(info.id, whole["head"], turns)
    return ChatCopy(
        info,
        whole["head"],
        turns,
        {turn["id"]: tuple(_requests(turn, texts)) for turn in whole["turns"]},
        tuple(StoredProposal(**proposal) for proposal in whole["proposals"]),
        tuple(_attempt(attempt) for attempt in whole["attempts"]),
        tuple(Pin(**pin) for pin in whole.get("pins", ())),
    )


def _check(chat: str, head: str | None, turns: Sequence[StoredTurn]) -> None:
    """What the database relies on: names that are names, turns that end, each after the one it continues."""
    known: set[str | None] = {None}
    for turn in turns:
        if turn.parent not in known or turn.id in known or turn.status not in ENDED:
            raise ValueError("a turn is out of place")
        known.add(turn.id)
    if head not in known:
        raise ValueError("the chat goes on from a turn that is not there")
    for id in (chat, *(turn.id for turn in turns)):
        if not (isinstance(id, str) and 0 < len(id) <= 64 and id.replace("-", "").isalnum()):
            raise ValueError("an id is not one")


def _turn(turn: Json, chat: str, texts: Mapping[str, bytes]) -> StoredTurn:
    same = ("id", "parent", "sequence", "status", "started_ms", "took_ms", "model", "endpoint")
    return StoredTurn(
        **{name: turn[name] for name in (*same, "outcome", "references", "plan")},
        chat=chat,
        messages=tuple(
            Message(role, codec.as_text(texts[name]), codec.carried(carries))
            for role, name, carries in turn["messages"]
        ),
        certificate=codec.certificate(turn["certificate"]),
        usage=codec.usage(turn["usage"]),
        epoch=codec.epoch(turn["epoch"]),
    )


def _requests(turn: Json, texts: Mapping[str, bytes]) -> Iterator[Recorded]:
    # Files of earlier versions have no plans of requests.
    plans = turn.get("plans") or [""] * len(turn["requests"])
    for (certificate, pieces), plan in zip(turn["requests"], plans, strict=True):
        whole = [
            Piece(form, _hidden(what) if form == "inline" else texts[what]) for form, what in pieces
        ]
        request = b"".join(piece.rendered() for piece in whole)
        yield Recorded(codec.certificate(certificate), request, plan)


def _attempt(row: Json) -> StoredAttempt:
    settlement = row["settlement"]
    if settlement is not None:
        used = settlement["usage"]
        settlement = Settlement(
            **settlement | {"usage": used and codec.usage(json.dumps(list(used.values())))}
        )
    called = Attempt(**row["attempt"] | {"price": _price(row["attempt"].get("price"))})
    return StoredAttempt(**row | {"attempt": called, "settlement": settlement})


def _price(shown: Json | None) -> Price | None:
    if shown is None:
        return None
    tiers = tuple((start, Rates(**rates)) for start, rates in shown["tiers"])
    return Price(Rates(**shown["rates"]), shown["source"], tiers)
