"""Who finds by meaning, as the settings want it; and what that costs whoever asks for vectors alone."""

import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil
from urllib.parse import urlsplit

from ..adapters.embed.choice import embedder_for
from ..core.certificate import Usage
from ..core.cost import FREE, Price, worst_case
from ..core.heuristic import MARGIN, estimate
from ..engine.money import Afforded, Purse, refusal
from ..ports import Embedder, Store
from ..records import Attempt
from ..settings import Settings

_OPENAI = "api.openai.com"
_HERE = "this machine"
CATEGORY = "embedding"


def embedder_of(settings: Settings) -> Embedder | None:
    """The embedder of ``embedder`` and ``embed_model``; the bundled one is loaded when it is first asked.

    The key of the model's endpoint is given to no other host than its own.
    """
    wanted = settings.get("embedder", str) or "auto"
    model = settings.get("embed_model", str) or ""
    return embedder_for(wanted, model=model, key=_key(settings, wanted))


def _key(settings: Settings, wanted: str) -> str | None:
    own = settings.get("embed_api_key", str)
    if own is not None or not wanted.startswith(("http://", "https://")):
        return own
    endpoint = settings.get("base_url", str)
    host = urlsplit(endpoint).hostname if endpoint else _OPENAI
    return settings.get("api_key", str) if urlsplit(wanted).hostname == host else None


@dataclass(frozen=True, slots=True)
class Embedded:
    """``tokens`` as they were billed; estimated where nobody bills them."""

    vectors: list[list[float]]
    tokens: int


async def embed_booked(
    store: Store, settings: Settings, embedder: Embedder, texts: Sequence[str]
) -> Embedded:
    """The texts' vectors, with a row in the ledger.

    ``LimitReached``, before anything is sent, where they could cost more than may be spent.
    """
    from ..adapters.embed.endpoint import EndpointEmbedder
    from ..adapters.models.bookkeeping import keep_books
    from ..adapters.models.transport import AttemptEnded, AttemptStarted
    from .seat import limits

    asked = embedder if isinstance(embedder, EndpointEmbedder) else None
    price = FREE if asked is None else _price(settings, asked.model, asked.endpoint)
    predicted = sum(map(estimate, texts))
    purse = Purse(store, limits(settings))
    worst = None if price is None else worst_case(ceil(predicted * (1 + MARGIN)), 0, price)
    model, endpoint = (asked.model, asked.endpoint) if asked else (embedder.name, _HERE)
    decided = await purse.afford(worst, model)
    if not isinstance(decided, Afforded):
        raise refusal(decided)
    attempt, caps = purse.booking(Attempt(CATEGORY, model, endpoint, predicted=predicted), decided)
    report, id = keep_books(store, attempt, price, caps), secrets.token_hex(8)
    await report(AttemptStarted(id, 1, endpoint))
    outcome, usage = "failed", None
    try:
        if asked is not None:
            vectors, billed = await asked.billed(texts)
        else:
            vectors, billed = await embedder.embed(texts), predicted
        outcome, usage = "complete", Usage(billed, 0) if billed is not None else None
    finally:
        await report(AttemptEnded(id, 1, endpoint, outcome, usage=usage))
    return Embedded(vectors, predicted if billed is None else billed)


def _price(settings: Settings, model: str, endpoint: str) -> Price | None:
    from ..adapters.models.endpoints import parse_endpoint
    from ..adapters.models.prices import find_price

    return find_price(model, parse_endpoint(endpoint), settings.prices())
