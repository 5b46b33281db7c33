"""``sill edit``, ``undo``, ``redo`` and ``history`` on real files, each in a process of its own."""

import json
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import pexpect
import pytest

from tests.models.fault_provider import (
    DONE,
    FaultProvider,
    Hang,
    Step,
    Until,
    answer,
    finished,
    head,
    ok,
    said,
)

from .conftest import Home

KEYS = [
    "enabled", "outcome", "assistant_message", "ops", "base_fingerprints", "proposal", "base_hash", "patch_id",
    "files", "fuzz", "offset", "normalizations", "requires_confirmation", "problems", "applied", "conflict",
    "refused", "model", "endpoint", "certificate", "usage", "cost", "requests", "chat", "turn", "ms",
]  # fmt: skip
NOTE = "# Plan\r\n\nBuy milk.\n" + "\n".join(f"line {n}" for n in range(30)) + "\nThe end"
MILK = {
    "op": "replace", "target_file": "note.md", "target": "anchor", "anchor": "milk", "content": "oat milk",
}  # fmt: skip
END = {**MILK, "anchor": "The end", "content": "The very end"}
MADE = {"op": "insert", "target_file": "new.md", "target": "document", "content": "Hello.\n"}
GONE = {**MILK, "anchor": "not there"}
OATS = NOTE.replace("milk", "oat milk")


def proposes(*ops: dict[str, Any], message: str = "Done.") -> list[Step]:
    return ok(json.dumps({"assistant_message": message, "ops": list(ops)}))


@contextmanager
def asking(home: Home, *replies: list[Step], **settings: str) -> Iterator[Home]:
    """A user whose endpoint gives these answers."""
    with FaultProvider(*replies) as provider:
        environment = {
            **home.environment,
            "OPENAI_BASE_URL": f"{provider.url}/v1",
            "OPENAI_API_KEY": "k",
            "SILL_MODEL": "m",
            "SILL_PROBE": "false",
            "SILL_TOKENIZER": "o200k_base",
            "SILL_WINDOW": "8192",
            **settings,
        }
        write(home, "note.md", NOTE)
        yield replace(home, environment=environment)


def write(home: Home, name: str, text: str) -> None:
    (home.folder / name).write_bytes(text.encode())


def files(home: Home) -> dict[str, str]:
    return {p.name: p.read_bytes().decode() for p in sorted(home.folder.iterdir()) if p.is_file()}


def edited(home: Home, *arguments: str) -> tuple[int, dict[str, Any]]:
    done = home.sill("edit", "Change it.", *arguments, "--json")
    return done.returncode, json.loads(done.stdout)


def test_everything_is_applied_undone_and_redone_by_other_processes(home):
    with asking(home, proposes(MILK, END, MADE)) as user:
        code, report = edited(user, "note.md", "new.md", "--yes")
        after = files(home)
        undone = user.sill("undo", "--json")
        back = files(home)
        states = [json.loads(user.sill("history", "--json").stdout)[0]["applied"]]
        redone = user.sill("redo")
        again = files(home)
        states += [json.loads(user.sill("history", "--json").stdout)[0]["applied"]]
        shown = user.sill("history").stdout

    changed = {"new.md": "Hello.\n", "note.md": OATS.replace("The end", "The very end")}
    assert (code, list(report), report["outcome"]) == (0, KEYS, "proposed")
    assert report["applied"]["files"] == ["note.md", "new.md"]
    assert report["ops"] == [MILK, END, MADE]
    assert [(f["path"], f["change"], len(f["hunks"])) for f in report["files"]] == [
        ("note.md", "changed", 2),
        ("new.md", "created", 1),
    ]
    assert (after, back, again) == (changed, {"note.md": NOTE}, changed)
    assert (json.loads(undone.stdout)["outcome"], redone.returncode) == ("undone", 0)
    assert states == [False, True]
    assert report["applied"]["id"] in shown and "new.md created" in shown


