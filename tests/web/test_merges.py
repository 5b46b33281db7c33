"""A proposal whose file changed meanwhile: what clashes is decided, shown and written as it was shown."""

import asyncio
import json

import pytest

from tests.engine.workspace import says

from .serving import serving

OPS = '[profile.chat_ops]\nformat = "json"\n'
BETWEEN = "".join(f"line {n}\n" for n in range(9))
LIST = f"milk\n{BETWEEN}bread\n"
OTHER = f"cream\n{BETWEEN}bread\n"


def change(anchor, content):
    target = {"op": "replace", "target_file": "List.md", "target": "anchor"}
    return {**target, "anchor": anchor, "content": content}


TWO = json.dumps(
    {
        "assistant_message": "Better.",
        "ops": [change("milk", "oat milk"), change("bread", "rye bread")],
    }
)


def standing(tmp_path, check, now=OTHER):
    """``check`` with the path of a proposal whose file is now another one."""

    async def go():
        notes = {"List.md": LIST}
        async with serving(tmp_path, says(TWO), toml=OPS, notes=notes) as served:
            body = {"instruction": "better", "files": ["List.md"]}
            made = (await served.http.post("/api/v1/proposals", json=body)).json()
            (served.folder / "List.md").write_text(now)
            return await check(served, f"/api/v1/proposals/{made['proposal']}", made)

    return asyncio.run(go())


async def posted(served, path, body):
    answer = await served.http.post(path, json=body)
    return answer.status_code, answer.json()


def test_what_fits_and_what_clashes_is_told(tmp_path):
    async def check(served, path, _):
        return (await served.http.get(f"{path}/merge")).json()

    found = standing(tmp_path, check)

    assert found["files"][0].pop("now").startswith("sha256:")
    assert found["files"] == [
        {
            "path": "List.md",
            "fits": 1,
            "clashes": [{"line": 1, "base": "milk\n", "mine": "cream\n", "theirs": "oat milk\n"}],
            "is_whole": False,
            "is_there": True,
            "is_kept": True,
        }
    ]


@pytest.mark.parametrize(
    "choice, first",
    [
        pytest.param({"take": "mine"}, "cream\n", id="the file's"),
        pytest.param({"take": "theirs"}, "oat milk\n", id="the proposal's"),
        pytest.param({"take": "both"}, "cream\noat milk\n", id="both"),
        pytest.param({"take": "text", "text": "oat cream"}, "oat cream\n", id="by hand"),
    ],
)
def test_the_result_that_was_shown_is_written_and_can_be_undone(tmp_path, choice, first):
    async def check(served, path, made):
        state = (await served.http.get(f"{path}/merge")).json()["state"]
        wanted = {"state": state, "choices": {"List.md": [choice]}}
        _, shown = await posted(served, f"{path}/merge", wanted)
        untouched = (served.folder / "List.md").read_text()
        hashes = {key: shown[key] for key in ("base_hash", "patch_id")}
        _, applied = await posted(served, f"{path}/merge/apply", {**wanted, **hashes})
        written = (served.folder / "List.md").read_text()
        listed = (await served.http.get(f"/api/v1/chats/{made['chat']}/proposals")).json()
        merged = listed["proposals"][-1]
        await served.http.post("/api/v1/edits/undo", json={"id": applied["id"]})

        assert untouched == OTHER
        assert (applied["outcome"], merged["of"], merged["status"]) == (
            "applied",
            made["proposal"],
            "applied",
        )
        assert written == f"{first}{BETWEEN}rye bread\n"
        assert (served.folder / "List.md").read_text() == OTHER

    standing(tmp_path, check)


