"""Counting when nothing better is at hand."""

import json
from collections.abc import Sequence

from ...core.certificate import Counts, Tokenizer
from ...core.heuristic import MARGIN, estimate
from ...core.request import ChatRequest
from ...ports import Overhead

MESSAGE = 6
"""No known chat template spends more on an ordinary message, its role included."""
REQUEST = 8
CALL = 16
TOOLS = 80


class Estimate:
    """Weighs what texts are made of; ``ratio`` is what an endpoint's past answers taught."""

    def __init__(self, ratio: float = 1.0) -> None:
        self.tokenizer = Tokenizer(id="estimate", kind="estimate", margin=MARGIN)
        self._ratio = ratio

    async def count(self, texts: Sequence[str]) -> Counts:
        return Counts(tuple(self.tokens(text) for text in texts), "estimate")

    async def count_request(self, request: ChatRequest) -> Counts:
        return Counts((self.request_tokens(request),), "estimate")

    async def overhead(self) -> Overhead:
        roles = dict.fromkeys(("system", "user", "assistant", "tool"), MESSAGE)
        return Overhead(message=roles, request=REQUEST)

    def tokens(self, text: str) -> int:
        return round(estimate(text) * self._ratio)

    def request_tokens(self, request: ChatRequest) -> int:
        total = REQUEST
        for message in request.messages:
            total += MESSAGE + self.tokens(message.content or "") + self.tokens(message.name or "")
            for call in message.tool_calls:
                total += CALL + self.tokens(call.name) + self.tokens(call.arguments)
        if request.tools:
            schemas = json.dumps([tool.body() for tool in request.tools], ensure_ascii=False)
            total += TOOLS + self.tokens(schemas)
        return total
