"""llama.cpp's server counts for itself: what it answers here is what it bills."""

import asyncio
import hashlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

from ...core.certificate import Counts, Kind, Tokenizer, weakest
from ...core.cuts import blocks
from ...core.request import ChatRequest
from ...ports import Overhead
from ._http import PROBE_SECONDS, Endpoint, Silence, ask
from ._wire import seconds_for, sound, sound_body, whole_number
from .estimate import Estimate
from .overhead import measure_overhead

SAMPLE = "Count 1234567 of “these”: naïve Ωmega, 東京タワー, Привет, 👩‍💻!\n\n\tif (x_1 >= 0) { return 'y'; }  \r\n"
"""Tokenized differently by every vocabulary we know: its tokens name the vocabulary."""

BETWEEN = -1
"""Stands between the texts of a batch; no vocabulary has such a token, so no text can contain it."""

BATCH = 64_000
"""Characters in one call; a server that shares its cores needs a good part of a second for them."""

UNBROKEN = 64_000
"""A text without any safe cut longer than this is bounded by its bytes: a server may take seconds for it."""

BPE = 2  # llama.cpp's number for byte-level vocabularies


@dataclass(frozen=True, slots=True)
class Found:
    """What a llama.cpp server said about itself."""

    tokenizer: Tokenizer
    window: int | None
    batches: bool  # takes several texts in one call
    bare: bool  # a text counts the same with and without something before it
    cuts: bool = False  # counts add up at safe cuts
    size: int | None = None  # tokens of the vocabulary
    sample: tuple[int, ...] = ()  # those of ``SAMPLE``


async def recognise(endpoint: Endpoint, tokens: Sequence[int], batches: bool) -> Found:
    """Learn which vocabulary and template the server has; ``tokens`` are those of ``SAMPLE``."""
    props, models = await asyncio.gather(
        ask(endpoint, "GET", "/props"), ask(endpoint, "GET", "/v1/models")
    )
    meta = _first_meta(models)
    template = None if isinstance(props, Silence) else props.get("chat_template")
    vocabulary = f"{meta.get('vocab_type')}/{meta.get('n_vocab')}/{list(tokens)}"
    bare = meta.get("vocab_type") == BPE
    return Found(
        tokenizer=Tokenizer(
            id="llama.cpp:" + _short_hash(vocabulary),
            kind="exact" if bare else "bound",
            template=_short_hash(template) if isinstance(template, str) else None,
        ),
        window=_window(props, meta),
        batches=batches,
        bare=bare,
        cuts=bare and batches and await _cuts_add_up(endpoint, tokens),
        size=meta.get("n_vocab"),
        sample=tuple(tokens),
    )


async def _cuts_add_up(endpoint: Endpoint, tokens: Sequence[int]) -> bool:
    """Whether ``SAMPLE`` in pieces gives the same tokens as the whole."""
    body = {"content": blocks(SAMPLE, 1), "add_special": False, "parse_special": True}
    answer = await ask(endpoint, "POST", "/tokenize", body)
    return not isinstance(answer, Silence) and answer.get("tokens") == list(tokens)


