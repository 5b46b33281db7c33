"""The page of routes and shapes, from the same description that a server gives at /openapi.json."""

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from reference_shapes import fields_table, kind, prose

if TYPE_CHECKING:
    from fastapi import APIRouter, FastAPI

PAGE = """\
# HTTP routes and shapes

Everything a server answers, as `GET /openapi.json` describes it. [HTTP API](http.md) is the overview with how to log
in, what errors there are and how to follow an answer; [Events](events.md) has the streams.

## Routes

{routes}

## Shapes

Every error under `/api/v1` is a [Problem](#problem). Requests there are refused if they have a key that is not listed;
the [gateway](../gateway.md) passes such keys on.

{shapes}
"""

METHODS = ("get", "post", "put", "patch", "delete")


def routes_page() -> str:
    from sill.web.app import ROUTERS
    from sill.web.openapi import describe
    from sill.web.schemas.common import Problem

    document = describe(with_routes(ROUTERS))
    every = {**document["components"]["schemas"], "Problem": Problem.model_json_schema()}
    shapes = {name: shape for name, shape in every.items() if name not in _OWN}
    return PAGE.format(
        routes=table(document["paths"]),
        shapes="\n\n".join(section(name, shapes[name]) for name in sorted(shapes)),
    )


# What the framework says about its own errors; ours are `Problem`.
_OWN = {"HTTPValidationError", "ValidationError"}


def with_routes(routers: "Sequence[APIRouter]") -> "FastAPI":
    """An application to be described only; no service is needed for that."""
    from fastapi import FastAPI

    app = FastAPI(title="Sill")
    for router in routers:
        app.include_router(router)
    return app


def operations(paths: Mapping[str, Any]) -> Iterator[tuple[str, str, Any]]:
    for path, given in paths.items():
        for method in METHODS:
            if method in given:
                yield method.upper(), path, given[method]


def table(paths: Mapping[str, Any]) -> str:
    lines = ["| route | what it does | takes | gives |", "|---|---|---|---|"]
    for method, path, operation in operations(paths):
        told = prose((operation.get("description") or operation["summary"]).split("\n\n")[0])
        lines.append(f"| `{method} {path}` | {told} | {takes(operation)} | {gives(operation)} |")
    return "\n".join(lines)


def takes(operation: Mapping[str, Any]) -> str:
    query = [f"`{one['name']}`" for one in operation.get("parameters", []) if one["in"] == "query"]
    body = [
        kind(content["schema"])
        for content in operation.get("requestBody", {}).get("content", {}).values()
        if content.get("schema")
    ]
    return ", ".join([*query, *body])


def gives(operation: Mapping[str, Any]) -> str:
    """What comes back when all is well."""
    found = []
    for status, response in operation["responses"].items():
        if not status.startswith(("2", "3")):
            continue
        for form, content in response.get("content", {"": {}}).items():
            shape = content.get("schema", {})
            named = kind(shape) if "$ref" in shape else f"`{form}`" if form else ""
            found.append(f"{status} {named}".strip())
    return ", ".join(dict.fromkeys(found))


def section(name: str, shape: Mapping[str, Any]) -> str:
    told = prose(shape.get("description", ""))
    if "properties" in shape:
        body = fields_table(shape)
    elif shape.get("type") == "object":
        body = "No fields."
    else:
        body = f"One of: {kind(shape)}."
    return "\n\n".join(part for part in (f"### {name}", told, body) if part)
