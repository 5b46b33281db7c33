"""A model whose tokenizer only you have: count with it, and Sill plans by your numbers.

This one counts a token for every four bytes of UTF-8, begun, which no real model does.
"""

import sys
from collections.abc import Sequence

import sill
from sill.core.certificate import Counts, Tokenizer
from sill.core.request import ChatRequest


class EveryFourBytes:
    """Says ``bound``, because a whole request may come out a little lower than its parts."""

    tokenizer = Tokenizer(id="every-four-bytes", kind="bound")
    per_message = 4

    async def count(self, texts: Sequence[str]) -> Counts:
        return Counts(tuple(-(-len(text.encode()) // 4) for text in texts), "bound")

    async def count_request(self, request: ChatRequest) -> Counts:
        texts = [message.content or "" for message in request.messages]
        tokens = (await self.count(texts)).tokens
        return Counts((sum(tokens) + self.per_message * len(texts),), "bound")

    async def overhead(self) -> sill.Overhead:
        roles = ("system", "user", "assistant", "tool")
        return sill.Overhead(message=dict.fromkeys(roles, self.per_message), request=0)


if __name__ == "__main__":
    with sill.open(
        sys.argv[1] if len(sys.argv) > 1 else ".", counter=EveryFourBytes()
    ) as workspace:
        print(workspace.model)
        print(workspace.count(["four", "five5", "naïve"]))
        plan = workspace.chat().plan("How many tokens is this?")
        print(plan.tokens if isinstance(plan, sill.Window) else plan.reason)
