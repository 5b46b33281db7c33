"""Two people, every route, every id: nothing of one is seen, changed or even known to exist by the other."""

import asyncio
import json
import re

from sill.app.mcp import guest_of
from sill.web.app import create_app
from sill.web.watch import SPEAKS
from tests.engine.workspace import says
from tests.models.fault_provider import FaultProvider

from .shared import Shared, run, shared

CANARY = "ultramarine"
PEOPLE = {"ann": "contributor", "bob": "contributor", "vic": "viewer", "adm": "admin"}
FLAGS = {
    "probe": False,
    "tokenizer": "o200k_base",
    "model": "first",
    "window": 8192,
    "embedder": "none",
}
FILES = {"virtual_files": {"a.md": "one two"}, "active_file": "a.md"}
HASH = "sha256:" + "0" * 64

# What is sent to each route that takes something. Ids of Ann's stand where an id can.
BODIES = {
    "POST /v1/chat/completions": {"messages": [{"role": "user", "content": "hello"}]},
    "POST /v1/embeddings": {"input": "hello"},
    "POST /tokenize": {"content": "hello"},
    "POST /api/v1/chats": {"title": "mine"},
    "PATCH /api/v1/chats/{chat}": {"title": "stolen"},
    "DELETE /api/v1/chats/{chat}": None,
    "POST /api/v1/chats/{chat}/branch": {"turn": "{turn}"},
    "POST /api/v1/chats/{chat}/fork": {"turn": "{turn}"},
    "POST /api/v1/chats/{chat}/pins": {"turn": "{turn}"},
    "POST /api/v1/chats/{chat}/unpin": {"turn": "{turn}"},
    "POST /api/v1/turns": {"text": "go on", "chat": "{chat}"},
    "POST /api/v1/turns/{turn}/regenerate": None,
    "POST /api/v1/turns/{turn}/edit": {"text": "instead"},
    "POST /api/v1/turns/{turn}/stop": None,
    "POST /api/v1/plan": {"text": "go on", "chat": "{chat}"},
    "PUT /api/v1/files/{path}": {"text": "new", "base_fingerprint": HASH},
    "POST /api/v1/references/freshness": {"references": []},
    "POST /api/v1/proposals": {"instruction": "change", "files": ["a.md"], "chat": "{chat}"},
    "POST /api/v1/proposals/{proposal}/apply": {"base_hash": HASH, "patch_id": HASH},
    "POST /api/v1/proposals/{proposal}/refuse": None,
    "POST /api/v1/proposals/{proposal}/merge": {"state": HASH},
    "POST /api/v1/proposals/{proposal}/merge/apply": {"state": HASH, "base_hash": HASH, "patch_id": HASH},
    "POST /api/v1/edits/undo": {"id": "{proposal}"},
    "POST /api/v1/edits/redo": {"id": "{proposal}"},
    "POST /api/v1/edits/{edit}/{way}/merge": {"state": HASH},
    "POST /api/v1/edits/{edit}/{way}/merge/apply": {"state": HASH, "base_hash": HASH, "patch_id": HASH},
    "POST /api/v1/editor/tools/{tool_id}/chat": {"message": "hello"},
    "DELETE /api/v1/editor/tools/{tool_id}/chat": None,
    "POST /api/v1/editor/edit-ops": {**FILES, "tool_id": "{tool_id}", "message": "change"},
    "POST /api/v1/editor/edit-ops/preview": {**FILES, "tool_id": "{tool_id}", "ops": []},
    "POST /api/v1/editor/edit-ops/apply": {**FILES, "tool_id": "{tool_id}", "ops": [], "base_hash": HASH, "patch_id": HASH},
    "POST /api/v1/editor/edit-ops/undo": {"tool_id": "{tool_id}", "undo_id": "{proposal}", "virtual_files": {}},
    "POST /api/v1/editor/completions": {"prefix": "a"},
    "POST /api/v1/editor/edits": {"instruction": "x", "selection": "y"},
    "POST /api/v1/memory": {"text": "mine"},
    "PATCH /api/v1/memory/{note}": {"text": "stolen"},
    "DELETE /api/v1/memory/{note}": None,
    "POST /api/v1/logout": None,
}  # fmt: skip
QUERIES = {"/api/v1/search/chats": {"q": CANARY}, "/api/v1/search": {"q": CANARY}, "/api/v1/complete": {"q": CANARY, "kind": "file"}}  # fmt: skip
OWNED = ("{chat}", "{turn}", "{proposal}", "{note}")


def routes(place: Shared) -> list[tuple[str, str]]:
    paths = create_app(place.service).openapi()["paths"]
    return [(method.upper(), path) for path, methods in paths.items() for method in methods]


def filled(value: object, ids: dict[str, str]) -> object:
    text = json.dumps(value)
    return json.loads(re.sub(r"\{(\w+)\}", lambda found: ids.get(found[1], found[0]), text))


async def live_a_little(place: Shared) -> dict[str, str]:
    """Ann has one of everything, with a word in it that nobody else knows."""
    async with place.client("ann") as ann:
        started = (
            await ann.post("/api/v1/turns", json={"text": f"Tell me of {CANARY} paint"})
        ).json()
        async with asyncio.timeout(60):
            await ann.get(f"/api/v1/turns/{started['turn']}/events")
        await ann.patch(f"/api/v1/chats/{started['chat']}", json={"title": f"{CANARY} chat"})
        note = (await ann.post("/api/v1/memory", json={"text": f"{CANARY} is blue"})).json()
        body = {"message": f"A {CANARY} tool"}
        await ann.post("/api/v1/editor/tools/pad/chat", json=body)
    desk = place.service.desk(place.users["ann"].id)

    async def vault():
        return place.service.vault

    guest = guest_of(desk.store, desk.folder, vault, 1_000_000)
    edit = {"path": "a.md", "find": "one", "replace": CANARY}
    outcome = await guest.call("propose_edit", {"explanation": CANARY, "edits": [edit]})
    proposal = outcome.text.split()[1]
    return {
        "chat": started["chat"],
        "turn": started["turn"],
        "note": note["id"],
        "proposal": proposal,
        "tool_id": "pad",
        "path": "a.md",
        "model": "sill",
        "edit": proposal,
        "way": "undo",
    }


