"""The page's API over files, notes, chats, proposals and money."""

import asyncio
import json

import pytest

from sill.core.messages import fingerprint
from sill.web.files import with_endings_of
from sill.web.notes import best_names, drawn
from tests.engine.workspace import says
from tests.models.fault_provider import Hang, head, said
from tests.web.serving import NOTES, serving


async def refreshed(served):
    """The index as it is when it has been read."""
    await served.service.vault.refresh()


# --- Files ----------------------------------------------------------------------------------------


def test_files_are_listed_page_by_page(tmp_path):
    async def check():
        async with serving(tmp_path) as served:
            (served.folder / ".hidden.md").write_text("x")
            first = (await served.http.get("/api/v1/files?limit=2")).json()
            second = (await served.http.get(f"/api/v1/files?after={first['next']}")).json()

            assert [file["path"] for file in first["files"]] == ["Recipes.md", "Shopping.md"]
            assert [file["path"] for file in second["files"]] == ["code/run.py"]
            assert (first["total"], first["next"], second["next"]) == (3, "Shopping.md", None)

    asyncio.run(check())


READABLE = {
    "Shopping.md": 200,
    "code/run.py": 200,
    "What is this%3F.md": 200,  # a name that not every file system takes
    "Nowhere.md": 404,
    "../user.toml": 404,
    "code/../../user.toml": 404,
    "%2e%2e/user.toml": 404,
    "/etc/passwd": 404,
    "link.md": 404,  # leads outside
    "loop/Shopping.md": 404,  # a folder that is a link
    ".hidden.md": 404,
    "code": 404,
    "a%00b": 404,
    "picture.png": 422,
}


@pytest.mark.parametrize("route", ["/api/v1/files/", "/api/v1/raw/"])
def test_only_files_of_the_folder_can_be_read(tmp_path, route):
    async def check():
        async with serving(tmp_path) as served:
            (served.folder / "link.md").symlink_to(tmp_path / "user.toml")
            (served.folder / "loop").symlink_to(served.folder)
            (served.folder / ".hidden.md").write_text("x")
            (served.folder / "What is this?.md").write_text("x")
            (served.folder / "picture.png").write_bytes(b"\x89PNG\0\0")
            return {path: (await served.http.get(route + path)).status_code for path in READABLE}

    is_raw = route.endswith("raw/")
    expected = {
        path: 200 if is_raw and status == 422 else status for path, status in READABLE.items()
    }

    assert asyncio.run(check()) == expected


def test_a_file_comes_with_its_fingerprint_and_a_picture_in_a_sandbox(tmp_path):
    async def check():
        async with serving(tmp_path) as served:
            (served.folder / "a.png").write_bytes(b"\x89PNG")
            (served.folder / "a.svg").write_text("<svg onload='alert(1)'/>")
            note = (await served.http.get("/api/v1/files/Shopping.md")).json()
            picture = await served.http.get("/api/v1/raw/a.png")
            drawing = await served.http.get("/api/v1/raw/a.svg")

            text = NOTES["Shopping.md"]
            assert note == {
                "path": "Shopping.md",
                "text": text,
                "fingerprint": fingerprint(text),
                "language": "markdown",
                "size": len(text),
                "read_only": False,
            }
            assert (picture.headers["content-type"], "content-disposition" in picture.headers) == (
                "image/png",
                False,
            )
            assert picture.headers["content-security-policy"] == "sandbox; default-src 'none'"
            assert drawing.headers["content-type"] == "application/octet-stream"
            assert drawing.headers["content-disposition"] == "attachment"

    asyncio.run(check())


