"""The page of events: the engine's own, and what becomes of them on a server's stream."""

import dataclasses
import inspect
import re
from typing import Any, get_args

from reference_shapes import fields_table, prose

PAGE = """\
# Events

What an answer tells while it is written. The library, the terminal and the page get the same ones.

## In Python

`chat.stream(…)` of the [library](library.md) yields them, in this order: one `Started` (another takes its place where a
second endpoint has to be asked), any number of `Delta`, `Thought`, `Notice` and `ToolUsed`, and at the end one
`Finished`; or one `Refused`, and then nothing is stored.

{python}

## On a turn's stream

`GET /api/v1/turns/{{turn}}/events` of a [server](http.md), as `text/event-stream`: each event has an `id`, its name,
and one line of JSON whose `kind` is that name.

{turn}

## On an editor's stream

`POST /api/v1/editor/tools/{{tool_id}}/chat`: `meta` comes first, `done` last. See [Put the engine into an
editor](../howto/editor.md).

{editor}

The shapes within them are in [HTTP routes](routes.md#shapes).
"""


def events_page() -> str:
    from pydantic import TypeAdapter

    from sill.engine.events import Event
    from sill.web.schemas import events

    turn = TypeAdapter(events.TurnEvent).json_schema(mode="serialization")
    kinds = turn["discriminator"]["mapping"]
    editor = [events.EditorMeta, events.EditorNotice, events.EditorDelta, events.EditorDone]
    return PAGE.format(
        python="\n\n".join(dataclass_section(kind) for kind in get_args(Event)),
        turn="\n\n".join(
            wire_section(name, turn["$defs"][place.rsplit("/", 1)[-1]])
            for name, place in kinds.items()
        ),
        editor="\n\n".join(
            wire_section(
                model.__name__.removeprefix("Editor").lower(),
                model.model_json_schema(mode="serialization"),
            )
            for model in editor
        ),
    )


def wire_section(name: str, shape: dict[str, Any]) -> str:
    told = re.sub(rf"^``{name}``: ", "", shape.get("description", ""))
    return f"### `{name}`\n\n{prose(told[:1].upper() + told[1:])}\n\n{fields_table(shape, skip={'kind'})}"


def dataclass_section(kind: type) -> str:
    """A dataclass with its docstring, its fields and the comments beside them."""
    comments = dict(re.findall(r"^    (\w+): [^#\n]*#\s*(.+)$", inspect.getsource(kind), re.M))
    own = inspect.getdoc(kind) or ""
    # Without a docstring of its own, a dataclass shows its signature there.
    told = "" if own.startswith(f"{kind.__name__}(") else own
    rows = [
        f"| `{field.name}` | `{_type(field.type)}` | {prose(comments.get(field.name, ''))} |"
        for field in dataclasses.fields(kind)
    ]
    parts = [
        f"### {kind.__name__}",
        prose(told),
        "| field | type | |\n|---|---|---|\n" + "\n".join(rows),
    ]
    return "\n\n".join(part for part in parts if part)


def _type(given: Any) -> str:
    shown = inspect.formatannotation(given)
    shown = re.sub(r"\b(?:\w+\.)+(\w+)", r"\1", shown)
    return shown.replace("|", r"\|")
