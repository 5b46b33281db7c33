"""Five thousand hostile strings from a model, from files and from names: none of them steers the terminal."""

import random
import re
from dataclasses import replace
from pathlib import Path

import pytest

from tests.models.fault_provider import DONE, FaultProvider, Step, finished, head, said

from .conftest import Home
from .terminal import start

STRINGS = 5_000
ANSWERS = 10
SEEDS = [
    "\x1b[2J", "\x1b]0;owned\x07", "\x1b]8;;http://evil\x1b\\x", "\x1b[6n", "\x1bP1$r\x1b\\", "\x9b31m", "\x9d0;t\x9c",
    "\x90q\x9c", "\x07", "\x08\x08\x08", "\r\x1b[K", "\x7f", "\x00", "\x0e", "\x0f", "\x18", "\x1a", "\x05", "\x85", "\u202e",
    "\u2066", "\u200b", "\ufeff", "&#27;[31m", "&#x9b;2J", "&#x202e;", "```", "**", "| a |", "> ", "# ", "[x](\x1b[1m)", "<b>",
    "word", " ", "\n", "\t", "é", "世界", "🙂",
]  # fmt: skip
# An escape sequence, or any other character that steers a terminal.
CONTROL = re.compile(
    r"\x1b(?:\[[0-9;:?<>=]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|.)|[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]",
    re.DOTALL,
)


HIDDEN = re.compile("[\u200b\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff]")


def controls(written: str) -> set[str]:
    """What steers the terminal, numbers aside; styles are all alike."""
    found = {re.sub(r"[0-9]+", "N", one) for one in CONTROL.findall(written)}
    return {"style" if re.fullmatch(r"\x1b\[[N;]*m", one) else one for one in found}


def hostile(random: random.Random) -> str:
    pieces = [random.choice(SEEDS) for _ in range(random.randint(1, 5))]
    pieces += [
        chr(random.choice([random.randrange(0x100), random.randrange(0x3000)])) for _ in "ab"
    ]
    random.shuffle(pieces)
    return "".join(pieces).replace("\ud800", "")


def scripts(strings: list[str]) -> list[list[Step]]:
    per = len(strings) // ANSWERS
    return [
        [head(), *(said(f"{s}\n") for s in strings[at : at + per]), finished(), DONE]
        for at in range(0, len(strings), per)
    ]


def run(home: Home, strings: list[str], term: str) -> str:
    """Everything the program wrote while these strings came in from everywhere."""
    with FaultProvider(*scripts(strings)) as provider:
        user = replace(
            home,
            environment={
                **home.environment,
                "OPENAI_BASE_URL": f"{provider.url}/v1",
                "SILL_MODEL": "m\x1b[31m\x9b",
                "SILL_PROBE": "false",
                "SILL_TOKENIZER": "o200k_base",
                "SILL_WINDOW": "1000000",
                "LLM_CHAT_TOOLS": "false",
            },
        )
        terminal = start(user, TERM=term)
        try:
            terminal.until(lambda: "›" in terminal.written, "the prompt")
            for number in range(ANSWERS):
                # A dumb terminal shows what is typed by itself.
                name = "No" if term == "dumb" else "\u202eNo\u2066"
                terminal.press(f"number {number} [[{name}]]\r")
                terminal.until(
                    lambda number=number: len(provider.seen) > number, f"request {number}"
                )
            for line in (":files add evil.md", ":sources", ":context", ":chats", ":fork"):
                terminal.press(f"{line}\r")
            terminal.press(":quit\r").ended()
        finally:
            terminal.child.close(force=True)
    assert len(provider.seen) == ANSWERS
    return terminal.written


def evil_folder(folder: Path) -> None:
    (folder / "evil.md").write_text("# \x1b[31mHead\n\n\x1b]0;x\x07 \x9b2J\n")
    (folder / "\x1b[5mblink.md").write_text("# B\n")


@pytest.mark.slow
def test_in_plain_mode_no_control_character_at_all_is_written(home: Home) -> None:
    strings = [hostile(random.Random(n)) for n in range(STRINGS)]
    evil_folder(home.folder)

    written = run(home, strings, "dumb")

    assert controls(written) == set()
    assert HIDDEN.findall(written) == []
    escapes = sum(text.count("\x1b") for text in strings)
    assert written.count("␛") >= escapes > STRINGS // 2


HOSTILE = "\x1b[31mred\x1b]0;t\x07 \x9b2J \u202egnp.\u2066"
COMMANDS = [
    ["chats", "list"], ["chats", "show", "last"], ["chats", "show", "last", "--json"], ["chats", "search", "red"],
    ["chats", "export", "last"], ["search", "word"], ["links", "--check"], ["links", "evil"], ["links", "--dot"],
    ["status"], ["references"], ["tokens", "evil.md", "-m", f"gpt-5{HOSTILE}"], ["explain"], ["explain", "--bytes"],
    ["cost", "--detail"], ["doctor"], ["links", HOSTILE], [HOSTILE],
]  # fmt: skip


@pytest.mark.slow
def test_no_command_prints_a_control_character(home: Home) -> None:
    """Hostile names of notes, models and chats, hostile text in notes and answers; a person looks at all of it."""
    evil_folder(home.folder)
    (home.folder / "evil.md").write_text(
        f"# {HOSTILE}\n\nword [[{HOSTILE}]] and [[\x1b[5mblink]]\n"
    )
    with FaultProvider([head(), said(HOSTILE), finished(), DONE]) as provider:
        user = replace(
            home,
            environment={
                **home.environment,
                "OPENAI_BASE_URL": f"{provider.url}/v1",
                "SILL_MODEL": f"m{HOSTILE}",
                "SILL_PROBE": "false",
                "SILL_TOKENIZER": "o200k_base",
                "SILL_WINDOW": "8192",
            },
        )
        user.sill("ask", f"{HOSTILE} [[evil]]", "-f", "evil.md")

        leaked = {}
        for arguments in COMMANDS:
            terminal = start(user, *arguments, TERM="dumb")
            terminal.ended()
            assert terminal.written.strip(), arguments
            if controls(terminal.written) or HIDDEN.findall(terminal.written):
                leaked[" ".join(arguments)] = terminal.written

    assert leaked == {}


@pytest.mark.slow
def test_in_a_styled_terminal_only_what_sill_writes_for_harmless_text_too(home: Home) -> None:
    evil_folder(home.folder)
    harmless = run(home, ["word **bold** `code`"] * (STRINGS // 20), "xterm-256color")

    written = run(home, [hostile(random.Random(n)) for n in range(STRINGS)], "xterm-256color")

    # A cursor that goes one column to the left is written as a backspace; whether one does depends on how fast
    # keys arrive. That none of a text's own comes through is seen in plain mode.
    assert controls(written) - controls(harmless) - {"\b"} == set()
    assert HIDDEN.findall(written) == []
