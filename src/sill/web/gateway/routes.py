"""The routes under ``/v1`` and ``/tokenize``. They take a token, never a cookie: no page is their client."""

import base64
import struct
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Request
from starlette.responses import JSONResponse, Response

from ...adapters.tokens.ids import token_ids
from ...app.embedding import embed_booked
from ...app.gateway import Gateways, chat_of, only
from ...app.running import Turns
from ...core.plan import OverBudget
from ...engine.relay import Begun
from ...engine.streams import Stop, until
from ...ports import ModelEvent
from ..depend import TheDesk, TheService, contributor
from ..identity import who
from ..metrics import measured
from ..schemas.openai import (
    ChatCompletion,
    ChatCompletionRequest,
    Embedding,
    EmbeddingList,
    EmbeddingRequest,
    EmbeddingUsage,
    ModelCard,
    ModelList,
    OpenAIError,
    TokenizeRequest,
    Tokens,
)
from ..stream import EventStream, while_connected
from .answer import Head, streamed, whole
from .failures import Failure, OpenAIRoute, interrupted, too_long
from .parse import order_of

MOST_TEXTS = 2_048  # of one embeddings request

_FAILURES: dict[int | str, dict[str, Any]] = {
    status: {"model": OpenAIError} for status in (400, 401, 402, 403, 404, 422, 429, 502, 503, 504)
}


async def _with_token(request: Request) -> None:
    """A page of another site can make a browser send a cookie; it cannot make it send a token."""
    if who(request).via != "bearer":
        raise Failure(401, "this needs a token, not a cookie", "no_credentials")


async def _gateways(request: Request) -> Gateways:
    state = request.app.state
    if not hasattr(state, "gateways"):
        state.gateways = Gateways()
    gateways = state.gateways
    assert isinstance(gateways, Gateways)
    return gateways


TheGateways = Annotated[Gateways, Depends(_gateways)]
router = APIRouter(
    route_class=OpenAIRoute,
    tags=["gateway"],
    responses=_FAILURES,
    dependencies=[Depends(_with_token)],
)


@router.post(
    "/v1/chat/completions",
    response_model=ChatCompletion,
    dependencies=[contributor],
    responses={200: {"content": {"text/event-stream": {}}}},
)
async def chat_completions(
    request: Request, wanted: ChatCompletionRequest, desk: TheDesk, gateways: TheGateways
) -> Response:
    """An answer, whole or streamed. The messages are planned so that they fit the model's window."""
    order, notes = order_of(wanted)
    relay, stop = await gateways.relay(desk), Stop()
    events = measured(relay.answer(order, only=await only(relay, wanted.model)))
    answering = _answering(gateways, desk.turns, stop, events)
    async with while_connected(request, stop):
        first = await anext(answering, None)
        match first:
            case None:
                raise interrupted()
            case OverBudget():
                await answering.aclose()
                raise too_long(first)
            case Begun():
                head = Head(first, tuple(notes))
            case _:
                raise AssertionError("an answer begins before it goes on")
        if not wanted.stream:
            async with aclosing(answering):
                completion = await whole(head, _spoken(answering, stop))
            return JSONResponse(completion.model_dump(), headers=head.headers)
    with_usage = wanted.stream_options is not None and wanted.stream_options.include_usage
    chunks = streamed(head, _spoken(answering, stop), with_usage=with_usage)
    return EventStream(_Chunks(chunks, answering), head.headers)


@router.get("/v1/models")
async def models(desk: TheDesk, gateways: TheGateways) -> ModelList:
    """Who can be asked: `sill` is whoever answers now, with its fallbacks."""
    relay = await gateways.relay(desk)
    cards = [
        ModelCard(id=name, window=chat.call.window, counts=chat.counter.tokenizer.kind)
        for name, chat in await relay.models()
        if chat is not None
    ]
    present = relay.failover.chat
    own = ModelCard(id="sill", window=present.call.window, counts=present.counter.tokenizer.kind)
    return ModelList(data=[own, *cards])


@router.get("/v1/models/{model:path}")
async def model(model: str, desk: TheDesk, gateways: TheGateways) -> ModelCard:
    """One of them, by its name."""
    listed = await models(desk, gateways)
    found = next((card for card in listed.data if card.id == model), None)
    if found is None:
        raise Failure(404, "there is no such model here", "model_not_found", param="model")
    return found


@router.post("/v1/embeddings", dependencies=[contributor])
async def embeddings(wanted: EmbeddingRequest, service: TheService, desk: TheDesk) -> EmbeddingList:
    """Vectors from the embedder that searches the notes; what they cost is in the ledger of whoever asks."""
    embedder = service.vault.embedder
    if embedder is None:
        reason = "no embedder is configured; `sill index --semantic` fetches one"
        raise Failure(404, reason, "model_not_found", param="model")
    texts = [wanted.input] if isinstance(wanted.input, str) else wanted.input
    if not 0 < len(texts) <= MOST_TEXTS:
        reason = f"between 1 and {MOST_TEXTS} texts are taken at once"
        raise Failure(400, reason, "invalid_request", param="input")
    embedded = await embed_booked(desk.store, desk.settings, embedder, texts)
    vectors = embedded.vectors
    if wanted.dimensions not in (None, len(vectors[0])):
        reason = f"the embedder has {len(vectors[0])} dimensions"
        raise Failure(400, reason, "unsupported", param="dimensions")
    tokens = embedded.tokens
    return EmbeddingList(
        data=[
            Embedding(index=at, embedding=_encoded(vector, wanted.encoding_format))
            for at, vector in enumerate(vectors)
        ],
        model=embedder.name,
        usage=EmbeddingUsage(prompt_tokens=tokens, total_tokens=tokens),
    )


@router.post("/tokenize")
async def tokenize(wanted: TokenizeRequest, desk: TheDesk, gateways: TheGateways) -> Tokens:
    """A text's tokens as the model that is named counts them, in llama.cpp's shape."""
    counter = (await chat_of(await gateways.relay(desk), wanted.model)).counter
    tokens = await token_ids(
        counter,
        wanted.content,
        add_special=wanted.add_special,
        parse_special=wanted.parse_special,
    )
    return Tokens(tokens=tokens, kind=counter.tokenizer.kind)


async def _answering(
    gateways: Gateways,
    turns: Turns,
    stop: Stop,
    events: AsyncGenerator[Begun | OverBudget | ModelEvent, None],
) -> AsyncGenerator[Begun | OverBudget | ModelEvent, None]:
    """The answer, until it ends, its reader has gone or the server stops."""
    with gateways.stream(), turns.guest(stop):
        async with aclosing(until(stop, events)) as spoken:
            async for event in spoken:
                yield event


async def _spoken(
    events: AsyncIterator[Begun | OverBudget | ModelEvent], stop: Stop
) -> AsyncGenerator[ModelEvent, None]:
    async for event in events:
        if not isinstance(event, Begun | OverBudget):
            yield event
    if stop.is_interrupt:
        raise interrupted()


class _Chunks:
    """The chunks; when they are closed, so is the call to the model, whether one of them was read or not."""

    def __init__(
        self, chunks: AsyncGenerator[bytes, None], answering: AsyncGenerator[Any, None]
    ) -> None:
        self._chunks, self._answering = chunks, answering

    def __aiter__(self) -> AsyncIterator[bytes]:
        return self._chunks

    async def aclose(self) -> None:
        await self._chunks.aclose()
        await self._answering.aclose()


def _encoded(vector: list[float], form: str) -> list[float] | str:
    if form == "float":
        return vector
    return base64.b64encode(struct.pack(f"<{len(vector)}f", *vector)).decode()
