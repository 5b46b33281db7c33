"""A whole chat in a real terminal, against a real server."""

import json
import re
from dataclasses import replace
from typing import Any

import pytest

from sill.adapters.local.supervise import LocalServer
from tests.models.fault_provider import FaultProvider, Hang, answer, head, ok, said

from .conftest import Home
from .terminal import Terminal, start

NOTE = "# Plan\n\nBuy milk.\n" + "\n".join(f"line {n}" for n in range(30)) + "\nThe end.\n"
MILK = {
    "op": "replace", "target_file": "note.md", "target": "anchor", "anchor": "milk", "content": "oat milk",
}  # fmt: skip
END = {**MILK, "anchor": "The end", "content": "The very end"}


class ChatAlone(dict[str, Any]):
    """Every question about the server itself is answered with 404; only chats play the scripts."""

    def get(self, path: str, default: Any = None) -> Any:
        return None if path.endswith("/chat/completions") else answer(404, b"404 page not found")


def proposes(*ops: dict[str, str]) -> list[object]:
    return ok(json.dumps({"assistant_message": "As you wish.", "ops": list(ops)}))


@pytest.fixture
def folder(chosen: Home) -> Home:
    """Notes, the real two-layer server for talk, and long answers so that they can be stopped."""
    (chosen.folder / "Oven").mkdir()
    (chosen.folder / "Oven" / "Bread oven.md").write_text(
        "# Bread oven\n\nMade of clay in May.\n\n## Measures\n\nOne metre wide.\n\n## Door\n\nOak.\n"
    )
    (chosen.folder / "note.md").write_text(NOTE)
    return replace(
        chosen,
        environment={
            **chosen.environment,
            "LLM_CHAT_TEMPERATURE": "0",
            "LLM_CHAT_REPLY": "8",
            "LLM_CHAT_TOOLS": "false",
        },
    )


def close(terminal: Terminal) -> None:
    terminal.child.close(force=True)


@pytest.mark.slow
def test_a_whole_chat(folder: Home, tiny_server: LocalServer, tiny_weights) -> None:
    scripts = (proposes(MILK, END), proposes(MILK))
    with FaultProvider(*scripts, routes=ChatAlone(all=[])) as provider:
        terminal = start(
            folder,
            LLM_CHAT_OPS_BASE_URL=f"{provider.url}/v1",
            LLM_CHAT_OPS_API_KEY="k",
            LLM_CHAT_OPS_MODEL="m",
            LLM_CHAT_OPS_WINDOW="8192",
            LLM_CHAT_OPS_TOKENIZER="o200k_base",
            SILL_LOCAL_MODEL=str(tiny_weights),
        )
        try:
            _asks_with_completion(terminal, folder)
            _takes_one_hunk(terminal, folder)
            _meets_a_conflict(terminal, folder)
            _undoes(terminal, folder)
            _changes_the_model(terminal)
            _is_resized(terminal)
            terminal.press(":quit\r")

            assert terminal.ended() == 0
        finally:
            close(terminal)


def _asks_with_completion(terminal: Terminal, folder: Home) -> None:
    terminal.prompted().sees("tokens (exact)")
    terminal.press("See [[bre").sees("Bread oven")
    terminal.press("\t").sees("[[Bread oven]]")
    terminal.press("#").sees("Measures").press("mea").press("\t")
    terminal.sees("[[Bread oven#Measures]]").press("?\r")
    terminal.sees("📚 Referenced documents").sees("Oven/Bread oven.md:5-8").prompted(2)

    sent = json.loads(folder.sill("explain", "--bytes").stdout)
    explained = json.loads(folder.sill("explain", "--json").stdout)["certificate"]
    assert sent["messages"][-1]["content"].endswith("See [[Bread oven#Measures]]?")
    assert "One metre wide." in sent["messages"][-1]["content"]
    assert explained["predicted"] == explained["actual"]
    counted = f"{explained['actual'] + 8:,} of"
    terminal.until(lambda: counted in terminal.lowest, counted)


def _takes_one_hunk(terminal: Terminal, folder: Home) -> None:
    terminal.ask(":edit Use oats @note.md").sees("(1 of 2)? [y,n,a,q,e,?]")
    assert (folder.folder / "note.md").read_text() == NOTE

    terminal.press("y\r").sees("(2 of 2)?").press("n\r").sees("applied: note.md").prompted(3)
    assert (folder.folder / "note.md").read_text() == NOTE.replace("milk", "oat milk")


