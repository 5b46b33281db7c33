"""Values to rows and back. What is written here is read by every later version."""

import dataclasses
import functools
import json
import zlib
from typing import Any, assert_never

from ...core.certificate import Certificate, Usage
from ...core.cost import Price, Rates
from ...core.messages import (
    Carried,
    Epoch,
    FileDelta,
    FileNotice,
    FileStamp,
    FileState,
    Fingerprint,
    Pinned,
    ProposalNews,
    Recall,
    Remembered,
    Summary,
    ToolCall,
    ToolCalls,
    ToolResult,
)
from .splice import SHORT, deflate, inflate

PLAIN, ZLIB, DEFLATED = 0, 1, 2


dumps = json.JSONEncoder(separators=(",", ":")).encode


# --- Bytes ---------------------------------------------------------------------------------------


def as_bytes(text: str) -> bytes:
    """UTF-8; what is no Unicode text is still kept."""
    return text.encode("utf-8", "surrogatepass")


def as_text(body: bytes) -> str:
    return body.decode("utf-8", "surrogatepass")


def squeeze(body: bytes) -> tuple[int, bytes]:
    """The codec that makes it smallest, and the body in it."""
    if len(body) < SHORT:
        return PLAIN, body
    small = deflate(body)
    return (DEFLATED, small) if len(small) < len(body) else (PLAIN, body)


def unsqueeze(codec: int, body: bytes) -> bytes:
    if codec == DEFLATED:
        return inflate(body)
    # As it was done at first.
    return zlib.decompress(body) if codec == ZLIB else bytes(body)


def digest(fingerprint: Fingerprint) -> bytes:
    return bytes.fromhex(fingerprint.removeprefix("sha256:"))


def named(digest: bytes) -> Fingerprint:
    return Fingerprint("sha256:" + bytes(digest).hex())


# --- Values --------------------------------------------------------------------------------------


def carried_text(carries: Carried | None) -> str:
    match carries:
        case None:
            return ""
        case FileState(stamp=stamp):
            fields: list[Any] = ["file", stamp.path, stamp.fingerprint]
        case FileDelta(stamp=stamp, base=base):
            fields = ["delta", stamp.path, stamp.fingerprint, base]
        case FileNotice():
            fields = ["notice", carries.path, carries.event, carries.fingerprint, carries.new_path]
        case Recall(turns=turns):
            fields = ["recall", *turns]
        case ToolCalls(calls=calls):
            fields = ["calls", *([call.id, call.name, call.arguments] for call in calls)]
        case ToolResult(call_id=call_id, name=name):
            fields = ["result", call_id, name]
        case ProposalNews(told=told):
            fields = ["news", *told]
        case Summary(until=until, turns=covered):
            fields = ["summary", until, covered]
        case Pinned(turn=turn):
            fields = ["pinned", turn]
        case Remembered(ids=ids, withdrawn=withdrawn):
            fields = ["remembered", ids, withdrawn]
        case never:
            assert_never(never)
    return dumps(fields)


def carried(text: str) -> Carried | None:
    if not text:
        return None
    match json.loads(text):
        case ["file", path, state]:
            return FileState(FileStamp(path, state))
        case ["delta", path, state, base]:
            return FileDelta(FileStamp(path, state), base)
        case ["notice", path, event, state, new_path]:
            return FileNotice(path, event, state, new_path)
        case ["recall", *turns]:
            return Recall(tuple(turns))
        case ["calls", *calls]:
            return ToolCalls(tuple(ToolCall(*call) for call in calls))
        case ["result", call_id, name]:
            return ToolResult(call_id, name)
        case ["news", *told]:
            return ProposalNews(tuple(told))
        case ["summary", until, turns]:
            return Summary(until, turns)
        case ["pinned", turn]:
            return Pinned(turn)
        case ["remembered", ids, withdrawn]:
            return Remembered(tuple(ids), tuple(withdrawn))
        case unknown:
            raise ValueError(f"a message carries {unknown[0]!r}, which this version does not know")


_FIELDS = {
    kind: tuple(field.name for field in dataclasses.fields(kind)) for kind in (Certificate, Usage)
}


def _fields(value: Certificate | Usage) -> list[object]:
    return [getattr(value, name) for name in _FIELDS[type(value)]]


@functools.lru_cache(maxsize=64)
def certificate_text(value: Certificate | None) -> str:
    return "" if value is None else dumps(_fields(value))


def certificate(text: str) -> Certificate | None:
    return Certificate(*json.loads(text)) if text else None


# Fields are only ever added, at the end and with a default, so older rows read as they were meant.


def usage_text(value: Usage | None) -> str:
    return "" if value is None else dumps(_fields(value))


def usage(text: str) -> Usage | None:
    return Usage(*json.loads(text)) if text else None


def price_text(value: Price) -> str:
    """The same text for the same price, so that it is kept once."""
    tiers = [[start, dataclasses.astuple(rates)] for start, rates in value.tiers]
    return dumps([value.source, dataclasses.astuple(value.rates), tiers])


def price(text: str) -> Price:
    source, rates, tiers = json.loads(text)
    return Price(Rates(*rates), source, tuple((start, Rates(*tier)) for start, tier in tiers))


def epoch_text(value: Epoch) -> str:
    masked = [sorted(value.masked)] if value.masked else []
    return dumps([value.number, value.first, sorted(value.dropped), *masked])


def epoch(text: str) -> Epoch:
    number, first, *places = json.loads(text)
    return Epoch(number, first, *(frozenset((turn, at) for turn, at in some) for some in places))