async def everything_of(place: Shared, ids: dict[str, str]) -> list[object]:
    """What Ann sees of what is hers."""
    async with place.client("ann") as ann:
        paths = [
            f"/api/v1/chats/{ids['chat']}",
            f"/api/v1/chats/{ids['chat']}/turns",
            f"/api/v1/turns/{ids['turn']}",
            f"/api/v1/proposals/{ids['proposal']}",
            "/api/v1/memory",
            "/api/v1/chats",
            "/api/v1/editor/tools/pad/chat",
        ]
        answers = [await ann.get(path) for path in paths]
        assert all(answer.status_code == 200 for answer in answers), [a.text for a in answers]
        return [answer.json() for answer in answers]


async def attack(place: Shared, name: str, ids: dict[str, str]) -> tuple[list[str], list[str]]:
    """Every route with Ann's ids, as somebody else: where her word came out, and where her ids were good."""
    leaks, accepted = [], []
    async with place.client(name) as client:
        for method, path in routes(place):
            key = f"{method} {path}"
            assert method == "GET" or key in BODIES, f"say in BODIES what {key} is sent"
            if key == "POST /api/v1/logout":
                continue
            url = re.sub(r"\{(\w+)\}", lambda found: ids[found[1]], path)
            body = filled(BODIES.get(key), ids)
            answer = await client.request(
                method, url, json=body, params=QUERIES.get(path), timeout=120
            ) if body is not None else await client.request(method, url, params=QUERIES.get(path))  # fmt: skip
            if CANARY in answer.text.replace(json.dumps(CANARY), "") and path not in QUERIES:
                leaks.append(key)
            if path in QUERIES and f"{CANARY} " in answer.text:
                leaks.append(key)
            takes_owned = any(one in path or one in json.dumps(BODIES.get(key)) for one in OWNED)
            refused = answer.status_code in (403, 404, 409) or '"outcome":"nothing"' in answer.text
            if takes_owned and "{tool_id}" not in path and not refused:
                accepted.append(f"{key} {answer.status_code}")
    return leaks, accepted


def test_nobody_reaches_anything_of_somebody_else(tmp_path):
    (tmp_path / "vault").mkdir()
    (tmp_path / "vault" / "a.md").write_text("one two")

    async def check(provider):
        flags = {**FLAGS, "base_url": provider.url + "/v1", "profile.chat.tools": "false"}
        async with shared(tmp_path, PEOPLE, flags) as place:
            ids = await live_a_little(place)
            before = await everything_of(place, ids)
            found = {name: await attack(place, name, ids) for name in ("bob", "vic", "adm")}
            return found, before, await everything_of(place, ids)

    with FaultProvider(says("Nothing to say.")) as provider:
        found, before, after = run(check(provider))

    assert found == {name: ([], []) for name in ("bob", "vic", "adm")}
    assert after == before
    assert (tmp_path / "vault" / "a.md").read_text() == "one two"


def test_the_eye_of_this_test_sees_what_there_is_to_see(tmp_path):
    (tmp_path / "vault").mkdir()
    (tmp_path / "vault" / "a.md").write_text("one two")

    async def check(provider):
        flags = {**FLAGS, "base_url": provider.url + "/v1", "profile.chat.tools": "false"}
        async with shared(tmp_path, PEOPLE, flags) as place:
            return await attack(place, "ann", await live_a_little(place))

    with FaultProvider(says("Nothing to say.")) as provider:
        leaks, accepted = run(check(provider))

    assert {"GET /api/v1/chats/{chat}", "GET /api/v1/memory"} <= set(leaks)
    assert "PATCH /api/v1/chats/{chat} 200" in accepted


SILENT = {
    "POST /tokenize", "POST /api/v1/chats", "POST /api/v1/chats/{chat}/branch", "POST /api/v1/chats/{chat}/fork",
    "POST /api/v1/chats/{chat}/pins", "POST /api/v1/chats/{chat}/unpin",
    "POST /api/v1/turns/{turn}/stop", "POST /api/v1/plan", "POST /api/v1/references/freshness",
    "POST /api/v1/proposals/{proposal}/apply", "POST /api/v1/proposals/{proposal}/refuse", "POST /api/v1/edits/undo",
    "POST /api/v1/proposals/{proposal}/merge", "POST /api/v1/proposals/{proposal}/merge/apply",
    "POST /api/v1/edits/{edit}/{way}/merge", "POST /api/v1/edits/{edit}/{way}/merge/apply",
    "POST /api/v1/edits/redo", "POST /api/v1/editor/edit-ops/preview", "POST /api/v1/editor/edit-ops/apply",
    "POST /api/v1/editor/edit-ops/undo", "POST /api/v1/memory", "POST /api/v1/logout",
}  # fmt: skip


def test_every_route_that_makes_a_model_speak_is_counted(tmp_path):
    async def check():
        async with shared(tmp_path, {}, FLAGS) as place:
            return routes(place)

    posts = {f"{method} {path}" for method, path in run(check()) if method == "POST"}
    counted = {key for key in posts if SPEAKS.fullmatch(re.sub(r"\{\w+\}", "x", key.split()[1]))}

    assert posts - counted == SILENT