def test_saving_is_an_edit_that_can_be_undone(tmp_path):
    async def check():
        async with serving(tmp_path) as served:
            base = fingerprint(NOTES["Shopping.md"])
            saved = await served.http.put(
                "/api/v1/files/Shopping.md", json={"text": "eggs\n", "base_fingerprint": base}
            )
            written = (served.folder / "Shopping.md").read_text()
            edits = (await served.http.get("/api/v1/edits")).json()["edits"]
            undone = (await served.http.post("/api/v1/edits/undo", json={"id": None})).json()
            back = (served.folder / "Shopping.md").read_text()
            again = (
                await served.http.post("/api/v1/edits/redo", json={"id": saved.json()["edit"]})
            ).json()
            nothing = (await served.http.post("/api/v1/edits/redo", json={"id": None})).json()

            assert (saved.status_code, saved.json()["fingerprint"]) == (200, fingerprint("eggs\n"))
            assert (written, back) == ("eggs\n", NOTES["Shopping.md"])
            assert [(e["id"], e["explanation"], e["is_applied"]) for e in edits] == [
                (saved.json()["edit"], "Saved Shopping.md", True)
            ]
            assert (undone["outcome"], again["outcome"], nothing["outcome"]) == (
                "applied",
                "applied",
                "nothing",
            )
            assert (served.folder / "Shopping.md").read_text() == "eggs\n"

    asyncio.run(check())


def test_a_file_that_changed_meanwhile_is_never_overwritten(tmp_path):
    async def check():
        async with serving(tmp_path) as served:
            body = {"text": "eggs\n", "base_fingerprint": fingerprint("an older state")}
            conflict = await served.http.put("/api/v1/files/Shopping.md", json=body)
            taken = await served.http.put(
                "/api/v1/files/Shopping.md", json={"text": "eggs\n", "base_fingerprint": None}
            )
            gone = await served.http.put("/api/v1/files/Gone.md", json=body)
            made = await served.http.put(
                "/api/v1/files/new/Note.md", json={"text": "new\n", "base_fingerprint": None}
            )

            assert conflict.status_code == taken.status_code == gone.status_code == 409
            assert conflict.json()["text"] == NOTES["Shopping.md"]
            assert conflict.json()["fingerprint"] == fingerprint(NOTES["Shopping.md"])
            assert gone.json()["fingerprint"] is None
            assert (served.folder / "Shopping.md").read_text() == NOTES["Shopping.md"]
            assert made.status_code == 201
            assert (served.folder / "new" / "Note.md").read_text() == "new\n"

    asyncio.run(check())


def test_names_that_may_not_be_written_are_refused(tmp_path):
    names = [
        ".git/config",
        "sill.toml",
        ".hidden",
        "%2e%2e/out.md",
        "a:b.md",
        "con.md",
        "a%00b.md",
        "x/",
    ]

    async def check():
        async with serving(tmp_path) as served:
            body = {"text": "canary", "base_fingerprint": None}
            answers = [await served.http.put(f"/api/v1/files/{name}", json=body) for name in names]
            return [answer.status_code for answer in answers]

    statuses = asyncio.run(check())
    files = [path for path in tmp_path.rglob("*") if path.is_file()]

    assert set(statuses) <= {404, 422}
    assert [path for path in files if path.read_bytes() == b"canary"] == []


@pytest.mark.parametrize(
    "before, after, expected",
    [
        pytest.param("a\r\nb\r\n", "a\nc\n", "a\r\nc\r\n", id="a file of the other kind keeps it"),
        pytest.param("a\nb\n", "a\nc\n", "a\nc\n", id="the usual kind"),
        pytest.param("a\r\nb\n", "a\nc\n", "a\nc\n", id="mixed: as it was sent"),
        pytest.param("a\r\n", "a\r\nc\r\n", "a\r\nc\r\n", id="sent with its own ends"),
    ],
)
def test_line_ends_are_kept(before, after, expected):
    assert with_endings_of(before, after) == expected


# --- Notes ----------------------------------------------------------------------------------------


def test_a_completed_link_means_the_note_that_was_chosen(tmp_path):
    paths = ["one/Plan.md", "two/plan.md", "C#.md", "Café.md"]

    async def check():
        async with serving(tmp_path) as served:
            for path in paths:
                (served.folder / path).parent.mkdir(exist_ok=True)
                (served.folder / path).write_text("# Here\n")
            await refreshed(served)
            items = [
                item
                for typed in ("plan", "C#", "caf")
                for item in (
                    await served.http.get("/api/v1/complete", params={"kind": "note", "q": typed})
                ).json()["items"]
            ]

            assert [(item["insert"], item["path"]) for item in items] == [
                ("one/Plan", "one/Plan.md"),
                ("two/plan", "two/plan.md"),
                ("Café", "Café.md"),
            ]

    asyncio.run(check())


