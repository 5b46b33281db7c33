"""Notes among each other: links and backlinks, search, the graph, completion of names."""

import heapq
from typing import Annotated, Literal

from fastapi import APIRouter, Query

from ..app.service import Desk, Service
from ..core.graph import Edge
from ..core.outline import outline
from ..core.rank import Hit
from ..core.references import Reference as CoreReference
from ..core.references import carried, most_used, paths_in
from ..core.resolve import Files, key, link_target, name_key
from ..ports import SearchMode
from .answers import Rejected, not_found
from .depend import TheDesk, TheService
from .schemas.files import (
    BadLink,
    Graph,
    GraphEdge,
    Heading,
    LinkCheck,
    Links,
    Node,
    NoteLink,
    Passage,
    Passages,
    Suggestion,
    Suggestions,
    UsedDocument,
    UsedDocuments,
)

router = APIRouter(prefix="/api/v1", tags=["notes"])
MOST_NODES = 2_000


@router.get("/links")
async def check_links(service: TheService) -> LinkCheck:
    """Every link of the folder that leads nowhere, or to a heading that is not there."""
    found = await service.vault.check_links()
    return LinkCheck(
        total=found.total,
        resolved=found.resolved,
        broken=[BadLink(path=one.file, line=one.line, written=one.link) for one in found.broken],
        places=[BadLink(path=one.file, line=one.line, written=one.link) for one in found.places],
    )


@router.get("/links/{path:path}")
async def links(service: TheService, path: str) -> Links:
    """Where a note leads, what leads to it, and its headings."""
    text = await _note(service, path)
    found = await service.vault.links(path)
    return Links(
        path=path,
        links=[_link(edge, edge.target) for edge in found.forward],
        backlinks=[_link(edge, edge.source) for edge in found.backward],
        outline=[
            Heading(level=one.level, text=one.text, lines=one.lines)
            for one in outline(text).headings
        ],
        summary=await service.vault.summary(path),
    )


def _link(edge: Edge, path: str | None) -> NoteLink:
    return NoteLink(
        path=path, line=edge.link.line, written=edge.link.written, embed=edge.link.embed
    )


@router.get("/related/{path:path}")
async def related(
    service: TheService, path: str, limit: Annotated[int, Query(ge=1, le=50)] = 10
) -> Passages:
    """Notes near this one by links, words and meaning: one passage of each."""
    await _note(service, path)
    return Passages(results=[passage(one) for one in await service.vault.related(path, limit)])


@router.get("/search")
async def search(
    service: TheService,
    q: Annotated[str, Query(min_length=1, max_length=2000)],
    mode: SearchMode = "hybrid",
    limit: Annotated[int, Query(ge=1, le=100)] = 20,
) -> Passages:
    """Passages that bear on a question, best first, each with the signals that wanted it."""
    if mode == "semantic" and service.vault.embedder is None:
        raise Rejected(422, "invalid", "there is no embedder to search by meaning with")
    return Passages(results=[passage(one) for one in await service.vault.search(q, limit, mode)])


def passage(hit: Hit) -> Passage:
    return Passage(
        path=hit.path,
        lines=hit.lines,
        text=hit.text,
        headings=list(hit.headings),
        score=hit.score,
        signals={str(signal): place for signal, place in hit.places.items()},
    )


@router.get("/graph")
async def graph(
    service: TheService, limit: Annotated[int, Query(ge=1, le=MOST_NODES)] = 300
) -> Graph:
    """The best linked notes, and the links among them."""
    return drawn(await service.vault.edges(), await service.vault.paths(), limit)


def drawn(edges: list[Edge], paths: list[str], limit: int) -> Graph:
    """At most ``limit`` nodes, those with most links; each pair of notes once."""
    pairs = dict.fromkeys(
        (edge.source, edge.target)
        for edge in edges
        if edge.target is not None and edge.target != edge.source
    )
    out: dict[str, int] = {}
    back: dict[str, int] = {}
    for source, target in pairs:
        out[source] = out.get(source, 0) + 1
        back[target] = back.get(target, 0) + 1

    def rank(path: str) -> tuple[int, str]:
        return -out.get(path, 0) - back.get(path, 0), path

    shown = heapq.nsmallest(limit, paths, key=rank)
    numbers = {path: number for number, path in enumerate(shown)}
    return Graph(
        nodes=[
            Node(path=path, links=out.get(path, 0), backlinks=back.get(path, 0)) for path in shown
        ],
        edges=[
            GraphEdge(source=numbers[source], target=numbers[target])
            for source, target in pairs
            if source in numbers and target in numbers
        ],
        left_out=len(paths) - len(shown),
    )


