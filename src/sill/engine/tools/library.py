"""Tools over a folder of notes: read, find, list, follow links. They never write and never leave the folder."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any

from ...core.graph import Edge
from ...core.rank import Hit, one_per
from ...core.references import Reference, quote_lines
from ...core.summaries import shortened
from ...core.tools import Tool, from_line
from ...ports import Caller, ToolOutcome, Vault
from ..prepare import READER
from .schemas import choice, integer, tool, words

EXCERPTS = 8  # of one search
DOCUMENTS = 20
_SUMMARY = 120  # characters of what a document is about

TOOLS = (
    tool(
        READER,
        "Read a document of the user's folder.",
        {"path": words("path or name"), "start_line": integer("where to begin")},
        required=("path",),
        is_core=True,
    ),
    tool(
        "find_excerpts",
        "Search the user's notes and code; gives passages with path and lines.",
        {"query": words("words to look for")},
        required=("query",),
        is_core=True,
    ),
    tool(
        "find_documents",
        "Search for whole documents; gives paths and summaries.",
        {"query": words("words to look for")},
        required=("query",),
    ),
    tool("list_documents", "List documents.", {"folder": words("only below this folder")}),
    tool(
        "resolve_wikilink",
        "Tell which document a [[link]] means.",
        {"link": words("text between the brackets")},
        required=("link",),
    ),
    tool("find_backlinks", "List links to a document.", {"path": words("path or name")}, ("path",)),
    tool(
        "find_forward_links",
        "List links in a document.",
        {"path": words("path or name")},
        ("path",),
    ),
)


class LibraryTools:
    """Tools over one vault, which is opened when a tool is first called and looked at anew in every turn."""

    def __init__(self, open_vault: Callable[[], Awaitable[Vault]]) -> None:
        self._open_vault = open_vault
        self._looked: str | None = None

    async def tools(self) -> Sequence[Tool]:
        return TOOLS

    async def call(self, name: str, arguments: Mapping[str, Any], caller: Caller) -> ToolOutcome:
        vault = await self._open_vault()
        if self._looked != caller.turn:
            await vault.refresh()
            self._looked = caller.turn
        match name:
            case "read_document":
                return await _read(vault, arguments["path"], arguments.get("start_line", 1))
            case "find_excerpts":
                return _excerpts(await vault.search(arguments["query"], EXCERPTS))
            case "find_documents":
                return await _documents(vault, arguments["query"])
            case "list_documents":
                return _listed(await vault.paths(), arguments.get("folder", ""))
            case "resolve_wikilink":
                return await _resolved(vault, arguments["link"])
            case "find_backlinks" | "find_forward_links":
                return await _links(vault, arguments["path"], back=name == "find_backlinks")
            case _:
                return ToolOutcome(f"there is no tool {name!r}", is_error=True)


async def path_of(vault: Vault, name: str) -> str | None:
    """The document somebody means by a path or a name; only what the vault shows can be meant."""
    wanted = choice(name)
    if wanted in await vault.paths():
        return wanted
    found = await vault.references(f"[[{wanted}]]") if wanted else ()
    return found[0].path if found else None


def _unknown(name: str) -> ToolOutcome:
    return ToolOutcome(f"there is no document {name!r}; find_documents searches", is_error=True)


async def _read(vault: Vault, name: str, line: int) -> ToolOutcome:
    path = await path_of(vault, name)
    text = await vault.read(path) if path is not None else None
    if path is None or text is None:
        return _unknown(name)
    rest = from_line(text, line)
    if rest is None:
        lines = text.count("\n") + 1
        return ToolOutcome(f"{path} has {lines} lines, no line {line}", is_error=True)
    last = text.count("\n") + 1
    reference = quote_lines("read", path, text, (line, last) if line > 1 else None)
    return ToolOutcome(rest or "(the document is empty)", (reference,), first_line=line)


def _excerpts(hits: Sequence[Hit]) -> ToolOutcome:
    if not hits:
        return ToolOutcome("nothing was found")
    shown = [f"{hit.path}:{hit.lines[0]}-{hit.lines[1]}\n{hit.text.strip()}" for hit in hits]
    return ToolOutcome("\n\n".join(shown), tuple(_found(hit) for hit in hits))


def _found(hit: Hit) -> Reference:
    first, last = hit.lines
    quoted = quote_lines("search", hit.path, hit.text, (1, last - first + 1))
    return Reference("search", hit.path, hit.lines, _state(hit), quoted.excerpt)


def _state(hit: Hit) -> Any:
    return hit.fingerprint or None


async def _documents(vault: Vault, query: str) -> ToolOutcome:
    hits = one_per(await vault.search(query, 4 * DOCUMENTS), lambda hit: hit.path)[:DOCUMENTS]
    if not hits:
        return ToolOutcome("nothing was found")
    lines = [f"{hit.path}: {shortened(await vault.summary(hit.path), _SUMMARY)}" for hit in hits]
    return ToolOutcome("\n".join(lines), tuple(_found(hit) for hit in hits))


def _listed(paths: Sequence[str], folder: str) -> ToolOutcome:
    below = choice(folder).rstrip("/")
    found = [path for path in paths if not below or path.startswith(f"{below}/")]
    if not found:
        return ToolOutcome(f"there are no documents below {folder!r}", is_error=True)
    return ToolOutcome("\n".join(found))


async def _resolved(vault: Vault, link: str) -> ToolOutcome:
    wanted = link.strip().removeprefix("[[").removesuffix("]]")
    found = await vault.references(f"[[{wanted}]]")
    if not found or found[0].path is None:
        return ToolOutcome(f"[[{wanted}]] leads nowhere", is_error=True)
    reference = found[0]
    lines = f", lines {reference.lines[0]} to {reference.lines[1]}" if reference.lines else ""
    return ToolOutcome(f"{reference.path}{lines}")


async def _links(vault: Vault, name: str, *, back: bool) -> ToolOutcome:
    path = await path_of(vault, name)
    if path is None:
        return _unknown(name)
    links = await vault.links(path)
    edges = links.backward if back else links.forward
    lines = dict.fromkeys(_line(edge, back=back) for edge in edges)
    return ToolOutcome("\n".join(lines) or "there are none")


def _line(edge: Edge, *, back: bool) -> str:
    if back:
        return f"{edge.source}:{edge.link.line}"
    return f"line {edge.link.line}: {edge.link.written} -> {edge.target or 'nowhere'}"
