"""What a tool of another program brought, as text for a model."""

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mcp_types import CallToolResult

LONGEST = 2_000_000  # characters that are taken in; the room in the window cuts far below it


def text_of(result: "CallToolResult") -> str:
    """Everything that is text; what is not is named."""
    text = "\n".join(_parts(result)) or "(the result is empty)"
    if len(text) <= LONGEST:
        return text
    return f"{text[:LONGEST]}\n[the first {LONGEST:,} of {len(text):,} characters]"


def _parts(result: "CallToolResult") -> Iterator[str]:
    texts = [_part(block) for block in result.content]
    if not any(texts) and result.structured_content is not None:
        yield json.dumps(result.structured_content, ensure_ascii=False)
        return
    yield from (text for text in texts if text)


def _part(block: Any) -> str:
    match block.type:
        case "text":
            return str(block.text)
        case "resource":
            return str(getattr(block.resource, "text", None) or _left_out("file", block.resource))
        case "resource_link":
            return f"{block.name}: {block.uri}"
        case kind:
            return _left_out(kind, block)


def _left_out(kind: str, block: Any) -> str:
    media = getattr(block, "mime_type", None) or "no type"
    return f"[{kind}, {media}: not shown]"
