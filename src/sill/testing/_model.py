"""A model that says what it was told to say."""

from collections.abc import AsyncIterator, Sequence

from ..core.certificate import Usage
from ..core.request import ChatRequest
from ..ports import Ended, ModelEvent, TextDelta
from ._counter import WordCounter

Reply = Sequence[str | ModelEvent | Exception]


class ScriptedModel:
    """Plays one reply per call and remembers every request.

    A reply is a list of text pieces, events or one exception to raise. Without an ``Ended`` of its
    own it ends complete, with a usage of one token per word.
    """

    name = "scripted"
    endpoint = "test:"

    def __init__(self, *replies: Reply) -> None:
        self._replies = list(replies)
        self.sent: list[ChatRequest] = []

    async def stream(self, request: ChatRequest) -> AsyncIterator[ModelEvent]:
        self.sent.append(request)
        spoken = 0
        for piece in self._replies.pop(0):
            if isinstance(piece, Exception):
                raise piece
            event = TextDelta(piece) if isinstance(piece, str) else piece
            yield event
            if isinstance(event, Ended):
                return
            if isinstance(event, TextDelta):
                spoken += len(event.text.split())
        (prompt,) = (await WordCounter().count_request(request)).tokens
        yield Ended("complete", "stop", Usage(prompt=prompt, completion=spoken))