def test_links_search_graph_and_completion(tmp_path):
    async def check():
        async with serving(tmp_path) as served:
            await refreshed(served)
            links = (await served.http.get("/api/v1/links/Shopping.md")).json()
            every = (await served.http.get("/api/v1/links")).json()
            found = (await served.http.get("/api/v1/search", params={"q": "leeks"})).json()[
                "results"
            ]
            graph = (await served.http.get("/api/v1/graph")).json()
            names = (await served.http.get("/api/v1/complete?kind=note&q=rec")).json()["items"]
            headings = (
                await served.http.get("/api/v1/complete?kind=heading&path=Recipes.md&q=so")
            ).json()["items"]
            related = (await served.http.get("/api/v1/related/Shopping.md")).json()["results"]
            semantic = await served.http.get("/api/v1/search?q=leeks&mode=semantic")

            assert [(link["path"], link["written"]) for link in links["links"]] == [
                ("Recipes.md", "[[Recipes]]")
            ]
            assert [link["path"] for link in links["backlinks"]] == ["Recipes.md"]
            assert [heading["text"] for heading in links["outline"]] == ["Shopping"]
            assert (every["total"], every["resolved"], every["broken"]) == (2, 2, [])
            assert found[0]["path"] == "Recipes.md"
            assert graph["left_out"] == 0
            assert sorted((e["source"], e["target"]) for e in graph["edges"]) == [(0, 1), (1, 0)]
            assert [(item["insert"], item["path"]) for item in names] == [("Recipes", "Recipes.md")]
            assert [item["insert"] for item in headings] == ["Soup"]
            assert related[0]["path"] == "Recipes.md"
            assert semantic.status_code == 422

    asyncio.run(check())


@pytest.mark.parametrize(
    "typed, expected",
    [
        pytest.param("so", ["Soup.md", "a/Soap.md", "b/My Soup.md", "Reason.md"], id="best first"),
        pytest.param("soup", ["Soup.md", "b/My Soup.md"], id="shorter names first"),
        pytest.param("sp", ["Soup.md", "a/Soap.md", "b/My Soup.md"], id="letters in order"),
        pytest.param("xyz", [], id="nothing"),
    ],
)
def test_names_are_completed(typed, expected):
    assert best_names(["b/My Soup.md", "Soup.md", "Reason.md", "a/Soap.md"], typed, 10) == expected


def test_a_graph_keeps_the_best_linked_notes():
    assert drawn([], ["a.md", "b.md", "c.md"], 2).model_dump() == {
        "nodes": [
            {"path": "a.md", "links": 0, "backlinks": 0},
            {"path": "b.md", "links": 0, "backlinks": 0},
        ],
        "edges": [],
        "left_out": 1,
    }


# --- Chats ----------------------------------------------------------------------------------------


def test_chats_are_named_pinned_found_exported_and_deleted(tmp_path):
    async def check():
        async with serving(tmp_path, says("leeks and potatoes")) as served:
            http = served.http
            asked, _ = await served.said("what is in the soup? [[Recipes]]")
            chat = f"/api/v1/chats/{asked['chat']}"
            changed = (await http.patch(chat, json={"title": "Soup", "pinned": True})).json()
            found = (await http.get("/api/v1/search/chats?q=potatoes")).json()["results"]
            markdown = await http.get(f"{chat}/export")
            exported = await http.get(f"{chat}/export?format=json")
            used = (await http.get("/api/v1/references")).json()["documents"]
            archived = await http.patch(chat, json={"archived": True})
            listed = (await http.get("/api/v1/chats")).json()["chats"]
            hidden = (await http.get("/api/v1/chats?archived=true")).json()["chats"]
            deleted = await http.delete(chat)
            after = await http.get(chat)

            assert (changed["title"], changed["pinned"], changed["turns"]) == ("Soup", True, 1)
            assert [(f["chat"], f["turn"]) for f in found] == [(asked["chat"], asked["turn"])]
            assert "leeks and potatoes" in markdown.text
            assert markdown.headers["content-disposition"].endswith("Soup.md")
            assert json.loads(exported.text)["format"] == "sill-chat"
            assert [(d["path"], d["chats"]) for d in used] == [("Recipes.md", [asked["chat"]])]
            assert (archived.status_code, listed, len(hidden)) == (200, [], 1)
            assert (deleted.status_code, after.status_code) == (200, 404)

    asyncio.run(check())