def _meets_a_conflict(terminal: Terminal, folder: Home) -> None:
    """The file is saved elsewhere while the question is open: nothing is overwritten, both changes stay."""
    note = folder.folder / "note.md"
    note.write_text(NOTE)
    terminal.ask(":edit Use oats again @note.md").sees("(1 of 1)?")
    note.write_text(NOTE.replace("line 20", "line twenty"))
    terminal.press("y\r").sees("note.md changed meanwhile; nothing was written")
    assert note.read_text() == NOTE.replace("line 20", "line twenty")

    terminal.sees("(1 of 1)?", times=2).press("y\r").sees("applied: note.md", times=2).prompted(4)
    assert note.read_text() == NOTE.replace("line 20", "line twenty").replace("milk", "oat milk")


def _undoes(terminal: Terminal, folder: Home) -> None:
    note = folder.folder / "note.md"
    terminal.ask(":undo").sees("undone: note.md").prompted(5)
    assert note.read_text() == NOTE.replace("line 20", "line twenty")
    terminal.ask(":redo").sees("redone: note.md").prompted(6)
    assert "oat milk" in note.read_text()


def _changes_the_model(terminal: Terminal) -> None:
    terminal.ask("/model local").sees("from now on").sees("bundled local model").prompted(7)
    terminal.ask("Go on.").prompted(8)
    terminal.ask(":cost").sees("predictions:").prompted(9)


def _is_resized(terminal: Terminal) -> None:
    terminal.press("half a thou").sees("half a thou")
    terminal.resize(20, 50)
    # Where the cursor is was asked for the old size too, and that answer may come after all is drawn anew:
    # the status line is then a row above the last one until the next key.
    terminal.press("ght, and many more words than fifty columns can hold").sees("can hold")
    terminal.press("\x0c")
    terminal.until(
        lambda: (
            terminal.lines[:2]
            == ["› half a thought, and many more words than fifty c", "  olumns can hold"]
            and terminal.lowest.startswith(" SmolLM2")
        ),
        "the prompt on a smaller screen",
    )
    terminal.press("\x15").until(lambda: terminal.lines[0] == "›", "an empty prompt")


@pytest.mark.slow
def test_ctrl_c_stops_an_answer_and_keeps_it_and_a_second_one_leaves(folder: Home) -> None:
    terminal = start(folder, LLM_CHAT_REPLY="4000", LLM_CHAT_TEMPERATURE="2")
    try:
        terminal.prompted().sees("tokens (exact)")
        terminal.ask("Tell me a long story.")
        terminal.until(lambda: _story(terminal), "the story's beginning")
        terminal.press("typed ahead").press("\x03").sees("stopped; what came is kept")
        terminal.sees("› typed ahead").press("\x15\x03")
        code = terminal.ended()
    finally:
        close(terminal)

    (turn,) = json.loads(folder.sill("chats", "show", "last", "--json").stdout)
    assert code == 130
    assert turn["status"] == "cancelled"
    assert turn["messages"][0] == {"role": "user", "text": "Tell me a long story."}
    assert len(turn["messages"][1]["text"]) > 0


def _story(terminal: Terminal) -> bool:
    """Words of the answer are on the screen: below the question, and not what Sill says meanwhile."""
    shown = [line for line in terminal.everything if line]
    asked = max(n for n, line in enumerate(shown) if "long story" in line)
    below = [line for line in shown[asked + 1 :] if not line.startswith(" SmolLM2")]
    return any("tokens sent" not in line for line in below)


@pytest.mark.slow
def test_what_does_not_reach_a_model_is_offered_again(home: Home) -> None:
    terminal = start(home, SILL_BASE_URL="http://127.0.0.1:9/v1", SILL_MODEL="m")
    try:
        terminal.sees("nobody answers")
        terminal.ask("A sentence I do not want to lose.").sees("A sentence I do not want", times=2)
        terminal.press("\x15").press(":quit\r")

        assert terminal.ended() == 0
    finally:
        close(terminal)


@pytest.mark.slow
def test_a_paste_of_a_megabyte_arrives_whole(folder: Home) -> None:
    pasted = "".join(f"row {n} of the table\n" for n in range(50_000))[: 1 << 20]
    with FaultProvider(ok("Read.")) as provider:
        terminal = start(
            folder,
            OPENAI_BASE_URL=f"{provider.url}/v1",
            SILL_MODEL="m",
            SILL_PROBE="false",
            SILL_TOKENIZER="o200k_base",
            SILL_WINDOW="2000000",
        )
        try:
            terminal.prompted().sees("tokens (exact)")
            terminal.press("Sum up: ").press(f"\x1b[200~{pasted}\x1b[201~")
            terminal.sees("1,048,576 characters⟧").press("\r").sees("Read.").prompted(2)
            terminal.press(":quit\r").ended()
        finally:
            close(terminal)

    (sent,) = [json.loads(seen.body) for seen in provider.seen if seen.body]
    assert sent["messages"][-1]["content"] == f"Sum up: {pasted}"