def test_nothing_is_written_for_another_state_or_another_result_than_was_shown(tmp_path):
    async def check(served, path, _):
        state = (await served.http.get(f"{path}/merge")).json()["state"]
        theirs = {"state": state, "choices": {"List.md": [{"take": "theirs"}]}}
        _, shown = await posted(served, f"{path}/merge", theirs)
        hashes = {key: shown[key] for key in ("base_hash", "patch_id")}
        both = {**theirs, "choices": {"List.md": [{"take": "both"}]}}
        other_result = await posted(served, f"{path}/merge/apply", {**both, **hashes})
        (served.folder / "List.md").write_text("something else\n")
        other_state = await posted(served, f"{path}/merge/apply", {**theirs, **hashes})

        assert (other_result[0], other_result[1]["outcome"]) == (200, "not_approved")
        assert (other_state[0], other_state[1]["code"]) == (409, "conflict")
        assert (served.folder / "List.md").read_text() == "something else\n"

    standing(tmp_path, check)


def test_a_part_that_met_a_clash_is_decided_as_that_part(tmp_path):
    async def check(served, path, made):
        hashes = {key: made["shown"][key] for key in ("base_hash", "patch_id")}
        body = {**hashes, "chosen": {"List.md": [0]}}
        _, conflict = await posted(served, f"{path}/apply", body)
        part = (await served.http.get(f"/api/v1/proposals/{conflict['proposal']}/merge")).json()

        assert (conflict["outcome"], conflict["merge"]) == ("conflict", None)
        assert conflict["proposal"] != made["proposal"]
        assert [(one["fits"], len(one["clashes"])) for one in part["files"]] == [(0, 1)]

    standing(tmp_path, check)


def test_choices_that_change_nothing_write_nothing_and_the_proposal_can_be_refused(tmp_path):
    async def check(served, path, made):
        hashes = {key: made["shown"][key] for key in ("base_hash", "patch_id")}
        await served.http.post(f"{path}/apply", json=hashes)
        state = (await served.http.get(f"{path}/merge")).json()["state"]
        mine = {"state": state, "choices": {"List.md": [{"take": "mine"}]}}
        _, shown = await posted(served, f"{path}/merge", mine)
        _, nothing = await posted(
            served,
            f"{path}/merge/apply",
            {**mine, "base_hash": shown["base_hash"], "patch_id": shown["patch_id"]},
        )
        refused = await served.http.post(f"{path}/refuse")
        again = await served.http.get(f"{path}/merge")

        assert (shown["files"], nothing["outcome"]) == ([], "nothing")
        assert (refused.status_code, again.status_code) == (200, 409)

    standing(tmp_path, check, now=f"cream\n{BETWEEN}rye bread\n")


APPLIED = f"oat milk\n{BETWEEN}rye bread\n"
AFTER = f"oat cream\n{BETWEEN}rye bread\n"  # somebody wrote on


def turned(tmp_path, check, way="undo"):
    """``check`` with an edit whose undo or redo meets a file that is another one by now."""

    async def applied(served, path, made):
        hashes = {key: made["shown"][key] for key in ("base_hash", "patch_id")}
        _, done = await posted(served, f"{path}/apply", hashes)
        now = AFTER
        if way == "redo":
            await posted(served, "/api/v1/edits/undo", {"id": done["id"]})
            now = OTHER
        (served.folder / "List.md").write_text(now)
        return await check(served, done["id"], path)

    return standing(tmp_path, applied, now=LIST)


async def merged(served, id, way, choice):
    path = f"/api/v1/edits/{id}/{way}/merge"
    state = (await served.http.get(path)).json()["state"]
    wanted = {"state": state, "choices": {"List.md": [choice]}}
    _, shown = await posted(served, path, wanted)
    hashes = {key: shown[key] for key in ("base_hash", "patch_id")}
    return await posted(served, f"{path}/apply", {**wanted, **hashes})