def test_turns_and_files_are_pinned_and_let_go(tmp_path):
    async def check():
        async with serving(tmp_path) as served:
            asked, _ = await served.said("hi")
            chat = f"/api/v1/chats/{asked['chat']}"
            await served.http.post(f"{chat}/pins", json={"turn": asked["turn"]})
            both = (await served.http.post(f"{chat}/pins", json={"path": "Shopping.md"})).json()
            one = (await served.http.post(f"{chat}/unpin", json={"turn": asked["turn"]})).json()
            foreign = await served.http.post(f"{chat}/pins", json={"turn": "x"})
            neither = await served.http.post(f"{chat}/pins", json={})

            turn, file = (
                {"turn": asked["turn"], "path": None},
                {"turn": None, "path": "Shopping.md"},
            )
            assert (both, one) == ({"pins": [turn, file]}, {"pins": [file]})
            assert (foreign.status_code, neither.status_code) == (404, 422)

    asyncio.run(check())


MISSING = [
    ("GET", "/api/v1/chats/x"),
    ("GET", "/api/v1/chats/x/turns"),
    ("GET", "/api/v1/chats/x/context"),
    ("GET", "/api/v1/chats/x/export"),
    ("GET", "/api/v1/chats/x/proposals"),
    ("PATCH", "/api/v1/chats/x"),
    ("DELETE", "/api/v1/chats/x"),
    ("POST", "/api/v1/chats/x/branch"),
    ("GET", "/api/v1/turns/x"),
    ("GET", "/api/v1/turns/x/events"),
    ("GET", "/api/v1/turns/x/request"),
    ("POST", "/api/v1/turns/x/stop"),
    ("POST", "/api/v1/turns/x/regenerate"),
    ("GET", "/api/v1/proposals/x"),
    ("POST", "/api/v1/proposals/x/refuse"),
    ("DELETE", "/api/v1/memory/x"),
    ("GET", "/api/v1/links/x.md"),
    ("GET", "/api/v1/nothing"),
]


def test_what_is_not_there_is_not_found(tmp_path):
    async def check():
        async with serving(tmp_path) as served:
            answers = [
                await served.http.request(method, path, json={} if method != "GET" else None)
                for method, path in MISSING
            ]
            found = zip(MISSING, answers, strict=True)
            return {asked: (answer.status_code, answer.json()["code"]) for asked, answer in found}

    assert asyncio.run(check()) == dict.fromkeys(MISSING, (404, "not_found"))


# --- Edits ----------------------------------------------------------------------------------------

CHANGE = json.dumps(
    {
        "assistant_message": "Oat milk it is.",
        "ops": [
            {
                "op": "replace",
                "target_file": "Shopping.md",
                "target": "anchor",
                "anchor": "milk",
                "content": "oat milk",
            }
        ],
    }
)
OPS = '[profile.chat_ops]\nformat = "json"\n'


async def proposed(served):
    body = {"instruction": "oat milk", "files": ["Shopping.md"]}
    answer = (await served.http.post("/api/v1/proposals", json=body)).json()
    assert answer["outcome"] == "proposed", answer
    return answer


def test_a_proposal_that_a_shutdown_cuts_is_told_and_stored_as_interrupted(tmp_path):
    async def check():
        async with serving(tmp_path, [head(), said("{"), Hang()], toml=OPS) as served:
            body = {"instruction": "oat milk", "files": ["Shopping.md"]}
            asking = asyncio.create_task(served.http.post("/api/v1/proposals", json=body))
            await asyncio.to_thread(served.provider.asked.wait, 60)
            served.site.stop()
            answer = (await asking).json()
        async with serving(tmp_path) as served:
            turn = (await served.http.get(f"/api/v1/turns/{answer['turn']}")).json()

        assert (answer["outcome"], answer["proposal"]) == ("interrupted", None)
        assert (turn["status"], turn["question"]) == ("interrupted", "oat milk")

    asyncio.run(check())


