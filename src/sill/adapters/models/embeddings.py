"""Vectors for texts by ``POST /v1/embeddings``."""

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ...core.certificate import Usage
from ...core.faults import Fault, classify_object, error_in
from ...core.request import encode
from ...core.usage_shapes import read_usage
from .transport import AttemptHook, Cut, Transport


@dataclass(frozen=True, slots=True)
class Embedded:
    """One vector per text, in the order of the texts."""

    vectors: tuple[tuple[float, ...], ...]
    usage: Usage | None = None


async def embed(
    transport: Transport, model: str, texts: Sequence[str], on_attempt: AttemptHook | None = None
) -> Embedded:
    """All vectors or a ``ProviderError``; ``Unsupported`` where the server was not started for it."""
    if not texts:
        return Embedded(())
    body = encode({"model": model, "input": list(texts), "encoding_format": "float"})
    url = f"{transport.endpoint.api}/embeddings"
    async with transport.call(url, body, on_attempt, model) as call:
        try:
            found = read_embeddings(await call.read_all(), len(texts))
        except Cut as cut:
            found = cut.fault
        if isinstance(found, Fault):
            call.outcome = found.kind
            raise transport.error(found, model)
        call.outcome, call.usage = "complete", found.usage
        return found


def read_embeddings(body: bytes, wanted: int) -> Embedded | Fault:
    """Exactly ``wanted`` vectors of one length, put in order by their index."""
    try:
        parsed = json.loads(body)
    except (ValueError, RecursionError):
        return Fault("broken", "its JSON is cut off or invalid")
    if error_in(parsed) is not None:
        return classify_object(parsed)
    data = parsed.get("data") if isinstance(parsed, Mapping) else None
    vectors: dict[int, tuple[float, ...]] = {}
    for position, item in enumerate(data if isinstance(data, list) else []):
        if isinstance(item, Mapping) and (vector := _vector(item.get("embedding"))):
            index = item.get("index", position)
            vectors[index if isinstance(index, int) else position] = vector
    if sorted(vectors) != list(range(wanted)):
        return Fault("broken", f"{len(vectors)} vectors for {wanted} texts")
    if len({len(vector) for vector in vectors.values()}) != 1:
        return Fault("broken", "vectors of different lengths")
    usage = read_usage(parsed.get("usage")) if isinstance(parsed, Mapping) else None
    return Embedded(tuple(vectors[index] for index in range(wanted)), usage)


def _vector(value: object) -> tuple[float, ...]:
    if not isinstance(value, list):
        return ()
    numbers = [float(n) for n in value if isinstance(n, int | float) and not isinstance(n, bool)]
    is_whole = len(numbers) == len(value) and all(map(math.isfinite, numbers))
    return tuple(numbers) if is_whole else ()
