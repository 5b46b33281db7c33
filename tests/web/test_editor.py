"""The editor's API: the shapes that editors rely on, and that nothing they did not ask for happens."""

import asyncio
import json
import re

import pytest

from sill.core.messages import fingerprint
from tests.engine.workspace import fallback, says
from tests.models.fault_provider import DONE, FaultProvider, Hang, answer, finished, head, said
from tests.web.serving import parse, serving, until

FILES = {"tool.py": "def run():\n    return 1\n", "notes.md": "milk\n"}
CHAT = "/api/v1/editor/tools/t1/chat"
JSON_OPS = '[profile.chat_ops]\nformat = "json"\n'


def scope(**more):
    return {"tool_id": "t1", "active_file": "notes.md", "virtual_files": FILES, **more}


def proposing(*ops, text="Done."):
    return says(json.dumps({"assistant_message": text, "ops": list(ops)}))


REPLACE = {
    "op": "replace",
    "target_file": "notes.md",
    "target": "anchor",
    "anchor": "milk",
    "content": "oat milk",
}


# --- Chat -----------------------------------------------------------------------------------------


def test_a_chat_is_answered_as_meta_delta_done_in_minified_json(tmp_path):
    async def check():
        async with serving(tmp_path, says("Hello there")) as served:
            body = {"message": "hi", "active_file": "tool.py", "virtual_files": FILES}
            answered = await served.http.post(
                CHAT, json=body, headers={"X-Correlation-ID": "abc-1"}
            )
            events = parse(answered.text)
            turn = events[0].data["turn_id"]

            assert answered.headers["content-type"].startswith("text/event-stream")
            assert answered.headers["x-correlation-id"] == "abc-1"
            assert [(event.name, event.data) for event in events] == [
                (
                    "meta",
                    {
                        "enabled": True,
                        "correlation_id": "abc-1",
                        "turn_id": turn,
                        "assistant_message_id": f"{turn}:assistant",
                    },
                ),
                ("delta", {"text": "Hello there"}),
                ("done", {"enabled": True, "reason": "stop"}),
            ]
            assert 'data: {"text":"Hello there"}\n' in answered.text

    asyncio.run(check())


def test_files_are_sent_once_and_never_shown_in_the_history(tmp_path):
    async def check():
        async with serving(tmp_path, says("one"), says("two")) as served:
            body = {"message": "first", "active_file": "tool.py", "virtual_files": FILES}
            await served.http.post(CHAT, json=body)
            await served.http.post(CHAT, json={**body, "message": "second"})
            history = (await served.http.get(CHAT)).json()
            last = (await served.http.get(f"{CHAT}?limit=1")).json()
            sent = [seen.body.decode() for seen in served.provider.seen]
            chats = (await served.http.get("/api/v1/chats")).json()

            assert [text.count("def run()") for text in sent] == [1, 1]
            assert [(m["role"], m["content"], m["status"]) for m in history["messages"]] == [
                ("user", "first", "complete"),
                ("assistant", "one", "complete"),
                ("user", "second", "complete"),
                ("assistant", "two", "complete"),
            ]
            assert last["messages"] == history["messages"][-1:]
            assert "virtual_file_context" not in json.dumps(history)
            assert chats == {"chats": []}

    asyncio.run(check())


def test_each_tool_has_its_own_conversation_and_clearing_forgets_one(tmp_path):
    async def check():
        async with serving(tmp_path) as served:
            body = {"message": "hi", "base_version_id": "v7"}
            await served.http.post(CHAT, json=body)
            await served.http.post("/api/v1/editor/tools/t2/chat", json={"message": "hi"})
            before = (await served.http.get(CHAT)).json()
            cleared = await served.http.delete(CHAT)
            after = (await served.http.get(CHAT)).json()
            other = (await served.http.get("/api/v1/editor/tools/t2/chat")).json()

            assert before["base_version_id"] == "v7"
            assert (cleared.status_code, cleared.content) == (204, b"")
            assert after == {"messages": [], "base_version_id": None}
            assert len(other["messages"]) == 2

    asyncio.run(check())


