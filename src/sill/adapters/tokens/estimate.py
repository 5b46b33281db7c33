"""Counting when nothing better is at hand."""

from collections.abc import Mapping, Sequence
from typing import Any

from ...core.certificate import Counts, Tokenizer
from ...core.formats.chat import IMAGE_TOKENS, chat_of, quoted
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
        return Counts((self.body_tokens(request.body()),), "estimate")

    async def overhead(self) -> Overhead:
        roles = dict.fromkeys(("system", "user", "assistant", "tool"), MESSAGE)
        return Overhead(message=roles, request=REQUEST, tool_call=CALL)

    def tokens(self, text: str) -> int:
        return round(estimate(text) * self._ratio)

    def body_tokens(self, body: Mapping[str, Any]) -> int:
        """The whole request, given as the JSON object of a chat completion."""
        chat = chat_of(body)
        total = REQUEST
        for message in chat.messages:
            total += MESSAGE + self.tokens(message.text) + self.tokens(message.name or "")
            total += IMAGE_TOKENS * message.images
            for call in message.calls:
                total += CALL + self.tokens(call.name) + self.tokens(call.arguments)
        if chat.tools:
            total += TOOLS + self.tokens(quoted(chat.tools, spaced=True))
        if chat.reply:
            total += CALL + self.tokens(quoted(chat.reply.schema, spaced=True))
        return total