class LlamaCpp:
    """Counts at the server, in as few calls as possible; texts with specials parsed, as its chat path does."""

    def __init__(self, endpoint: Endpoint, found: Found, guess: Estimate | None = None) -> None:
        self.tokenizer = found.tokenizer
        self.window = found.window
        self.cuts = found.cuts
        self._endpoint = endpoint
        self._found = found
        self._guess = guess or Estimate()
        self._overhead: Overhead | None = None
        self._whole = True  # the server counts a whole request in one call

    async def count(self, texts: Sequence[str]) -> Counts:
        texts = [sound(text) for text in texts]
        cut = [self._pieces(text) for text in texts]
        pieces = [piece for own in cut for piece in own]
        calls = list(_batches(pieces)) if self._found.batches else [[piece] for piece in pieces]
        seconds = seconds_for(pieces)
        try:
            async with asyncio.timeout(seconds):
                limit = asyncio.Semaphore(4)
                answers = await asyncio.gather(
                    *(self._tokenize(call, seconds, limit) for call in calls)
                )
        except TimeoutError:
            answers = [None]
        if any(answer is None for answer in answers):
            return await self._guess.count(texts)
        numbers = iter([number for answer in answers for number in answer or ()])
        counted = [
            self._add(text, list(islice(numbers, len(own))))
            for text, own in zip(texts, cut, strict=True)
        ]
        return Counts(
            tuple(tokens for tokens, _ in counted), weakest(*(kind for _, kind in counted))
        )

    async def count_request(self, request: ChatRequest) -> Counts:
        body = sound_body(request.body())
        seconds = seconds_for(message.content or "" for message in request.messages)
        tokens = await self._count_body(body, seconds)
        if tokens is None:
            return await self._guess.count_request(request)
        return Counts((tokens,), "exact")

    async def overhead(self) -> Overhead:
        """Measured once on the server's own template."""
        if self._overhead is None:
            word = (await self.count(["word"])).tokens[0]

            async def total(messages: list[dict[str, Any]]) -> int | None:
                return await self._count_body({"messages": messages}, PROBE_SECONDS)

            self._overhead = await measure_overhead(total, word)
        return self._overhead or await self._guess.overhead()

    # --- one call -------------------------------------------------------------------------------

    async def _tokenize(
        self, texts: Sequence[str], seconds: float, limit: asyncio.Semaphore
    ) -> list[int] | None:
        content: Any = list(_with_separators(texts)) if self._found.batches else texts[0]
        body = {"content": content, "add_special": False, "parse_special": True}
        async with limit:
            answer = await ask(self._endpoint, "POST", "/tokenize", body, seconds)
        tokens = None if isinstance(answer, Silence) else answer.get("tokens")
        if not isinstance(tokens, list):
            return None
        if not self._found.batches:
            return [len(tokens)]
        numbers = _between(tokens)
        return numbers if len(numbers) == len(texts) else None

    async def _count_body(self, body: dict[str, Any], seconds: float) -> int | None:
        if self._whole:
            path = "/v1/chat/completions/input_tokens"
            answer = await ask(self._endpoint, "POST", path, body, seconds)
            if not isinstance(answer, Silence):
                return whole_number(answer.get("input_tokens"))
            if answer.status not in {404, 405, 501}:
                return None
            self._whole = False  # an older server: it renders, then it tokenizes
        rendered = await ask(self._endpoint, "POST", "/apply-template", body, seconds)
        prompt = None if isinstance(rendered, Silence) else rendered.get("prompt")
        if not isinstance(prompt, str):
            return None
        whole = {"content": prompt, "add_special": True, "parse_special": True}
        answer = await ask(self._endpoint, "POST", "/tokenize", whole, seconds)
        tokens = None if isinstance(answer, Silence) else answer.get("tokens")
        return len(tokens) if isinstance(tokens, list) else None

    # --- texts as pieces ------------------------------------------------------------------------

    def _pieces(self, text: str) -> list[str]:
        """What is sent for one text; nothing for one that is only bounded."""
        if not text or _bounded(text):
            return []
        if self._found.bare:
            return blocks(text, BATCH // 2) if self.cuts else [text]
        # Vocabularies that mark a word's beginning count a text otherwise when something stands before it.
        return [text, "\n" + text]

    def _add(self, text: str, numbers: Sequence[int]) -> tuple[int, Kind]:
        if not text:
            return 0, "exact"
        if not numbers:
            return len(text.encode()), "bound"
        if self._found.bare:
            return sum(numbers), "exact"
        return max(numbers), "bound"


def _bounded(text: str) -> bool:
    return len(text) > UNBROKEN and max(map(len, blocks(text, BATCH))) > BATCH + UNBROKEN


def _batches(pieces: Iterable[str]) -> Iterator[list[str]]:
    batch: list[str] = []
    size = 0
    for piece in pieces:
        if batch and size + len(piece) > BATCH:
            yield batch
            batch, size = [], 0
        batch.append(piece)
        size += len(piece)
    if batch:
        yield batch


def _with_separators(texts: Sequence[str]) -> Iterator[str | int]:
    for text in texts:
        yield text
        yield BETWEEN


def _between(tokens: Sequence[int]) -> list[int]:
    """How many tokens stand before each separator."""
    ends = [place for place, token in enumerate(tokens) if token == BETWEEN]
    starts = [0, *(end + 1 for end in ends)]
    return [end - start for start, end in zip(starts, ends, strict=False)]


def _first_meta(models: dict[str, Any] | Silence) -> dict[str, Any]:
    match models:
        case {"data": [{"meta": dict(meta)}, *_]}:
            return meta
        case _:
            return {}


def _window(props: dict[str, Any] | Silence, meta: dict[str, Any]) -> int | None:
    match props, meta:
        case {"default_generation_settings": {"n_ctx": window}}, _ if whole_number(window, 1):
            return whole_number(window)
        case _, {"n_ctx": window}:
            return whole_number(window, least=1)
        case _:
            return None


def _short_hash(text: str) -> str:
    return hashlib.sha256(text.encode(errors="replace")).hexdigest()[:16]