def test_without_yes_the_diff_is_printed_and_nothing_is_written(home):
    with asking(home, proposes(MILK)) as user:
        done = user.sill("edit", "Change it.", "note.md")

        assert (done.returncode, files(home)) == (0, {"note.md": NOTE})
        assert "-Buy milk.\n+Buy oat milk.\n" in done.stdout
        assert "\x1b" not in done.stdout
        assert "--yes" in done.stderr


CUT = [head(), said('{"assistant_message": "x", "ops": ['), finished("length") + DONE]


@pytest.mark.parametrize(
    "replies, settings, outcome",
    [
        pytest.param([proposes()], {}, "nothing", id="nothing"),
        pytest.param([CUT], {}, "truncated", id="cut off"),
        pytest.param([ok("I cannot."), ok("No.")], {}, "invalid", id="no JSON"),
        pytest.param([proposes(MILK, GONE)] * 2, {}, "invalid", id="one op is wrong"),
        pytest.param([answer(401, {"error": {"message": "no"}})], {}, "upstream_error", id="key"),
        pytest.param([proposes(MILK)], {"SILL_WINDOW": "512"}, "over_budget", id="no room"),
        pytest.param([proposes(MILK)], {"LLM_CHAT_OPS_ENABLED": "false"}, "disabled", id="off"),
    ],
)
def test_every_failure_has_an_outcome_and_leaves_the_files_alone(home, replies, settings, outcome):
    with asking(home, *replies, **settings) as user:
        code, report = edited(user, "note.md", "--yes")

    assert (list(report), report["outcome"], report["ops"]) == (KEYS, outcome, [])
    assert (code, report["enabled"]) == (0 if outcome == "nothing" else 1, outcome != "disabled")
    assert report["assistant_message"] and report["applied"] is None
    assert files(home) == {"note.md": NOTE}
    is_stored = outcome not in ("over_budget", "disabled")
    assert (report["turn"] is not None) == is_stored


def test_one_repair_round_is_made(home):
    with asking(home, proposes(GONE), proposes(MILK)) as user:
        code, report = edited(user, "note.md", "--yes")

    assert (code, report["requests"], report["problems"]) == (0, 2, [])
    assert files(home) == {"note.md": OATS}


@pytest.mark.parametrize(
    "arguments, complaint",
    [
        pytest.param([".git/config"], "protected", id="protected"),
        pytest.param(["../other.md"], "leads elsewhere", id="outside"),
        pytest.param(["/etc/hostname"], "not in the folder", id="absolute"),
        pytest.param(["note.md", "--selection", "900:901"], "not in the file", id="no such lines"),
        pytest.param(["note.md", "--selection", "x"], "not a range", id="no range"),
        pytest.param(["link.md"], "is a link", id="a link"),
        pytest.param(["latin.txt"], "neither UTF-8", id="not text"),
        pytest.param([], "FILE", id="no file"),
    ],
)
def test_what_cannot_be_edited_is_told_before_a_model_is_asked(home, arguments, complaint):
    (home.folder / "link.md").symlink_to("note.md")
    (home.folder / "latin.txt").write_bytes(b"caf\xe9")
    with asking(home, proposes(MILK)) as user:
        done = user.sill("edit", "Change it.", *arguments, "--yes")

    assert (done.returncode, complaint in done.stderr) == (2, True)


def test_a_selection_is_what_an_op_on_the_selection_changes(home):
    op = {"op": "replace", "target_file": "note.md", "target": "selection", "content": "Buy tea."}
    with asking(home, proposes(op)) as user:
        code, _ = edited(user, "note.md", "--selection", "3:3", "--yes")

    assert (code, files(home)) == (0, {"note.md": NOTE.replace("Buy milk.", "Buy tea.")})


def test_undo_refuses_to_overwrite_a_later_change(home):
    with asking(home, proposes(MILK)) as user:
        edited(user, "note.md", "--yes")
        write(home, "note.md", OATS.replace("oat milk", "soy milk"))
        done = user.sill("undo", "--json")
        nothing = user.sill("redo")

    report = json.loads(done.stdout)
    assert (done.returncode, report["outcome"]) == (1, "conflict")
    assert report["conflict"]["files"] == {"note.md": "changed since the proposal was made"}
    assert "soy milk" in files(home)["note.md"]
    assert (nothing.returncode, "nothing to redo" in nothing.stderr) == (1, True)