@pytest.mark.parametrize(
    "body, code",
    [
        pytest.param(
            {"message": "hi", "active_file": "tool.py"}, "invalid", id="active_file alone"
        ),
        pytest.param({"message": ""}, "invalid", id="nothing said"),
        pytest.param({"message": "word " * 9000}, "over_budget", id="too long"),
        pytest.param({"message": "hi", "surprise": 1}, "invalid", id="an unknown field"),
    ],
)
def test_what_cannot_be_asked_is_422_before_any_stream_and_leaves_nothing(tmp_path, body, code):
    async def check():
        async with serving(tmp_path) as served:
            refused = await served.http.post(CHAT, json=body)

            assert (refused.status_code, refused.json()["code"]) == (422, code)
            assert (await served.http.get(CHAT)).json()["messages"] == []
            assert await served.service.store.chats() == []

    asyncio.run(check())


def test_a_second_question_while_one_is_read_is_409_and_takes_over_when_nobody_reads(tmp_path):
    async def check():
        async with serving(tmp_path, [head(), said("Half"), Hang()], says("new")) as served:
            async with served.http.stream("POST", CHAT, json={"message": "first"}) as stream:
                texts = stream.aiter_text()
                while "Half" not in await anext(texts):
                    pass
                busy = await served.http.post(CHAT, json={"message": "second"})
                pending = (await served.http.get(CHAT)).json()["messages"]
            [running] = served.service.turns.running
            await until(lambda: running.readers == 0)
            taken = await served.http.post(CHAT, json={"message": "third"})
            history = (await served.http.get(CHAT)).json()["messages"]

            assert (busy.status_code, busy.json()["code"]) == (409, "busy")
            assert [m["status"] for m in pending] == ["pending", "pending"]
            assert parse(taken.text)[-1].data == {"enabled": True, "reason": "stop"}
            assert [(m["content"], m["status"]) for m in history] == [
                ("first", "cancelled"),
                ("Half", "cancelled"),
                ("third", "complete"),
                ("new", "complete"),
            ]

    asyncio.run(check())


@pytest.mark.parametrize(
    "toml, code",
    [
        pytest.param("[profile.chat]\nenabled = false\n", "disabled", id="switched off"),
        pytest.param('[profile.chat]\ntemplate = "nowhere"\n', "misconfigured", id="misconfigured"),
    ],
)
def test_a_chat_that_cannot_be_had_is_one_done_event(tmp_path, toml, code):
    async def check():
        async with serving(tmp_path, toml=toml) as served:
            answered = await served.http.post(CHAT, json={"message": "hi"})
            (event,) = parse(answered.text)

            assert (answered.status_code, event.name) == (200, "done")
            assert (event.data["enabled"], event.data["code"]) == (False, code)
            assert event.data["message"]

    asyncio.run(check())


def test_an_answer_that_breaks_off_is_an_error_and_never_complete(tmp_path):
    async def check():
        async with serving(
            tmp_path, [head(), said("Half")], [*answer(500, {"error": "boom"})]
        ) as served:
            cut = parse((await served.http.post(CHAT, json={"message": "hi"})).text)
            failed = parse((await served.http.post(CHAT, json={"message": "hi"})).text)
            history = (await served.http.get(CHAT)).json()["messages"]

            assert [(e[-1].name, e[-1].data["reason"]) for e in (cut, failed)] == [
                ("done", "error")
            ] * 2
            assert [m["status"] for m in history] == ["failed"] * 4
            assert all(m["failure_outcome"] for m in history)

    asyncio.run(check())


# --- Edits ----------------------------------------------------------------------------------------


