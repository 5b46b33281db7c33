"""The JSON schema of a reply with operations, and the same as a GBNF grammar, for one request's files."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from .edits import Scope

Schema = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Limits:
    """How long things may get; a small model otherwise fills the whole reply. None: no limit.

    Servers compile these into their grammar, and some refuse to repeat a rule more than 2,000 times.
    """

    message: int | None = None
    anchor: int | None = None
    content: int | None = None
    line: int | None = None
    lines: int | None = None
    ops: int | None = None


SMALL = Limits(message=300, anchor=200, content=1500, line=200, lines=60, ops=4)


def reply_schema(scope: Scope, limits: Limits | None = None) -> Schema:
    """What a reply to this request may be: ``assistant_message`` and operations on its files, nothing else.

    Every object lists all its fields as required, as strict structured output wants it.
    """
    limits = limits or Limits()
    return {
        "type": "object",
        "properties": {
            "assistant_message": _string(limits.message),
            "ops": _array({"anyOf": _operations(scope, limits)}, limits.ops),
        },
        "required": ["assistant_message", "ops"],
        "additionalProperties": False,
    }


def _operations(scope: Scope, limits: Limits) -> list[Schema]:
    existing = [path for path, text in scope.documents.items() if text is not None]
    active = [scope.active] if scope.active in existing else []
    content, anchor = _string(limits.content), _string(limits.anchor, minimum=1)
    variants: list[Schema] = []
    if existing:
        anchored = {"target": _one_of(["anchor"]), "anchor": anchor}
        variants += [
            _operation(["replace"], existing, {**anchored, "content": content}),
            _operation(
                ["insert"],
                existing,
                {**anchored, "place": _one_of(["before", "after"]), "content": content},
            ),
            _operation(["delete"], existing, anchored),
            _operation(
                ["patch"],
                existing,
                {"patch_lines": _array(_string(limits.line), limits.lines, minimum=1)},
            ),
            _operation(["delete"], existing, {"target": _one_of(["document"])}),
        ]
    for targets, is_given in ((["selection"], scope.selection), (["cursor"], scope.cursor)):
        if active and is_given is not None:
            kinds = ["insert"] if targets == ["cursor"] else ["insert", "replace"]
            variants.append(
                _operation(kinds, active, {"target": _one_of(targets), "content": content})
            )
    if active and scope.selection is not None:
        variants.append(_operation(["delete"], active, {"target": _one_of(["selection"])}))
    whole = {"target": _one_of(["document"]), "content": content}
    variants.append(_operation(["insert", "replace"], list(scope.documents), whole))
    return variants


def _operation(kinds: Sequence[str], files: Sequence[str], rest: Mapping[str, Schema]) -> Schema:
    fields = {"op": _one_of(kinds), "target_file": _one_of(files), **rest}
    return {
        "type": "object",
        "properties": fields,
        "required": list(fields),
        "additionalProperties": False,
    }


def _one_of(values: Sequence[str]) -> Schema:
    return {"type": "string", "enum": list(values)}


def _string(longest: int | None, minimum: int = 0) -> Schema:
    bounds = {"minLength": minimum or None, "maxLength": longest}
    return {"type": "string"} | {name: value for name, value in bounds.items() if value}


def _array(items: Schema, most: int | None, minimum: int = 0) -> Schema:
    bounds = {"minItems": minimum or None, "maxItems": most}
    return {"type": "array", "items": items} | {
        name: value for name, value in bounds.items() if value
    }


def grammar(schema: Schema) -> str:
    """A GBNF grammar of exactly the minified JSON texts that ``reply_schema`` allows, keys in its order."""
    rules = {
        "char": r'[^"\\\x00-\x1F\x7F] | "\\" (["\\/bfnrt] | "u" [0-9a-fA-F]{4})',
    }
    root = _rule(schema, "root", rules)
    if root != "root":
        rules["root"] = root
    return (
        "\n".join(f"{name} ::= {body}" for name, body in sorted(rules.items(), reverse=True)) + "\n"
    )


def _rule(schema: Schema, name: str, rules: dict[str, str]) -> str:
    """An expression for the schema; what is worth a name of its own is added to ``rules``."""
    if "anyOf" in schema:
        choices = [
            _rule(one, f"{name}-{number}", rules) for number, one in enumerate(schema["anyOf"])
        ]
        rules[name] = " | ".join(choices)
        return name
    if "enum" in schema:
        return (
            "("
            + " | ".join(_literal(json.dumps(v, ensure_ascii=False)) for v in schema["enum"])
            + ")"
        )
    if schema["type"] == "string":
        times = _times(schema.get("minLength", 0), schema.get("maxLength"))
        return rf'"\"" char{times} "\""'
    if schema["type"] == "array":
        item = f"{name}-item"
        body = _rule(schema["items"], item, rules)
        # A repeated rule is compiled once if it has a name, and once per repetition if it has none.
        if body != item:
            rules[item] = body
        most = schema.get("maxItems")
        more = _times(0, None if most is None else most - 1)
        items = f'{item} ("," {item}){more}'
        return f'"[" {items} "]"' if schema.get("minItems") else f'"[" ({items})? "]"'
    parts: list[str] = []
    for number, (key, value) in enumerate(schema["properties"].items()):
        lead = ("{" if number == 0 else ",") + json.dumps(key) + ":"
        parts += [_literal(lead), _rule(value, f"{name}-{key.replace('_', '-')}", rules)]
    rules[name] = " ".join([*parts, _literal("}")])
    return name


def _times(least: int, most: int | None) -> str:
    if most is None:
        return "+" if least else "*"
    return f"{{{least},{most}}}"


def _literal(text: str) -> str:
    """A GBNF string; control characters cannot occur, JSON has escaped them."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