def test_a_proposal_is_shown_applied_and_undone(tmp_path):
    async def check():
        async with serving(tmp_path, says(CHANGE), toml=OPS) as served:
            made = await proposed(served)
            path = f"/api/v1/proposals/{made['proposal']}"
            detail = (await served.http.get(path)).json()
            untouched = (served.folder / "Shopping.md").read_text()
            wrong = await served.http.post(
                f"{path}/apply", json={"base_hash": "x", "patch_id": made["shown"]["patch_id"]}
            )
            approval = {key: made["shown"][key] for key in ("base_hash", "patch_id")}
            applied = (await served.http.post(f"{path}/apply", json=approval)).json()
            twice = await served.http.post(f"{path}/apply", json=approval)
            text = (served.folder / "Shopping.md").read_text()
            listed = (await served.http.get(f"/api/v1/chats/{made['chat']}/proposals")).json()
            undone = (
                await served.http.post("/api/v1/edits/undo", json={"id": applied["id"]})
            ).json()
            after = (await served.http.get(path)).json()

            assert detail["is_current"] is True
            assert detail["shown"]["files"][0]["before"] == NOTES["Shopping.md"] == untouched
            assert detail["shown"]["files"][0]["hunks"][0]["lines"] == [
                " # Shopping",
                " ",
                "-milk and bread, see [[Recipes]]",
                "+oat milk and bread, see [[Recipes]]",
            ]
            assert (wrong.status_code, twice.status_code) == (409, 409)
            assert (applied["outcome"], applied["files"]) == ("applied", ["Shopping.md"])
            assert text == NOTES["Shopping.md"].replace("milk", "oat milk")
            assert [(p["id"], p["status"]) for p in listed["proposals"]] == [
                (made["proposal"], "applied")
            ]
            assert undone["outcome"] == "applied"
            assert after["status"] == "undone"
            assert (served.folder / "Shopping.md").read_text() == NOTES["Shopping.md"]

    asyncio.run(check())


def test_a_conflict_writes_nothing_and_offers_a_merge(tmp_path):
    async def check():
        notes = {"Shopping.md": "one\n" * 9 + NOTES["Shopping.md"]}
        async with serving(tmp_path, says(CHANGE), toml=OPS, notes=notes) as served:
            made = await proposed(served)
            file = served.folder / "Shopping.md"
            file.write_text(f"and flour\n\n{file.read_text()}")
            path = f"/api/v1/proposals/{made['proposal']}"
            approval = {key: made["shown"][key] for key in ("base_hash", "patch_id")}
            stale = (await served.http.get(path)).json()["is_current"]
            conflict = (await served.http.post(f"{path}/apply", json=approval)).json()
            kept = file.read_text()
            merge = (await served.http.get(f"/api/v1/proposals/{conflict['merge']}")).json()
            approval = {key: merge["shown"][key] for key in ("base_hash", "patch_id")}
            merged = (
                await served.http.post(f"/api/v1/proposals/{merge['id']}/apply", json=approval)
            ).json()

            assert stale is False
            assert (conflict["outcome"], conflict["files"]) == ("conflict", ["Shopping.md"])
            assert "and flour" in kept and "oat milk" not in kept
            assert (merge["of"], merged["outcome"]) == (made["proposal"], "applied")
            assert "oat milk" in file.read_text() and "and flour" in file.read_text()

    asyncio.run(check())


def test_a_refused_proposal_stays_refused(tmp_path):
    async def check():
        async with serving(tmp_path, says(CHANGE), toml=OPS) as served:
            made = await proposed(served)
            path = f"/api/v1/proposals/{made['proposal']}"
            refused = await served.http.post(f"{path}/refuse", json={})
            approval = {key: made["shown"][key] for key in ("base_hash", "patch_id")}
            late = await served.http.post(f"{path}/apply", json=approval)

            assert (refused.status_code, late.status_code) == (200, 409)
            assert (served.folder / "Shopping.md").read_text() == NOTES["Shopping.md"]

    asyncio.run(check())


# --- The rest -------------------------------------------------------------------------------------