def test_edit_ops_preview_apply_undo_under_one_correlation_id(tmp_path):
    async def check():
        async with serving(tmp_path, proposing(REPLACE), toml=JSON_OPS) as served:
            http, headers = served.http, {"X-Correlation-ID": "c-1"}
            base = "/api/v1/editor/edit-ops"
            reply = await http.post(base, json=scope(message="oat milk"), headers=headers)
            ops = reply.json()["ops"]
            shown = await http.post(f"{base}/preview", json=scope(ops=ops), headers=headers)
            meta = shown.json()["meta"]
            hashes = {key: meta[key] for key in ("base_hash", "patch_id")}
            applied = await http.post(
                f"{base}/apply", json=scope(ops=ops, **hashes), headers=headers
            )
            undo_id = applied.json()["undo_id"]
            after = applied.json()["after_virtual_files"]
            undo = {"tool_id": "t1", "undo_id": undo_id}
            stale = await http.post(f"{base}/undo", json={**undo, "virtual_files": FILES})
            undone = await http.post(
                f"{base}/undo", json={**undo, "virtual_files": after}, headers=headers
            )
            twice = await http.post(f"{base}/undo", json={**undo, "virtual_files": after})
            foreign = await http.post(
                f"{base}/undo", json={**undo, "tool_id": "t2", "virtual_files": after}
            )

            assert reply.json() == {
                "enabled": True,
                "assistant_message": "Done.",
                "ops": [REPLACE],
                "base_fingerprints": {name: fingerprint(text) for name, text in FILES.items()},
                "outcome": "proposed",
                "code": None,
                "correlation_id": "c-1",
                "notices": [],
            }
            assert (
                shown.json()["after_virtual_files"] == {**FILES, "notes.md": "oat milk\n"} == after
            )
            assert (meta["applied_cleanly"], shown.json()["errors"]) == (True, [])
            assert (stale.status_code, twice.status_code, foreign.status_code) == (409, 409, 404)
            assert undone.json()["after_virtual_files"] == FILES
            assert {r.headers["x-correlation-id"] for r in (reply, shown, applied, undone)} == {
                "c-1"
            }
            assert sorted(p.name for p in served.folder.iterdir()) == [
                "Recipes.md",
                "Shopping.md",
                "code",
            ]

    asyncio.run(check())


def test_the_history_names_each_turn_as_its_caller_does(tmp_path):
    async def check():
        async with serving(tmp_path, says("one"), proposing(REPLACE), toml=JSON_OPS) as served:
            first, second = {"X-Correlation-ID": "chat-1"}, {"X-Correlation-ID": "edit-2"}
            await served.http.post(CHAT, json={"message": "hi"}, headers=first)
            body = scope(message="oat milk")
            await served.http.post("/api/v1/editor/edit-ops", json=body, headers=second)
        async with serving(tmp_path) as served:
            history = (await served.http.get(CHAT)).json()["messages"]

        assert [(m["role"], m["correlation_id"]) for m in history] == [
            ("user", "chat-1"),
            ("assistant", "chat-1"),
            ("user", "edit-2"),
            ("assistant", "edit-2"),
        ]

    asyncio.run(check())


def test_two_first_questions_at_once_are_one_conversation(tmp_path):
    async def check():
        async with serving(tmp_path, [head(), said("slow"), Hang()]) as served:
            asking = [
                asyncio.create_task(_status(served.http, "/api/v1/editor/tools/new/chat"))
                for _ in range(4)
            ]
            statuses = await asyncio.gather(*asking)
            return sorted(statuses), len(await served.service.store.chats("editor:new"))

    assert asyncio.run(check()) == ([200, 409, 409, 409], 1)


async def _status(http, path):
    """As the answer begins; whoever got it goes on reading, so that nobody may take its place."""
    reading = http.build_request("POST", path, json={"message": "hi"})
    return (await http.send(reading, stream=True)).status_code


@pytest.mark.parametrize(
    "path, profile, body",
    [
        pytest.param("completions", "completion", {"prefix": "a"}, id="completion"),
        pytest.param("edits", "edit", {"instruction": "x", "selection": "y"}, id="suggestion"),
        pytest.param("edit-ops", "chat_ops", scope(message="oat milk"), id="edit"),
    ],
)
def test_what_happened_on_the_way_is_told(tmp_path, path, profile, body):
    async def check():
        with FaultProvider(proposing(REPLACE)) as second:
            elsewhere = fallback(f"{second.url}/v1", "second")
            elsewhere = elsewhere.replace("profile.chat.", f"profile.{profile}.")
            async with serving(tmp_path, answer(500, {}), toml=JSON_OPS + elsewhere) as served:
                answered = await served.http.post(f"/api/v1/editor/{path}", json=body)

                assert answered.json()["enabled"] is True
                told = f"second at {second.url}/v1 is asked instead"
                assert answered.json()["notices"][-1] == told

    asyncio.run(check())