def test_the_next_request_of_the_chat_tells_what_was_undone(home):
    with (
        FaultProvider(proposes(MILK), proposes()) as provider,
        asking(home, proposes(), OPENAI_BASE_URL=f"{provider.url}/v1") as user,
    ):
        _, first = edited(user, "note.md", "--yes")
        user.sill("undo")
        _, second = edited(user, "note.md", "-c")
        asked = json.loads(provider.seen[-1].body)["messages"][-1]["content"]

    assert second["chat"] == first["chat"]
    assert "(Your edits to note.md were applied and then undone by the user.)" in asked


def test_a_proposal_and_its_fate_are_part_of_the_chat(home):
    with asking(home, proposes(MILK)) as user:
        _, report = edited(user, "note.md", "--yes")
        user.sill("undo")
        [turn] = json.loads(user.sill("chats", "show", report["chat"], "--json").stdout)
        shown = user.sill("chats", "show", report["chat"]).stdout

    [proposal] = turn["proposals"]
    assert (proposal["id"], proposal["status"]) == (report["proposal"], "undone")
    assert (proposal["files"], proposal["decided_ms"] is not None) == (["note.md"], True)
    assert "undone by" in shown and "note.md" in shown


def test_a_hidden_file_that_was_named_can_be_edited(home):
    write(home, ".list", "milk\n")
    with asking(home, proposes({**MILK, "target_file": ".list"})) as user:
        code, _ = edited(user, ".list", "--yes")

    assert (code, files(home)[".list"]) == (0, "oat milk\n")


def test_a_save_while_the_model_was_thinking_is_a_conflict_with_a_merge(home):
    saved = threading.Event()
    slow = [Until(saved), *proposes(MILK)]
    with (
        FaultProvider(slow) as provider,
        asking(home, proposes(), OPENAI_BASE_URL=f"{provider.url}/v1") as user,
        ThreadPoolExecutor() as pool,
    ):
        running = pool.submit(edited, user, "note.md", "--yes")
        assert provider.asked.wait(60)
        write(home, "note.md", NOTE.replace("The end", "The start"))
        saved.set()
        code, report = running.result()

    assert (code, report["applied"]) == (1, None)
    assert files(home) == {"note.md": NOTE.replace("The end", "The start")}
    assert report["conflict"]["files"] == {"note.md": "changed since the proposal was made"}
    merge = report["conflict"]["merge"]
    assert (merge["clashes"], len(merge["files"][0]["hunks"])) == ({}, 1)
    assert merge["patch_id"] != report["patch_id"]


# --- In a terminal --------------------------------------------------------------------------------


@contextmanager
def terminal(user: Home, *names: str) -> Iterator[pexpect.spawn]:
    child = pexpect.spawn(
        sys.executable,
        ["-m", "sill", "edit", "Change it.", *names],
        cwd=str(user.folder),
        env={**user.environment, "TERM": "xterm-256color"},
        encoding="utf-8",
        dimensions=(50, 100),
        timeout=60,
    )
    try:
        yield child
    finally:
        child.close(force=True)


def ended(child: pexpect.spawn) -> int | None:
    child.expect(pexpect.EOF)
    child.close()
    return child.exitstatus


@pytest.mark.parametrize(
    "keys, expected",
    [
        pytest.param("yn", OATS, id="the first of two"),
        pytest.param("ny", NOTE.replace("The end", "The very end"), id="the second of two"),
        pytest.param("a", OATS.replace("The end", "The very end"), id="all"),
        pytest.param("yq", OATS, id="one, then no more"),
        pytest.param("q", NOTE, id="none"),
        pytest.param("?a", OATS.replace("The end", "The very end"), id="after a look at the help"),
    ],
)
def test_hunks_are_taken_one_by_one(home, keys, expected):
    with asking(home, proposes(MILK, END)) as user, terminal(user, "note.md") as child:
        for key in keys:
            child.expect(r"\[y,n,a,q,e,\?\] ")
            child.send(key + "\r")
        code = ended(child)

        assert (code, files(home)) == (0, {"note.md": expected})


