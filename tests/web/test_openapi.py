"""The description of the API is true: a machine that reads it finds no answer it does not allow."""

import asyncio
import os
import sys

import pytest

from tests.engine.workspace import says
from tests.web.serving import serving

# What a schema cannot say (a cursor inside its file, a file that is there) is 422, which this check forbids.
INEXPRESSIBLE = "positive_data_acceptance"


async def fuzzed(served, cases):
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        *("-m", "schemathesis.cli", "run", f"{served.site.url}/openapi.json"),
        *("--header", f"Authorization: {served.http.headers['authorization']}"),
        *("--phases", "examples,coverage,fuzzing", "--max-examples", str(cases), "--seed", "1"),
        *("--exclude-checks", INEXPRESSIBLE, "--no-color"),
        *("--request-timeout", "60", "--generation-database", "none", "--workers", "2"),
        cwd=served.folder.parent,
        env={**os.environ, "NO_PROXY": "*"},
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    output, _ = await process.communicate()
    return process.returncode, output.decode()


def run(tmp_path, cases):
    async def check():
        async with serving(tmp_path, says("Hello there")) as served:
            await served.said("hi")
            return await fuzzed(served, cases)

    return asyncio.run(check())


@pytest.mark.slow
def test_no_generated_request_gets_an_answer_the_description_does_not_allow(tmp_path):
    code, output = run(tmp_path, 2)

    assert code == 0, output[-9000:]


@pytest.mark.long
def test_nor_do_many_more(tmp_path):
    code, output = run(tmp_path, 100)

    assert code == 0, output[-9000:]


def test_the_description_names_every_event(tmp_path):
    async def check():
        async with serving(tmp_path) as served:
            return (await served.http.get("/openapi.json")).json()

    schemas = asyncio.run(check())["components"]["schemas"]
    named = {ref["$ref"].rsplit("/", 1)[-1] for ref in schemas["TurnEvent"]["oneOf"]}

    assert named == {
        "DeltaEvent",
        "FinishedEvent",
        "NoticeEvent",
        "RefusedEvent",
        "StartedEvent",
        "ThoughtEvent",
        "ToolEvent",
    }
    assert named <= schemas.keys()