def test_apply_is_bound_to_what_was_previewed(tmp_path):
    async def check():
        async with serving(tmp_path) as served:
            base = "/api/v1/editor/edit-ops"
            meta = (await served.http.post(f"{base}/preview", json=scope(ops=[REPLACE]))).json()[
                "meta"
            ]
            hashes = {key: meta[key] for key in ("base_hash", "patch_id")}
            changed = scope(
                virtual_files={**FILES, "notes.md": "milk and eggs\n"}, ops=[REPLACE], **hashes
            )
            other = scope(ops=[{**REPLACE, "content": "soy milk"}], **hashes)
            unfit = scope(ops=[{**REPLACE, "anchor": "beer"}], **hashes)
            answers = [
                await served.http.post(f"{base}/apply", json=body)
                for body in (changed, other, unfit)
            ]

            assert [a.status_code for a in answers] == [409, 409, 409]
            assert served.provider.seen == []
            assert await served.service.store.chats() == []

    asyncio.run(check())


@pytest.mark.parametrize(
    "ops, reasons",
    [
        pytest.param([], ["nothing proposed"], id="nothing"),
        pytest.param([{**REPLACE, "anchor": "beer"}], ["text not found"], id="not in the file"),
        pytest.param(
            [REPLACE, {**REPLACE, "target_file": "x.py"}],
            ["not a file of the request"],
            id="a file of nobody",
        ),
        pytest.param([{"op": "rename"}], ["field missing"], id="no operation"),
        pytest.param(
            [{**REPLACE, "target": "span", "span": [0, 1]}],
            ["unknown target"],
            id="Sill's own target",
        ),
    ],
)
def test_a_preview_says_what_is_wrong_and_changes_nothing(tmp_path, ops, reasons):
    async def check():
        async with serving(tmp_path) as served:
            shown = (
                await served.http.post("/api/v1/editor/edit-ops/preview", json=scope(ops=ops))
            ).json()

            assert shown["ok"] is False
            assert [detail["reason"] for detail in shown["error_details"]] == reasons
            assert shown["after_virtual_files"] == FILES
            assert shown["meta"]["patch_id"] is None

    asyncio.run(check())


@pytest.mark.parametrize(
    "script, toml, outcome",
    [
        pytest.param(says("no JSON at all"), JSON_OPS, "invalid", id="not JSON"),
        pytest.param(
            [head(), said('{"ops": ['), finished("length") + DONE],
            JSON_OPS,
            "truncated",
            id="cut off",
        ),
        pytest.param(
            answer(500, {"error": "boom"}), JSON_OPS, "upstream_error", id="a failing endpoint"
        ),
        pytest.param(
            says("x"), "[profile.chat_ops]\nenabled = false\n", "disabled", id="switched off"
        ),
        pytest.param(
            says("x"), '[profile.chat_ops]\ntemplate = "nowhere"\n', "disabled", id="misconfigured"
        ),
    ],
)
def test_every_failure_of_an_edit_is_no_edit_and_never_a_500(tmp_path, script, toml, outcome):
    async def check():
        async with serving(tmp_path, script, toml=toml) as served:
            answered = await served.http.post(
                "/api/v1/editor/edit-ops", json=scope(message="oat milk")
            )
            body = answered.json()

            assert (answered.status_code, body["ops"], body["outcome"]) == (200, [], outcome)
            assert body["enabled"] is (outcome != "disabled")
            assert (body["code"] is None) is body["enabled"]
            assert body["base_fingerprints"] == {
                name: fingerprint(text) for name, text in FILES.items()
            }

    asyncio.run(check())


def test_an_edit_that_does_not_fit_leaves_the_conversation_as_it_was(tmp_path):
    async def check():
        async with serving(tmp_path, says("hi"), toml=JSON_OPS) as served:
            await served.http.post(CHAT, json={"message": "hi"})
            before = (await served.http.get(CHAT)).json()
            files = {"notes.md": "word " * 9000}
            body = {
                "tool_id": "t1",
                "message": "x",
                "active_file": "notes.md",
                "virtual_files": files,
            }
            over = (await served.http.post("/api/v1/editor/edit-ops", json=body)).json()
            fresh = (
                await served.http.post("/api/v1/editor/edit-ops", json={**body, "tool_id": "t9"})
            ).json()

            assert (over["outcome"], over["ops"], fresh["outcome"]) == (
                "over_budget",
                [],
                "over_budget",
            )
            assert (await served.http.get(CHAT)).json() == before
            assert len(await served.service.store.chats()) == 1

    asyncio.run(check())


