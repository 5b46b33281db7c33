"""Function schemas the way OpenAI's models are shown them: as TypeScript declarations.

Two dialects are known. ``early`` (GPT-3.5) indents nested objects and forgets their comments;
``late`` (GPT-4, GPT-4o and after) writes an object without comments on one line.
"""

from collections.abc import Iterable, Mapping
from typing import Any, Literal

from .chat import Function, quoted

Dialect = Literal["early", "late"]
_DEEPEST = 24  # a schema nested deeper is shown as its JSON


def namespace(functions: Iterable[Function], dialect: Dialect) -> str:
    """The whole declaration block."""
    lines = ["namespace functions {", ""]
    for function in functions:
        if function.description:
            lines.append(_comment(function.description))
        shape = _object(function.parameters, dialect, 0) if _has(function.parameters) else None
        argument = "" if shape is None else f"_: {shape}"
        lines += [f"type {function.name} = ({argument}) => any;", ""]
    return "\n".join([*lines, "} // namespace functions"])


def _object(schema: Mapping[str, Any], dialect: Dialect, depth: int) -> str:
    properties = schema["properties"]
    required = schema.get("required") or ()

    def declared(name: str, value: object) -> str:
        optional = "" if name in required else "?"
        return f"{name}{optional}: {_type(value, dialect, depth)}"

    fields = list(properties.items())
    if dialect == "late" and not any(_described(value) for _, value in fields):
        return "{ " + ", ".join(declared(name, value) for name, value in fields) + " }"

    indent = "  " * depth if dialect == "early" else ""
    lines = ["{"]
    for name, value in fields:
        if _described(value) and (dialect == "late" or depth == 0):
            lines.append(indent + _comment(str(value["description"])))
        default = isinstance(value, Mapping) and dialect == "late" and "default" in value
        remark = f" // default: {quoted(value['default'])}" if default else ""
        lines.append(f"{indent}{declared(name, value)},{remark}")
    return "\n".join([*lines, ("  " * (depth - 1) if indent else "") + "}"])


def _type(schema: object, dialect: Dialect, depth: int) -> str:
    if not isinstance(schema, Mapping):
        return "any"
    if depth > _DEEPEST:
        return quoted(schema)
    for union in ("anyOf", "oneOf", "allOf"):
        if isinstance(schema.get(union), list):
            return " | ".join(_type(one, dialect, depth) for one in schema[union])
    if isinstance(schema.get("enum"), list):
        return " | ".join(_literal(value) for value in schema["enum"])
    if "const" in schema and dialect == "late":
        return _literal(schema["const"])
    match schema.get("type"):
        case list(kinds):
            return " | ".join(_type({**schema, "type": kind}, dialect, depth) for kind in kinds)
        case "string":
            return "string"
        case "integer" | "number":
            return "number"
        case "boolean":
            return "boolean"
        case "null":
            return "null"
        case "array":
            return _type(schema.get("items"), dialect, depth) + "[]"
        case "object":
            return _object(schema, dialect, depth + 1) if _has(schema) else "object"
        case _:
            return "any"


def _literal(value: object) -> str:
    return f'"{value}"' if isinstance(value, str) else quoted(value)


def _comment(text: str) -> str:
    return "// " + "\n".join(line.strip() for line in text.split("\n"))


def _has(schema: Mapping[str, Any]) -> bool:
    return isinstance(schema.get("properties"), Mapping) and bool(schema["properties"])


def _described(value: object) -> bool:
    return isinstance(value, Mapping) and bool(value.get("description"))
