"""Golden screens: what a person sees, to the character.

    SILL_SCREENS=write pytest tests/cli/test_screens.py

writes them anew; look at the difference before you commit it.
"""

import json
import os
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.models.fault_provider import DONE, FaultProvider, Step, finished, head, said

from .conftest import Home
from .terminal import Terminal, start

SCREENS = Path(__file__).parent / "screens"
ANSWER = """\
## The second dome

It holds because of **three** things, see `measures.py`:

1. sand, two parts
2. clay, one part
   - sieved

```python
def mix(sand: int, clay: int) -> float:
    return sand / clay
```

| part | kilos |
|------|------:|
| sand |    80 |
| clay |    40 |

> Let it dry for a month.
"""
MILK = {
    "op": "replace",
    "target_file": "list.md",
    "target": "anchor",
    "anchor": "milk",
    "content": "oat milk",
}
SHOUT = {**MILK, "anchor": "nails", "content": "screws"}
PROPOSAL = json.dumps({"assistant_message": "Oats, and screws.", "ops": [MILK, SHOUT]})
LIST = (
    "# Shopping\n\n- milk\n- bread\n" + "\n".join(f"- thing {n}" for n in range(9)) + "\n- nails\n"
)


def answered(terminal: Terminal) -> None:
    terminal.ask("Why does [[Bread oven#Second dome]] hold, and what of [[Nothing]]?")
    terminal.sees("📚 Referenced documents").prompted(2)


def explained(terminal: Terminal) -> None:
    answered(terminal)
    terminal.press("\x0c").ask(":context").sees("by o200k_base").prompted(2)


def completed(terminal: Terminal) -> None:
    terminal.press("Look at [[").sees("Bread oven").press("bre").sees("[[bre")
    terminal.until(lambda: any("Bread oven" in line for line in terminal.lines[2:4]), "the menu")


def proposed(terminal: Terminal) -> None:
    terminal.ask(":edit Use oats and screws @list.md").sees("(1 of 2)?")
    terminal.press("y\r").sees("(2 of 2)?").press("?\r").sees("change it in the editor")
    terminal.press("n\r").sees("applied: list.md").prompted(2)


def mistaken(terminal: Terminal) -> None:
    terminal.ask(":modle").sees("did you mean").prompted(2)
    terminal.ask(":open 7").sees("there is no source 7").prompted(3)
    terminal.ask(":files add nothing.md").sees("there is no such file").prompted(4)
    terminal.ask("/files add list.md").sees("goes with the next message").prompted(5)
    terminal.ask("/files").prompted(6)


def helped(terminal: Terminal) -> None:
    terminal.ask(":help /cost").sees("how well it was predicted").prompted(2)
    terminal.ask(":help modle").sees("there is no command").prompted(3)


SCENES: dict[str, tuple[Callable[[Terminal], None], str, int]] = {
    "answer": (answered, ANSWER, 34),
    "context": (explained, ANSWER, 24),
    "completion": (completed, ANSWER, 12),
    "proposal": (proposed, PROPOSAL, 44),
    "mistakes": (mistaken, ANSWER, 20),
    "help": (helped, ANSWER, 12),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", SCENES)
def test_the_screen_is_as_it_was(name: str, home: Home) -> None:
    act, says, rows = SCENES[name]
    with FaultProvider(spoken(says)) as provider:
        terminal = start(prepared(home, provider), rows=rows, columns=90)
        try:
            terminal.prompted().sees("tokens (exact)")
            act(terminal)
            shown = masked(terminal.lines, is_ledger=name == "context")
            terminal.press("\x15:quit\r").ended()
        finally:
            terminal.child.close(force=True)
    golden = SCREENS / f"{name}.txt"
    if os.environ.get("SILL_SCREENS") == "write":
        golden.write_text(shown)

    assert shown == golden.read_text()


def spoken(text: str) -> list[Step]:
    """The text in small pieces, and no word about tokens."""
    pieces = [said(piece) for piece in re.findall(r".{1,17}", text, re.DOTALL)]
    return [head(), *pieces, finished(), DONE]


def prepared(home: Home, provider: FaultProvider) -> Home:
    (home.folder / "Oven").mkdir()
    (home.folder / "Oven" / "Bread oven.md").write_text(
        "# Bread oven\n\nMade of clay in May.\n\n## Second dome\n\nIt stands since June.\n"
    )
    (home.folder / "list.md").write_text(LIST)
    environment: dict[str, Any] = {
        "OPENAI_BASE_URL": f"{provider.url}/v1",
        "OPENAI_API_KEY": "k",
        "SILL_MODEL": "some-model",
        "SILL_PROBE": "false",
        "SILL_TOKENIZER": "o200k_base",
        "SILL_WINDOW": "8192",
        "LLM_CHAT_TOOLS": "false",
    }
    return replace(home, environment={**home.environment, **environment})


def masked(lines: list[str], *, is_ledger: bool) -> str:
    """Without what is another one every time, and without the numbers of plans: they are tested elsewhere."""
    lines = [
        re.sub(r" *≤?\d[\d,.]*", " N", line) if is_ledger or "▱" in line else line for line in lines
    ]
    text = "\n".join(lines).rstrip() + "\n"
    text = re.sub(r"127\.0\.0\.1:\d+", "127.0.0.1:PORT", text)
    return re.sub(r"\b[0-9a-f]{16}\b", "ID", text)