def test_settings_hold_no_secret_and_costs_add_up(tmp_path):
    async def check():
        toml = 'api_key = "canary-key"\n[limits]\nday = 5.0\nunknown_price = "allow"\n'
        async with serving(tmp_path, says("hi", prompt=200), toml=toml) as served:
            asked, _ = await served.said("hi")
            settings = await served.http.get("/api/v1/settings")
            cost = (await served.http.get("/api/v1/cost")).json()
            model = (await served.http.get("/api/v1/model")).json()
            ready = await served.http.get("/readyz")

            assert "canary-key" not in settings.text
            rows = {row["key"]: row["value"] for row in settings.json()["settings"]}
            assert (rows["api_key"], rows["model"]) == ("(set)", "first")
            assert (cost["total"]["calls"], cost["total"]["prompt"]) == (1, 200)
            assert [(c["chat"], c["calls"]) for c in cost["chats"]] == [(asked["chat"], 1)]
            assert cost["limits"] == {"day": 5.0}
            assert (model["state"], model["model"], model["window"]) == ("ready", "first", 4096)
            assert ready.json() == {"ready": True, "store": "ok", "model": "ready", "streams": 0}

    asyncio.run(check())


def test_notes_are_remembered_changed_and_forgotten(tmp_path):
    async def check():
        async with serving(tmp_path) as served:
            note = (await served.http.post("/api/v1/memory", json={"text": "likes leeks"})).json()
            path = f"/api/v1/memory/{note['id']}"
            changed = (await served.http.patch(path, json={"text": "loves leeks"})).json()
            listed = (await served.http.get("/api/v1/memory")).json()["notes"]
            forgotten = await served.http.delete(path)

            assert changed["text"] == "loves leeks"
            assert [one["text"] for one in listed] == ["loves leeks"]
            assert forgotten.status_code == 200
            assert (await served.http.get("/api/v1/memory")).json() == {"notes": []}

    asyncio.run(check())


@pytest.mark.parametrize(
    "q, expected",
    [
        pytest.param(
            "leeks", ["plants leeks in rows of leeks", "likes leeks"], id="a word, best first"
        ),
        pytest.param("rows", ["plants leeks in rows of leeks"], id="one of them"),
        pytest.param("harbour", [], id="nobody said that"),
        pytest.param(
            "",
            ["plants leeks in rows of leeks", "likes leeks", "has a dog"],
            id="no word: newest first",
        ),
    ],
)
def test_notes_are_searched(tmp_path, q, expected):
    async def check():
        async with serving(tmp_path) as served:
            for text in ("has a dog", "likes leeks", "plants leeks in rows of leeks"):
                await served.http.post("/api/v1/memory", json={"text": text})
            found = (await served.http.get("/api/v1/memory", params={"q": q})).json()["notes"]

            assert [one["text"] for one in found] == expected

    asyncio.run(check())


def test_the_server_runs_without_a_model_and_says_why(tmp_path):
    async def check():
        toml = "".join(
            f'[profile.{name}]\ntemplate = "nowhere"\n'
            for name in ("chat", "chat_ops", "completion")
        )
        async with serving(tmp_path, toml=toml) as served:
            asked = await served.http.post("/api/v1/turns", json={"text": "hi"})
            model = (await served.http.get("/api/v1/model")).json()
            files = await served.http.get("/api/v1/files")

            assert (asked.status_code, asked.json()["code"]) == (503, "misconfigured")
            assert model["state"] == "failed" and "nowhere" in model["message"]
            assert files.status_code == 200

    asyncio.run(check())


def test_text_of_nobody_is_in_an_error_message(tmp_path):
    async def check():
        async with serving(tmp_path) as served:
            wrong = await served.http.post(
                "/api/v1/turns", json={"text": 5, "canary-field": "canary-text"}
            )
            broken = await served.http.post("/api/v1/turns", content=b'{"text": "canary-text')
            surrogate = await served.http.post("/api/v1/turns", content=b'{"text": "\\ud800"}')
            nul = await served.http.post("/api/v1/turns", json={"text": "a\0b"})

            assert [one.status_code for one in (wrong, broken, surrogate, nul)] == [422] * 4
            assert "canary-text" not in wrong.text + broken.text

    asyncio.run(check())
