"""The description of the API, with what the framework cannot say by itself: streams of events."""

from typing import Any

from fastapi import FastAPI
from pydantic import TypeAdapter

from .schemas.events import EditorDelta, EditorDone, EditorMeta, EditorNotice, TurnEvent

_REF = "#/components/schemas/{model}"
_STREAM = "text/event-stream"

# Path -> what the `data` of its events is.
_EVENTS: dict[str, tuple[str, TypeAdapter[Any]]] = {
    "/api/v1/turns/{turn}/events": ("TurnEvent", TypeAdapter(TurnEvent)),
    "/api/v1/editor/tools/{tool_id}/chat": (
        "EditorEvent",
        TypeAdapter(EditorMeta | EditorNotice | EditorDelta | EditorDone),
    ),
}


def describe(app: FastAPI) -> dict[str, Any]:
    """The whole API as OpenAPI; made once."""
    if app.openapi_schema is None:
        app.openapi_schema = _with_streams(FastAPI.openapi(app))
    return app.openapi_schema


def _with_streams(schema: dict[str, Any]) -> dict[str, Any]:
    components = schema["components"]["schemas"]
    for path, (name, adapter) in _EVENTS.items():
        body = adapter.json_schema(ref_template=_REF, mode="serialization")
        for model, shape in body.pop("$defs", {}).items():
            components.setdefault(model, shape)
        components[name] = {**body, "title": name}
        for operation in schema["paths"][path].values():
            _describe_stream(operation["responses"], name)
    return schema


def _describe_stream(responses: dict[str, Any], name: str) -> None:
    """Events where there are some; errors are JSON here too."""
    for status, response in responses.items():
        content = response.get("content", {})
        if _STREAM not in content:
            continue
        if status == "200":
            content[_STREAM] = {"itemSchema": _event(name)}
        else:
            content["application/json"] = content.pop(_STREAM)


def _event(name: str) -> dict[str, Any]:
    data = {
        "type": "string",
        "contentMediaType": "application/json",
        "contentSchema": {"$ref": _REF.format(model=name)},
    }
    return {
        "type": "object",
        "required": ["event", "data"],
        "properties": {"event": {"type": "string"}, "id": {"type": "string"}, "data": data},
    }