def test_edit_ops_and_chat_share_one_turn_at_a_time(tmp_path):
    async def check():
        async with (
            serving(tmp_path, [head(), said("Half"), Hang()], toml=JSON_OPS) as served,
            served.http.stream("POST", CHAT, json={"message": "first"}) as stream,
        ):
            texts = stream.aiter_text()
            while "Half" not in await anext(texts):
                pass
            busy = await served.http.post("/api/v1/editor/edit-ops", json=scope(message="x"))

            assert (busy.status_code, busy.json()["code"]) == (409, "busy")

    asyncio.run(check())


@pytest.mark.parametrize(
    "more",
    [
        pytest.param({"selection": {"from": 3, "to": 1}}, id="backwards"),
        pytest.param({"selection": {"from": 0, "to": 99}}, id="outside"),
        pytest.param({"cursor": {"pos": 99}}, id="cursor outside"),
        pytest.param({"active_file": "gone.py"}, id="another active file"),
        pytest.param({"virtual_files": {}}, id="no files"),
    ],
)
def test_a_scope_that_cannot_be_is_422(tmp_path, more):
    async def check():
        async with serving(tmp_path) as served:
            body = scope(message="x", ops=[REPLACE]) | more
            preview = {key: value for key, value in body.items() if key != "message"}
            answered = await served.http.post("/api/v1/editor/edit-ops/preview", json=preview)

            assert (answered.status_code, answered.json()["code"]) == (422, "invalid")

    asyncio.run(check())


# --- Text -----------------------------------------------------------------------------------------


def test_completion_and_suggestion(tmp_path):
    async def check():
        async with serving(tmp_path, says("eggs"), says("oat milk")) as served:
            completed = (
                await served.http.post("/api/v1/editor/completions", json={"prefix": "milk and "})
            ).json()
            suggested = await served.http.post(
                "/api/v1/editor/edits",
                json={"instruction": "no cows", "selection": "milk", "prefix": "buy "},
                headers={"X-Sill-Eval": "1"},
            )
            plain = await served.http.post("/api/v1/editor/completions", json={"prefix": "a"})

            assert (completed["completion"], completed["enabled"], completed["outcome"]) == (
                "eggs",
                True,
                "complete",
            )
            assert suggested.json()["suggestion"] == "oat milk"
            assert suggested.headers["x-sill-eval-outcome"] == "complete"
            assert suggested.headers["x-sill-eval-selection-chars"] == "4"
            assert [name for name in plain.headers if name.startswith("x-sill-eval")] == []
            assert re.fullmatch(r"[0-9a-f-]{36}", plain.headers["x-correlation-id"])
            assert await served.service.store.chats() == []

    asyncio.run(check())


@pytest.mark.parametrize(
    "toml, code",
    [
        pytest.param("enabled = false\n", "disabled", id="switched off"),
        pytest.param('template = "nowhere"\n', "misconfigured", id="misconfigured"),
    ],
)
def test_completion_that_cannot_be_had_says_so(tmp_path, toml, code):
    async def check():
        async with serving(
            tmp_path, toml=f"[profile.completion]\n{toml}[profile.edit]\n{toml}"
        ) as served:
            body = {"instruction": "x", "selection": "y"}
            completed = (
                await served.http.post("/api/v1/editor/completions", json={"prefix": "a"})
            ).json()
            suggested = (await served.http.post("/api/v1/editor/edits", json=body)).json()

            assert (completed["enabled"], completed["completion"], completed["code"]) == (
                False,
                "",
                code,
            )
            assert (suggested["enabled"], suggested["suggestion"], suggested["code"]) == (
                False,
                "",
                code,
            )
            assert served.provider.seen == []

    asyncio.run(check())


@pytest.mark.parametrize(
    "path, body",
    [
        pytest.param("editor/completions", {"prefix": "milk and "}, id="completion"),
        pytest.param("editor/edit-ops", scope(message="oat milk"), id="operations"),
        pytest.param(
            "proposals", {"instruction": "oat milk", "files": ["Shopping.md"]}, id="proposal"
        ),
    ],
)
def test_a_caller_who_hangs_up_stops_it(tmp_path, path, body):
    async def check():
        half = [head(), said("eg"), Hang()]
        async with serving(tmp_path, half, toml=JSON_OPS) as served:
            asking = asyncio.create_task(served.http.post(f"/api/v1/{path}", json=body))
            await asyncio.to_thread(served.provider.asked.wait, 60)
            asking.cancel()

            assert await asyncio.to_thread(served.provider.hung_up.wait, 60)

    asyncio.run(check())
