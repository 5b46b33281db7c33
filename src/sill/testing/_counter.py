"""A counter whose budgets can be checked by eye."""

import json
from collections.abc import Sequence

from ..core.certificate import Counts, Tokenizer
from ..core.request import ChatRequest
from ..ports import Overhead


class WordCounter:
    """One token per word, one more per message, one to open the reply."""

    tokenizer = Tokenizer(id="words", kind="exact")

    def __init__(self) -> None:
        self.counted: list[str] = []  # every text that was really counted, in order

    async def count(self, texts: Sequence[str]) -> Counts:
        self.counted += texts
        return Counts(tuple(len(text.split()) for text in texts), "exact")

    async def count_request(self, request: ChatRequest) -> Counts:
        texts = [message.content or "" for message in request.messages]
        texts += [call.arguments for m in request.messages for call in m.tool_calls]
        texts += [json.dumps(tool.body()) for tool in request.tools]
        words = sum(len(text.split()) for text in texts)
        return Counts((words + len(request.messages) + 1,), "exact")

    async def overhead(self) -> Overhead:
        return Overhead(
            message=dict.fromkeys(("system", "user", "assistant", "tool"), 1), request=1
        )