@pytest.mark.parametrize(
    "way, clash, fits",
    [
        pytest.param("undo", ("oat milk\n", "oat cream\n", "milk\n"), 1, id="undo"),
        pytest.param("redo", ("milk\n", "cream\n", "oat milk\n"), 1, id="redo"),
    ],
)
def test_an_undo_or_redo_tells_what_fits_and_what_clashes(tmp_path, way, clash, fits):
    async def check(served, id, _):
        path = "/api/v1/edits"
        conflict = (await posted(served, f"{path}/{way}", {"id": id}))[1]
        return conflict, (await served.http.get(f"{path}/{id}/{way}/merge")).json()["files"]

    conflict, [file] = turned(tmp_path, check, way)

    line = {"line": 1, **dict(zip(("base", "mine", "theirs"), clash, strict=True))}
    assert (conflict["outcome"], conflict["clashes"]) == ("conflict", {"List.md": [line]})
    assert (file["clashes"], file["fits"]) == ([line], fits)


@pytest.mark.parametrize(
    "way, choice, first",
    [
        pytest.param("undo", {"take": "mine"}, "oat cream\n", id="undo, the file's"),
        pytest.param("undo", {"take": "theirs"}, "milk\n", id="undo, as it was"),
        pytest.param("undo", {"take": "both"}, "oat cream\nmilk\n", id="undo, both"),
        pytest.param("undo", {"take": "text", "text": "cream"}, "cream\n", id="undo, by hand"),
        pytest.param("redo", {"take": "theirs"}, "oat milk\n", id="redo, as it was"),
        pytest.param("redo", {"take": "both"}, "cream\noat milk\n", id="redo, both"),
    ],
)
def test_a_merged_undo_or_redo_is_one_and_the_opposite_takes_exactly_that_back(
    tmp_path, way, choice, first
):
    back, is_applied, last = ("redo", False, "bread\n") if way == "undo" else ("undo", True, "rye bread\n")  # fmt: skip

    async def check(served, id, proposal):
        before = (served.folder / "List.md").read_text()
        _, done = await merged(served, id, way, choice)
        written = (served.folder / "List.md").read_text()
        [edit] = (await served.http.get("/api/v1/edits")).json()["edits"]
        status = (await served.http.get(proposal)).json()["status"]
        _, taken_back = await posted(served, f"/api/v1/edits/{back}", {"id": id})
        restored = (served.folder / "List.md").read_text()
        _, again = await posted(served, f"/api/v1/edits/{way}", {"id": id})

        assert (done["outcome"], written) == ("applied", f"{first}{BETWEEN}{last}")
        assert (edit["is_applied"], status) == (is_applied, "applied" if is_applied else "undone")
        assert (taken_back["outcome"], restored) == ("applied", before)
        assert (again["outcome"], (served.folder / "List.md").read_text()) == ("applied", written)

    turned(tmp_path, check, way)


def test_an_undo_is_merged_only_as_it_was_shown_and_only_once(tmp_path):
    async def check(served, id, _):
        path = f"/api/v1/edits/{id}/undo/merge"
        state = (await served.http.get(path)).json()["state"]
        theirs = {"state": state, "choices": {"List.md": [{"take": "theirs"}]}}
        _, shown = await posted(served, path, theirs)
        hashes = {key: shown[key] for key in ("base_hash", "patch_id")}
        both = {**theirs, "choices": {"List.md": [{"take": "both"}]}}
        other_result = await posted(served, f"{path}/apply", {**both, **hashes})
        (served.folder / "List.md").write_text("something else\n")
        other_state = await posted(served, f"{path}/apply", {**theirs, **hashes})
        kept = (served.folder / "List.md").read_text()
        (served.folder / "List.md").write_text(AFTER)
        first = await posted(served, f"{path}/apply", {**theirs, **hashes})
        second = await posted(served, f"{path}/apply", {**theirs, **hashes})
        unknown = await served.http.get("/api/v1/edits/nothing/undo/merge")

        assert (other_result[0], other_result[1]["outcome"]) == (200, "not_approved")
        assert (other_state[0], other_state[1]["code"], kept) == (409, "conflict", "something else\n")  # fmt: skip
        assert (first[1]["outcome"], second[0], unknown.status_code) == ("applied", 409, 409)

    turned(tmp_path, check)
