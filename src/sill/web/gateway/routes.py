"""The routes under ``/v1`` and ``/tokenize``. They take a token, never a cookie: no page is their client."""

import base64
import struct
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Request
from starlette.responses import JSONResponse, Response, StreamingResponse

from ...adapters.tokens.ids import token_ids
from ...app.gateway import Gateways, chat_of, only
from ...core.heuristic import estimate
from ...core.plan import OverBudget
from ...engine.relay import Begun
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
from .answer import Head, streamed, whole
from .failures import Failure, OpenAIRoute, too_long
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
    wanted: ChatCompletionRequest, desk: TheDesk, gateways: TheGateways
) -> Response:
    """An answer, whole or streamed. The messages are planned so that they fit the model's window."""
    order, notes = order_of(wanted)
    relay = await gateways.relay(desk)
    events = relay.answer(order, only=await only(relay, wanted.model))
    answering = _answering(gateways, measured(events))
    first = await anext(answering)
    match first:
        case OverBudget():
            await answering.aclose()
            raise too_long(first)
        case Begun():
            head = Head(first, tuple(notes))
        case _:
            raise AssertionError("an answer begins before it goes on")
    if wanted.stream:
        with_usage = wanted.stream_options is not None and wanted.stream_options.include_usage
        return StreamingResponse(
            _closing(streamed(head, _spoken(answering), with_usage=with_usage), answering),
            media_type="text/event-stream",
            headers=head.headers | {"x-accel-buffering": "no"},
        )
    async with aclosing(answering):
        completion = await whole(head, _spoken(answering))
    return JSONResponse(completion.model_dump(), headers=head.headers)


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
async def embeddings(wanted: EmbeddingRequest, service: TheService) -> EmbeddingList:
    """Vectors from the embedder that searches the notes."""
    embedder = service.vault.embedder
    if embedder is None:
        reason = "no embedder is configured; `sill index --semantic` fetches one"
        raise Failure(404, reason, "model_not_found", param="model")
    texts = [wanted.input] if isinstance(wanted.input, str) else wanted.input
    if not 0 < len(texts) <= MOST_TEXTS:
        reason = f"between 1 and {MOST_TEXTS} texts are taken at once"
        raise Failure(400, reason, "invalid_request", param="input")
    vectors = await embedder.embed(texts)
    if wanted.dimensions not in (None, len(vectors[0])):
        reason = f"the embedder has {len(vectors[0])} dimensions"
        raise Failure(400, reason, "unsupported", param="dimensions")
    tokens = sum(map(estimate, texts))
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
    gateways: Gateways, events: AsyncGenerator[Begun | OverBudget | ModelEvent, None]
) -> AsyncGenerator[Begun | OverBudget | ModelEvent, None]:
    with gateways.stream():
        async with aclosing(events):
            async for event in events:
                yield event


async def _spoken(
    events: AsyncIterator[Begun | OverBudget | ModelEvent],
) -> AsyncGenerator[ModelEvent, None]:
    async for event in events:
        if not isinstance(event, Begun | OverBudget):
            yield event


async def _closing(
    chunks: AsyncGenerator[bytes, None], answering: AsyncGenerator[Any, None]
) -> AsyncGenerator[bytes, None]:
    """The chunks; when the client is gone, so is the call to the model."""
    try:
        async for chunk in chunks:
            yield chunk
    finally:
        await chunks.aclose()
        await answering.aclose()


def _encoded(vector: list[float], form: str) -> list[float] | str:
    if form == "float":
        return vector
    return base64.b64encode(struct.pack(f"<{len(vector)}f", *vector)).decode()
