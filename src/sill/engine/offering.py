"""Which tools go with a question: few enough for their share, and the same ones for a whole epoch."""

import json
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from ..core.request import ChatRequest, ToolSchema, WireMessage, encode
from ..core.tools import Choice, Tool, choose, only
from ..ports import Caller, TokenCounter, ToolBox, ToolOutcome
from .prepare import Call, Toolset

Untold = Callable[[], Sequence[str]]


@dataclass(slots=True)
class Boxes:
    """Several tool boxes as one. Of two tools with the same name the first box has it."""

    boxes: Sequence[ToolBox]
    untold: Untold = list  # what went wrong with some of them and nobody was told of yet
    _owners: dict[str, ToolBox] = field(default_factory=dict)

    async def tools(self) -> Sequence[Tool]:
        found: dict[str, Tool] = {}
        owners: dict[str, ToolBox] = {}
        for box in self.boxes:
            for tool in await box.tools():
                if tool.name not in found:
                    found[tool.name], owners[tool.name] = tool, box
        self._owners = owners
        return tuple(found.values())

    async def call(self, name: str, arguments: Mapping[str, Any], caller: Caller) -> ToolOutcome:
        if name not in self._owners:
            await self.tools()
        return await self._owners[name].call(name, arguments, caller)


@dataclass(slots=True)
class Toolkit:
    """The tools one model may be offered, and what their schemas cost as it counts them."""

    box: ToolBox
    counter: TokenCounter
    untold: Untold = list  # what went wrong with tools and the user was not told of yet
    _tokens: dict[bytes, int] = field(default_factory=dict)

    async def choice(self, call: Call, question: str, sticky: Collection[str] = ()) -> Toolset:
        """The set for a question: the ``sticky`` names where they still fit their share, else the best for it.

        Empty where schemas cost nothing: the model's template leaves them out, and it would never see them.
        """
        tools = await self.box.tools()
        share = call.budget.tools
        if sticky:
            same = only(tools, sticky)
            offered = await self._toolset(call, same)
            if offered.tokens <= share or all(tool.is_core for tool in same.offered):
                return replace(offered, missed=())  # it was told when the set was chosen
        whole = await self._toolset(call, Choice(tuple(tools)))
        if whole.tokens == 0:
            return Toolset()
        if whole.tokens <= share:
            return whole
        return await self._filtered(call, tools, share, question)

    async def _filtered(
        self, call: Call, tools: Sequence[Tool], share: int, question: str
    ) -> Toolset:
        """Sizes of schemas alone are near enough to choose by; the chosen ones are counted together."""
        texts = [json.dumps(tool.schema.body(), ensure_ascii=False) for tool in tools]
        counts = await self.counter.count(texts)
        sizes = {tool.name: tokens for tool, tokens in zip(tools, counts.tokens, strict=True)}
        room = share
        while True:
            chosen = choose(tools, sizes, room, question)
            offered = await self._toolset(call, chosen)
            if offered.tokens <= share or all(tool.is_core for tool in chosen.offered):
                return offered
            # Every time at least one more tool has to go, so this ends with the core tools.
            room = sum(sizes[tool.name] for tool in chosen.offered) - max(1, offered.tokens - share)

    async def _toolset(self, call: Call, choice: Choice) -> Toolset:
        schemas = tuple(tool.schema for tool in choice.offered)
        left_out = tuple(tool.name for tool in choice.left_out)
        missed = tuple(tool.name for tool in choice.left_out if tool.origin)
        return Toolset(schemas, await self._cost(call, schemas), left_out, missed)

    async def _cost(self, call: Call, schemas: tuple[ToolSchema, ...]) -> int:
        """What a request gets longer by: some templates say a lot more than the schemas."""
        if not schemas:
            return 0
        with_tools = _probe(call, schemas)
        key = encode(with_tools.body())
        if key not in self._tokens:
            (more,) = (await self.counter.count_request(with_tools)).tokens
            (less,) = (await self.counter.count_request(_probe(call, ()))).tokens
            self._tokens[key] = max(0, more - less)
        return self._tokens[key]


def _probe(call: Call, schemas: tuple[ToolSchema, ...]) -> ChatRequest:
    messages = (WireMessage("system", call.system), WireMessage("user", "word"))
    return ChatRequest(call.model, messages, max_tokens=1, tools=schemas)