def test_a_part_that_was_taken_is_stored_and_told(home):
    with (
        FaultProvider(proposes(MILK, END), proposes()) as provider,
        asking(home, proposes(), OPENAI_BASE_URL=f"{provider.url}/v1") as user,
    ):
        with terminal(user, "note.md") as child:
            for key in "yn":
                child.expect(r"\[y,n,a,q,e,\?\] ")
                child.send(key + "\r")
            assert ended(child) == 0
        _, second = edited(user, "note.md", "-c")
        asked = json.loads(provider.seen[-1].body)["messages"][-1]["content"]
        turns = json.loads(user.sill("chats", "show", second["chat"], "--json").stdout)

    assert [one["status"] for one in turns[0]["proposals"]] == ["refused", "applied"]
    assert (
        "(Of your proposed edits. Applied: note.md lines 1-6."
        " Refused by the user: note.md lines 31-34.)" in asked
    )


def test_the_diff_is_coloured_on_a_terminal(home):
    with asking(home, proposes(MILK)) as user, terminal(user, "note.md") as child:
        child.expect_exact("\x1b[32m+Buy oat milk.\x1b[0m")
        child.expect(r"\? \[")
        child.send("n\r")

        assert ended(child) == 0


def test_a_file_that_changed_behind_the_preview_is_a_conflict(home):
    with asking(home, proposes(MILK)) as user, terminal(user, "note.md") as child:
        child.expect(r"\? \[")
        saved = NOTE.replace("milk", "cream")
        write(home, "note.md", saved)
        child.send("y\r")
        child.expect(r"\? \[k,t,b,e")
        child.send("k\r")
        code = ended(child)

        assert (code, files(home)) == (1, {"note.md": saved})


def test_a_change_elsewhere_in_the_file_can_be_merged(home):
    saved = NOTE.replace("The end", "The start")
    with asking(home, proposes(MILK)) as user, terminal(user, "note.md") as child:
        child.expect(r"\? \[")
        write(home, "note.md", saved)
        child.send("y\r")
        child.expect("as they are now")
        child.expect(r"\? \[")
        child.send("y\r")
        code = ended(child)

        assert (code, files(home)) == (0, {"note.md": saved.replace("milk", "oat milk")})


def test_a_request_can_be_stopped(home):
    with (
        FaultProvider([Hang()]) as provider,
        asking(home, proposes(), OPENAI_BASE_URL=f"{provider.url}/v1") as user,
        terminal(user, "note.md") as child,
    ):
        child.expect("Ctrl-C stops")
        assert provider.asked.wait(60)
        child.sendintr()
        code = ended(child)
        listed = json.loads(user.sill("chats", "list", "--json").stdout)
        [turn] = json.loads(user.sill("chats", "show", listed[0]["id"], "--json").stdout)

    assert (code, turn["status"], turn["proposals"]) == (130, "cancelled", [])


def test_going_away_writes_nothing(home):
    with asking(home, proposes(MILK, END)) as user, terminal(user, "note.md") as child:
        child.expect(r"\? \[")
        child.send("y\r")
        child.expect(r"\? \[")
        child.sendintr()
        code = ended(child)

        assert (code, files(home)) == (130, {"note.md": NOTE})


# --- With a real server ---------------------------------------------------------------------------


@pytest.mark.slow
def test_a_real_server_is_held_to_the_schema(chosen):
    write(chosen, "note.md", "one\n")
    done = chosen.sill("edit", "Shorten it.", "note.md", "--json", LLM_CHAT_OPS_REPLY="200")

    report = json.loads(done.stdout)
    assert list(report) == KEYS
    assert report["outcome"] in ("proposed", "nothing", "truncated", "invalid"), done.stderr
    assert report["certificate"]["predicted"] == report["certificate"]["actual"]
    assert files(chosen) == {"note.md": "one\n"}
