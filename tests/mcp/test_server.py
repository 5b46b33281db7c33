"""The folder's tools for a real MCP client, over standard input and output and over HTTP."""

import asyncio
import sys
from pathlib import Path

import pytest
from mcp.client.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.client.streamable_http import streamable_http_client

from tests.gateway.live import served

pytestmark = pytest.mark.slow

NOTES = {
    "Garden/Slugs.md": "# Slugs\n\nBeer traps work best in the cold frame. See [[Compost]].\n",
    "Garden/Compost.md": "# Compost\n\nTurn it in March.\n",
    "Oven.md": "# Oven\n\nFire it for four hours.\n",
}
READS = {
    "read_document", "find_excerpts", "find_documents", "list_documents", "resolve_wikilink",
    "find_backlinks", "find_forward_links", "retrieve_from_memory", "find_related", "list_proposals",
}  # fmt: skip
WRITES = {"propose_edit", "store_in_memory"}


@pytest.fixture
def folder(tmp_path, monkeypatch) -> Path:
    for name in ("XDG_STATE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME"):
        monkeypatch.setenv(name, str(tmp_path / name.lower()))
    for path, text in NOTES.items():
        file = tmp_path / "vault" / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    (tmp_path / "secret.md").write_text("the word is xyzzy")
    return tmp_path


def over_stdio(folder: Path, *more: str):
    names = ("XDG_STATE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME")
    environment = {name: str(folder / name.lower()) for name in names}
    return stdio_client(
        StdioServerParameters(
            command=sys.executable,
            args=[
                *("-m", "sill", "mcp", "--vault", str(folder / "vault")),
                *("--db", str(folder / "sill.db"), *more),
            ],
            env=environment | {"HOME": str(folder), "SILL_EMBEDDER": "none"},
        )
    )


async def said(client: Client, name: str, **arguments) -> tuple[bool, str]:
    result = await client.call_tool(name, arguments)
    return bool(result.is_error), result.content[0].text


def files(folder: Path) -> dict[str, str]:
    vault = folder / "vault"
    return {str(p.relative_to(vault)): p.read_text() for p in vault.rglob("*") if p.is_file()}


async def walk(client: Client) -> dict[str, tuple[bool, str]]:
    """One call of everything a client does with it."""
    return {
        "found": await said(client, "find_excerpts", query="beer traps"),
        "read": await said(client, "read_document", path="Slugs"),
        "from line 3": await said(client, "read_document", path="Garden/Slugs.md", start_line=3),
        "links": await said(client, "find_forward_links", path="Garden/Slugs.md"),
        "back": await said(client, "find_backlinks", path="Compost"),
        "related": await said(client, "find_related", path="Garden/Slugs.md"),
        "proposed": await said(
            client,
            "propose_edit",
            explanation="hotter",
            edits=[{"path": "Oven.md", "find": "four hours", "replace": "five hours"}],
        ),
        "proposals": await said(client, "list_proposals"),
        "remembered": await said(client, "store_in_memory", text="Slugs hate copper."),
        "recalled": await said(client, "retrieve_from_memory", query="copper"),
        "outside": await said(client, "read_document", path="../secret.md"),
        "absolute": await said(client, "read_document", path="/etc/passwd"),
        "edit outside": await said(
            client, "propose_edit", explanation="x", edits=[{"path": "../secret.md", "find": "", "replace": "y"}]
        ),
        "bad arguments": await said(client, "find_excerpts", words=5),
        "unknown": await said(client, "write_file", path="x"),
    }  # fmt: skip


def check_walk(found: dict[str, tuple[bool, str]]) -> None:
    errors = {name for name, (is_error, _) in found.items() if is_error}
    text = {name: text for name, (_, text) in found.items()}

    assert errors == {"outside", "absolute", "edit outside", "bad arguments", "unknown"}
    assert "Beer traps work best" in text["found"]
    assert text["read"] == NOTES["Garden/Slugs.md"]
    assert text["from line 3"].startswith("Beer traps")
    assert "Garden/Compost.md" in text["links"]
    assert text["back"] == "Garden/Slugs.md:3"
    assert "Garden/Compost.md" in text["related"]
    assert "is stored; it is not applied yet" in text["proposed"]
    assert text["proposals"].endswith("open: Oven.md")
    assert "copper" in text["recalled"]
    assert not any("xyzzy" in one or "root:" in one for one in text.values())


def test_a_client_over_standard_input_and_output(folder):
    async def run():
        async with Client(over_stdio(folder)) as client:
            listed = {tool.name: tool for tool in (await client.list_tools()).tools}
            return listed, await walk(client)

    listed, found = asyncio.run(run())

    assert set(listed) == READS | WRITES
    assert {name for name, tool in listed.items() if tool.annotations.read_only_hint} == READS
    check_walk(found)
    assert files(folder) == NOTES


def test_a_client_that_may_only_look(folder):
    async def run():
        async with Client(over_stdio(folder, "--read-only")) as client:
            listed = {tool.name for tool in (await client.list_tools()).tools}
            return listed, await said(client, "propose_edit", explanation="x", edits=[])

    assert asyncio.run(run()) == (READS, (True, "there is no tool 'propose_edit'"))


@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_a_client_over_http(folder, mode):
    import httpx2

    async def run(live):
        headers = {"authorization": f"Bearer {live.token}"}
        async with (
            httpx2.AsyncClient(headers=headers, trust_env=False) as http,
            Client(
                streamable_http_client(live.url + "/mcp", http_client=http), mode=mode
            ) as client,
        ):
            listed = {tool.name for tool in (await client.list_tools()).tools}
            return listed, await walk(client)

    with served(
        folder, {"embedder": "none", "base_url": "http://127.0.0.1:9/v1", "probe": False}
    ) as live:
        listed, found = asyncio.run(run(live))

    assert listed == READS | WRITES
    check_walk(found)
    assert files(folder) == NOTES
