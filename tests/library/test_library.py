"""``sill.open`` over a real server, and over one that says what it was told to."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

import sill
from sill.adapters.local.supervise import LocalServer
from sill.settings import Scalar
from sill.testing import WordCounter
from tests.models.fault_provider import FaultProvider, ok

MILK = {
    "op": "replace",
    "target_file": "plan.md",
    "target": "anchor",
    "anchor": "milk",
    "content": "oats",
}
PLAIN = {"model": "m", "probe": False, "tokenizer": "o200k_base", "window": 8192}


def over(server: LocalServer) -> dict[str, Scalar | None]:
    return {"base_url": server.base_url, "api_key": server.api_key, "profile.chat.reply": 16}


@pytest.mark.bare
def test_importing_sill_loads_nothing_of_it():
    code = "import sill, sys; print([m for m in sys.modules if m.startswith('sill.') or m in ('httpx','sqlite3')])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert done.stdout.strip() == "[]"


def test_a_name_that_is_not_public_is_not_there():
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        _ = sill.nonsense  # type: ignore[attr-defined]


def test_a_question_is_planned_sent_and_explained_with_the_same_numbers(
    folder: Path, tiny_server: LocalServer
):
    with sill.open(folder, settings=over(tiny_server)) as workspace:
        chat = workspace.chat(files=["plan.md"])
        planned = chat.plan("What is to be bought, says [[shop]]?")
        assert isinstance(planned, sill.Window)
        assert chat.id is None  # a plan writes nothing
        answer = chat.ask("What is to be bought, says [[shop]]?")
        assert answer.certificate is not None and answer.turn is not None
        explained = workspace.explain(answer.turn)

    assert planned.request == explained.request
    assert planned.items == explained.items
    assert planned.tokens == answer.certificate.predicted == answer.certificate.actual
    assert sum(planned.shares.values()) == planned.tokens
    assert {item.name for item in planned.items if item.kind == "file"} == {"plan.md", "shop.md"}


def test_a_chat_goes_on_and_can_be_opened_again(folder: Path, tiny_server: LocalServer):
    with sill.open(folder, settings=over(tiny_server)) as workspace:
        first = workspace.ask("One", files=["plan.md"])
    with sill.open(folder, settings=over(tiny_server)) as workspace:
        again = workspace.chat(first.chat, files=["plan.md"])
        window = again.plan("Two")
        assert isinstance(window, sill.Window)
        second = again.ask("Two")

    fates = [(item.name, item.fate) for item in window.items if item.kind == "file"]
    assert fates == [("plan.md", "kept")]
    assert second.chat == first.chat


def test_leaving_a_stream_early_keeps_what_came(folder: Path, tiny_server: LocalServer):
    settings = {**over(tiny_server), "profile.chat.reply": 400}
    with sill.open(folder, settings=settings) as workspace:
        chat = workspace.chat()
        turn, text = "", ""
        for event in chat.stream("Tell me a very long story"):
            if isinstance(event, sill.Started):
                turn = event.turn
            if isinstance(event, sill.Delta):
                text = event.text
                break
        stored = workspace._loop.run(workspace._open_app.store.turn(turn))

    assert stored is not None
    assert stored.status in ("cancelled", "interrupted")
    assert stored.messages[-1].text.startswith(text)


def test_what_cannot_fit_is_refused_as_a_value(folder: Path, tiny_server: LocalServer):
    with sill.open(folder, settings={**over(tiny_server), "window": 600}) as workspace:
        chat = workspace.chat()
        planned = chat.plan("word " * 3000)
        asked = chat.ask("word " * 3000)

    assert isinstance(planned, sill.Answer)
    assert (planned.outcome, asked.outcome, asked.turn) == ("refused", "refused", None)
    assert "too long" in asked.reason


def test_an_edit_is_proposed_applied_and_undone(folder: Path):
    reply = ok(json.dumps({"assistant_message": "Oats.", "ops": [MILK]}))
    with (
        FaultProvider(reply, reply) as provider,
        sill.open(folder, settings={**PLAIN, "base_url": f"{provider.url}/v1"}) as workspace,
    ):
        before = (folder / "plan.md").read_text()
        proposal = workspace.edit("Oats instead", ["plan.md"])
        untouched = (folder / "plan.md").read_text()
        change = proposal.apply()
        after = (folder / "plan.md").read_text()
        undone = workspace.undo()
        back = (folder / "plan.md").read_text()
        nothing = workspace.undo()
        late = workspace.edit("Oats instead", ["plan.md"])
        (folder / "plan.md").write_text("# Plan\n\nBuy bread.\n")
        conflict = late.apply()

    assert proposal.ok and proposal.files == ("plan.md",)
    assert "-Buy milk. See [[shop]].\n+Buy oats. See [[shop]].\n" in proposal.diff
    assert untouched == before
    assert change == sill.Change(("plan.md",))
    assert after == before.replace("milk", "oats")
    assert (undone.applied, back) == (("plan.md",), before)
    assert nothing == sill.Change(reason="there is nothing to undo")
    assert conflict.conflicts == ("plan.md",)
    assert (folder / "plan.md").read_text() == "# Plan\n\nBuy bread.\n"


def test_an_edit_that_cannot_be_read_is_no_proposal(folder: Path):
    with (
        FaultProvider(ok("I would rather not."), ok("Still not.")) as provider,
        sill.open(folder, settings={**PLAIN, "base_url": f"{provider.url}/v1"}) as workspace,
    ):
        proposal = workspace.edit("Oats instead", ["plan.md"])
        change = proposal.apply()

    assert (proposal.ok, proposal.outcome, proposal.diff, change.applied) == (
        False,
        "invalid",
        "",
        (),
    )
    assert change.reason == proposal.message != ""


def test_notes_are_found_as_they_are_now(folder: Path, tiny_server: LocalServer):
    with sill.open(folder, settings=over(tiny_server)) as workspace:
        first = [hit.path for hit in workspace.search("nine", mode="text")]
        (folder / "late.md").write_text("Not before nine.\n")
        second = {hit.path for hit in workspace.search("nine", mode="text")}

    assert first == ["shop.md"]
    assert second == {"shop.md", "late.md"}


def test_a_counter_of_ones_own_decides_what_fits(folder: Path, tiny_server: LocalServer):
    with sill.open(folder, counter=WordCounter(), settings=over(tiny_server)) as workspace:
        counts = workspace.count(["one two", "three"])
        planned = workspace.chat().plan("How many words are there?")

    assert counts == (2, 1)
    assert isinstance(planned, sill.Window)
    assert planned.certificate is not None
    assert planned.certificate.tokenizer == "words"


def test_a_closed_workspace_says_so(folder: Path, tiny_server: LocalServer):
    workspace = sill.open(folder, settings=over(tiny_server))
    workspace.close()
    workspace.close()

    with pytest.raises(sill.SillError, match="closed"):
        workspace.ask("Anyone?")


def test_a_folder_that_is_not_there_is_named(tmp_path: Path):
    with pytest.raises(sill.SillError, match="there is no such folder"):
        sill.open(tmp_path / "nowhere")
