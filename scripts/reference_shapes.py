"""JSON schemas as tables for people."""

import re
from collections.abc import Collection, Mapping
from typing import Any

BAR = r"\|"  # within a cell of a table


def fields_table(shape: Mapping[str, Any], skip: Collection[str] = ()) -> str:
    """One row for each field; one that can be left out has its default beside it."""
    required = shape.get("required", [])
    rows = [
        f"| `{name}` | {kind(field)}{_default(field, name in required)} | {prose(field.get('description', ''))} |"
        for name, field in shape.get("properties", {}).items()
        if name not in skip
    ]
    return "\n".join(["| key | value | |", "|---|---|---|", *rows]) if rows else "No fields."


def kind(field: Mapping[str, Any]) -> str:
    """What a value can be, in a few words."""
    match field:
        case {"$ref": place}:
            name = place.rsplit("/", 1)[-1]
            return f"[{name}](routes.md#{name.lower()})"
        case {"const": value}:
            return f"`{_json(value)}`"
        case {"enum": values}:
            return " or ".join(f"`{_json(value)}`" for value in values)
        case {"anyOf": choices} | {"oneOf": choices}:
            return " or ".join(dict.fromkeys(kind(choice) for choice in choices))
        case {"allOf": [only]}:
            return kind(only)
        case {"type": "array", "prefixItems": items}:
            return "list of " + ", ".join(kind(item) for item in items)
        case {"type": "array", "items": {**item}} if item:
            return f"list of {kind(item)}"
        case {"type": "object", "additionalProperties": {**value}} if value:
            return f"object of {kind(value)}"
        case {"type": str(name)}:
            return _NAMES.get(name, name)
        case _:
            return "anything"


_NAMES = {
    "string": "text",
    "integer": "whole number",
    "boolean": "true or false",
    "array": "list",
    "null": "null",
}


def prose(text: str) -> str:
    """A docstring as Markdown, on one line where it is one paragraph; nothing in it breaks a table."""
    paragraphs = [" ".join(part.split()) for part in re.split(r"\n\s*\n", text.strip())]
    return "\n\n".join(part.replace("``", "`").replace("|", BAR) for part in paragraphs)


def _default(field: Mapping[str, Any], is_required: bool) -> str:
    if is_required or "const" in field:
        return ""
    if "default" not in field:
        return ", may be left out"
    value = field["default"]
    return ", default none" if value is None else f", default `{_json(value)}`"


def _json(value: object) -> str:
    import json

    return json.dumps(value, ensure_ascii=False).replace("|", BAR)
