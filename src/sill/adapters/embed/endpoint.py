"""Vectors from an OpenAI-compatible ``/v1/embeddings``."""

from collections.abc import Sequence
from typing import Any

import httpx

from ...errors import BadAnswer, KeyRefused, ModelMissing, TimedOut, Unreachable

_BATCH = 64


class EndpointEmbedder:
    def __init__(self, base_url: str, model: str, key: str | None, timeout: float = 60.0) -> None:
        base = base_url.rstrip("/")
        self.endpoint = base if base.endswith("/v1") else base + "/v1"
        self.model = model
        headers = {"Authorization": f"Bearer {key}"} if key else {}
        self._client = httpx.AsyncClient(headers=headers, timeout=timeout)

    @property
    def name(self) -> str:
        return f"{self.endpoint}#{self.model}"

    async def embed(self, texts: Sequence[str]) -> list[list[float]]:
        return (await self.billed(texts))[0]

    async def billed(self, texts: Sequence[str]) -> tuple[list[list[float]], int | None]:
        """The vectors, and the tokens that were billed for them; None where the endpoint does not say."""
        vectors: list[list[float]] = []
        tokens: int | None = 0
        for start in range(0, len(texts), _BATCH):
            some, billed = await self._embed(list(texts[start : start + _BATCH]))
            vectors += some
            tokens = None if tokens is None or billed is None else tokens + billed
        return vectors, tokens

    async def close(self) -> None:
        await self._client.aclose()

    async def _embed(self, texts: list[str]) -> tuple[list[list[float]], int | None]:
        url = self.endpoint + "/embeddings"
        try:
            # An empty string is an error at some endpoints and means nothing at any.
            body = {"model": self.model, "input": [text or " " for text in texts]}
            response = await self._client.post(url, json=body)
        except httpx.TimeoutException:
            raise TimedOut("the embedding endpoint stayed silent", endpoint=self.endpoint) from None
        except httpx.HTTPError:
            raise Unreachable(
                "nobody answers at the embedding endpoint", endpoint=self.endpoint
            ) from None
        if response.status_code != 200:
            raise self._refusal(response.status_code)
        try:
            answer = response.json()
            return _vectors(answer, len(texts)), _billed(answer)
        except (ValueError, KeyError, TypeError, IndexError):
            raise BadAnswer(
                "the embedding endpoint's answer cannot be read", endpoint=self.endpoint
            ) from None

    def _refusal(self, status: int) -> BadAnswer | KeyRefused | ModelMissing:
        if status in (401, 403):
            return KeyRefused(
                "the embedding endpoint refused the key", endpoint=self.endpoint, status=status
            )
        if status == 404:
            return ModelMissing(
                f"the endpoint has no embedding model “{self.model}”",
                endpoint=self.endpoint,
                status=status,
            )
        return BadAnswer("the embedding endpoint failed", endpoint=self.endpoint, status=status)


def _vectors(answer: Any, count: int) -> list[list[float]]:
    """One finite vector for each text, in their order, whatever order they came in."""
    rows = sorted(answer["data"], key=lambda row: row["index"])
    vectors = [[float(value) for value in row["embedding"]] for row in rows]
    if len(vectors) != count or len({len(vector) for vector in vectors}) != 1 or not vectors[0]:
        raise ValueError("not one vector for each text")
    if any(value - value != 0 for vector in vectors for value in vector):
        raise ValueError("a vector that is not made of numbers")
    return vectors


def _billed(answer: Any) -> int | None:
    match answer:
        case {"usage": {"prompt_tokens": int(tokens)}} if tokens >= 0:
            return tokens
        case _:
            return None
