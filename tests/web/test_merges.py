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
