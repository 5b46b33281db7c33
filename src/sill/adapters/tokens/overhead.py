"""What a chat template adds, measured by rendering small requests with it."""

from collections.abc import Awaitable, Callable
from typing import Any

from ...ports import Overhead

Total = Callable[[list[dict[str, Any]]], Awaitable[int | None]]


async def measure_overhead(total: Total, word: int) -> Overhead | None:
    """The overhead of a template, read off differences; None if it renders nothing at all.

    ``total`` counts a whole request, or answers None where the template refuses it (some insist on
    alternating roles, some know no system role). ``word`` is the count of the text ``word``.
    Where a difference cannot be had, the dearer neighbour stands in: never less than the truth.
    """

    async def cost(*roles: str) -> int | None:
        tokens = await total([{"role": role, "content": "word"} for role in roles])
        return None if tokens is None else tokens - word * len(roles)

    bare = await cost("user")
    if bare is None:
        return None
    turn = await cost("user", "assistant", "user")
    pair = bare if turn is None else turn - bare
    user = _difference(await cost("user", "user"), bare, otherwise=pair)
    assistant = _difference(turn, bare + user, otherwise=pair) if user < pair else pair

    led = await cost("system", "user")
    system = _difference(await cost("system", "system", "user"), led, otherwise=user)
    request = max(0, (bare if led is None else led - system) - user)
    default_system = max(0, bare - request - user)
    result = _difference(await cost("user", "assistant", "tool", "user"), turn, otherwise=pair)
    return Overhead(
        message={
            "system": system,
            "user": user,
            "assistant": max(assistant, 0),
            "tool": max(result, user),
        },
        request=request,
        default_system=default_system,
    )


def _difference(more: int | None, less: int | None, *, otherwise: int) -> int:
    return max(0, otherwise) if more is None or less is None else max(0, more - less)