@pytest.mark.slow
def test_several_lines_history_search_and_another_count_for_another_tokenizer(folder: Home) -> None:
    with FaultProvider(ok("Read."), routes=ChatAlone(all=[])) as provider:
        terminal = start(
            folder,
            OPENAI_BASE_URL=f"{provider.url}/v1",
            SILL_MODEL="m",
            SILL_TOKENIZER="o200k_base",
            SILL_WINDOW="8192",
        )
        try:
            terminal.prompted().sees("tokens (exact)")
            terminal.press("one").press("\x1b\r").press("two").sees("… two").press("\r").prompted(2)
            terminal.press('"""three').press("\r").press('four"""').sees("… four").press("\r")
            terminal.sees("Read.", times=2).prompted(3)
            terminal.press("\x12").sees("search").press("tw").sees("one", times=2).press("\x07")
            terminal.ask(":profile tokenizer=cl100k_base").sees("tokenizer = cl100k_base").prompted(
                4
            )
            terminal.ask(":model other").sees("this chat is").prompted(5)
            terminal.press(":quit\r")

            assert terminal.ended() == 0
        finally:
            close(terminal)

    bodies = [json.loads(seen.body) for seen in provider.seen if seen.path.endswith("completions")]
    asked = [body["messages"][-1]["content"] for body in bodies]
    assert asked == ["one\ntwo", "three\nfour"]


@pytest.mark.slow
def test_ctrl_c_at_a_hunk_is_one_and_the_meter_tells_of_the_chat_after_an_edit(home: Home) -> None:
    (home.folder / "note.md").write_text(NOTE)
    with FaultProvider(ok("word " * 300), proposes(MILK), routes=ChatAlone(all=[])) as provider:
        terminal = start(
            home,
            OPENAI_BASE_URL=f"{provider.url}/v1",
            SILL_MODEL="m",
            SILL_TOKENIZER="o200k_base",
            SILL_WINDOW="8192",
        )
        try:
            terminal.prompted().sees("tokens (exact)")
            terminal.ask("Tell me a lot.").prompted(2)
            terminal.ask(":edit Use oats @note.md").sees("(1 of 1)? [y,n,a,q,e,?]").press("\x03")
            terminal.sees("nothing was written; :apply asks again").prompted(3)
            # The answer has 300 words; the edit's own prompt had 5 tokens, as this server says.
            _uses_more_than(1_000, terminal)
            terminal.ask(":undo").sees("nothing to undo").prompted(4)
            shown = "\n".join(terminal.everything)
            terminal.press(":quit\r")

            assert terminal.ended() == 0
        finally:
            close(terminal)

    assert "once more" not in shown


def _uses_more_than(least: int, terminal: Terminal) -> None:
    """What the meter says once it has counted: the prompt is there before."""

    def used() -> int:
        shown = re.findall(r"([\d,]+) of 8,192", terminal.lowest)
        return int(shown[0].replace(",", "")) if shown else 0

    terminal.until(lambda: used() > least, f"more than {least} tokens")


@pytest.mark.slow
def test_a_chat_that_is_gone_on_with_says_which_and_how_it_was_left(home: Home) -> None:
    half = [head(), said("Half of"), Hang()]
    with FaultProvider(half, routes=ChatAlone(all=[])) as provider:
        settings = {
            "OPENAI_BASE_URL": f"{provider.url}/v1",
            "SILL_MODEL": "m",
            "SILL_TOKENIZER": "o200k_base",
            "SILL_WINDOW": "8192",
        }
        terminal = start(home, **settings)
        try:
            terminal.prompted().sees("tokens (exact)")
            terminal.ask("A sentence of mine.").sees("Half of").press("\x03").sees("is kept")
            terminal.prompted(2).press(":quit\r").ended()
        finally:
            close(terminal)
        again = start(home, "chat", "-c", **settings)
        try:
            again.sees("going on with “A sentence of mine.”; its last answer was stopped")
            again.press(":quit\r")

            assert again.ended() == 0
        finally:
            close(again)


@pytest.mark.slow
def test_a_dumb_terminal_gets_plain_text(folder: Home) -> None:
    terminal = start(folder, TERM="dumb")
    try:
        terminal.sees("›").press("Hello.\r")
        terminal.until(lambda: terminal.written.count("›") >= 2, "the next prompt")
        terminal.press(":files\r")
        terminal.sees("none").press(":quit\r")
        code = terminal.ended()
    finally:
        close(terminal)

    assert code == 0
    assert [c for c in terminal.written if ord(c) < 32 and c not in "\r\n"] == []