# --- Completing what is typed ---------------------------------------------------------------------


@router.get("/complete")
async def complete(
    service: TheService,
    kind: Literal["note", "file", "heading"] = "note",
    q: Annotated[str, Query(max_length=400)] = "",
    path: Annotated[str, Query(max_length=1024)] = "",
    limit: Annotated[int, Query(ge=1, le=100)] = 20,
) -> Suggestions:
    """What ``[[`` (note), ``@`` (file) and ``[[note#`` (heading of ``path``) can become."""
    if kind == "heading":
        return Suggestions(items=await _headings(service, path, q, limit))
    paths = await service.vault.paths()
    named = [one for one in paths if kind == "file" or one.lower().endswith(".md")]
    found = best_names(named, q, limit)
    if kind == "file":
        return Suggestions(items=[Suggestion(insert=one, label=one, path=one) for one in found])
    namesakes = {name_key(one) for one in found}
    files = Files(one for one in paths if name_key(one) in namesakes)
    return Suggestions(
        items=[
            Suggestion(insert=target, label=stem(one), detail=one, path=one)
            for one in found
            if (target := link_target(one, files)) is not None
        ]
    )


def best_names(paths: list[str], typed: str, limit: int) -> list[str]:
    """Names that begin with what was typed, then those that hold it, then those that hold its letters in order."""
    wanted = key(typed)

    def rank(path: str) -> tuple[int, int, str] | None:
        name, whole = key(stem(path)), key(path)
        if name.startswith(wanted):
            return 0, len(name), path
        if any(word.startswith(wanted) for word in name.split()):
            return 1, len(name), path
        if wanted in whole:
            return 2, len(whole), path
        letters = iter(whole)
        if all(letter in letters for letter in wanted if letter != " "):
            return 3, len(whole), path
        return None

    ranked = [(place, path) for path in paths if (place := rank(path)) is not None]
    return [path for _, path in heapq.nsmallest(limit, ranked)]


def stem(path: str) -> str:
    name = path.rsplit("/", 1)[-1]
    return name.removesuffix(".md")


async def _headings(service: Service, path: str, typed: str, limit: int) -> list[Suggestion]:
    sections = outline(await _note(service, path))
    if typed.startswith("^"):
        wanted = typed[1:].lower()
        blocks = [(id, at) for id, at in sections.blocks.items() if wanted in id.lower()]
        return [
            Suggestion(insert=f"^{id}", label=f"^{id}", detail=f"line {at[0]}", path=path)
            for id, at in blocks[:limit]
        ]
    wanted = key(typed)
    found = [one for one in sections.headings if wanted in key(one.text)]
    return [
        Suggestion(insert=one.text, label=one.text, detail=f"line {one.lines[0]}", path=path)
        for one in found[:limit]
    ]


async def _note(service: Service, path: str) -> str:
    if "\0" in path or any(part.startswith(".") or not part for part in path.split("/")):
        raise not_found("note")
    text = await service.vault.read(path)
    if text is None:
        raise not_found("note")
    return text


# --- What chats used ------------------------------------------------------------------------------


@router.get("/references")
async def references(
    desk: TheDesk, limit: Annotated[int, Query(ge=1, le=500)] = 50
) -> UsedDocuments:
    """The documents that the folder's chats used most."""
    uses = await _uses(desk)
    return UsedDocuments(
        documents=[
            UsedDocument(path=path, references=count, chats=list(chats))
            for path, count, chats in most_used(uses)[:limit]
        ]
    )


async def _uses(desk: Desk) -> list[tuple[str, CoreReference]]:
    uses: list[tuple[str, CoreReference]] = []
    for chat in await desk.store.chats(desk.workspace):
        for turn in await desk.store.turns(chat.id):
            shown = [one.path for one in carried(turn.messages)]
            for path in dict.fromkeys([*shown, *paths_in(turn.references)]):
                if path is not None:
                    uses.append((chat.id, CoreReference("file", path)))
    return uses
