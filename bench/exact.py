"""How often a count is the true one: against the library that defines each vocabulary, a real server, recorded bills.

    python bench/exact.py [--json] [--texts 2000] [--requests 40] [--bills FILE]

Texts are hard ones: every kind of character in every kind of neighbourhood. Beside Sill stand the two ways in which
others count what they have no tokenizer for: characters divided by four, and OpenAI's cl100k_base for every model (what
mojentic's gateway does unless told otherwise). The server is llama.cpp with the two-layer cut; each request goes
through the library, with a note along, and its bill is compared with the prediction. FILE holds requests whose prompt
tokens services have published, ``{"group": [{"id", "model", "messages", …, "prompt_tokens"}]}``.
"""

import argparse
import asyncio
import json
import os
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from _shape import finish, show

import sill
from sill.adapters.local.cut import cut_path
from sill.adapters.local.supervise import open_local
from sill.adapters.tokens import counter_for
from sill.adapters.tokens._vocabularies import vocabulary
from tests.tokens import references
from tests.tokens.texts import hard_texts

REFERENCES: dict[str, Callable[[], references.Encode]] = {
    "o200k_base": lambda: references.official("o200k_base"),
    "cl100k_base": lambda: references.official("cl100k_base"),
    "llama3": lambda: references.official("llama3"),
    "tekken": references.tekken,
    "deepseek": references.deepseek,
}


def quarter(text: str) -> int:
    return len(text) // 4


def cl100k(text: str) -> int:
    return len(references.official("cl100k_base")(text))


# --- Vocabularies ---------------------------------------------------------------------------------


def of_vocabulary(name: str, texts: Sequence[str]) -> dict[str, Any]:
    """Which share of the texts each way of counting gets right."""
    encode = REFERENCES[name]()
    true = [len(encode(text)) for text in texts]

    def share(count: Callable[[str], int]) -> float:
        right = sum(count(text) == tokens for text, tokens in zip(texts, true, strict=True))
        return round(right / len(texts), 4)

    return {
        "texts": len(texts),
        "equal": share(vocabulary(name).count),
        "cl100k": share(cl100k),
        "quarter": share(quarter),
    }


# --- A real server --------------------------------------------------------------------------------


def on_server(requests: int) -> dict[str, Any]:
    """The largest difference between what was predicted and what the server billed, of so many questions."""
    with tempfile.TemporaryDirectory() as name, open_local(cut_path()) as server:
        home, notes = Path(name) / "home", Path(name) / "notes"
        notes.mkdir()
        os.environ.update(HOME=str(home), XDG_DATA_HOME=str(home), XDG_STATE_HOME=str(home))
        settings = {
            "base_url": server.base_url,
            "api_key": server.api_key,
            "profile.chat.reply": 8,
            "recall": False,
        }
        with sill.open(notes, settings=settings) as workspace:
            rows = [asked(workspace, notes, text) for text in hard_texts(requests, seed=5)]
    billed = [row for row in rows if row is not None]
    return {
        "requests": len(billed),
        "drift": max(abs(row["drift"]) for row in billed),
        "cl100k": max(row["cl100k"] for row in billed),
        "quarter": max(row["quarter"] for row in billed),
    }


def asked(workspace: sill.Workspace, notes: Path, text: str) -> dict[str, int] | None:
    """How far each way of counting was from the bill of one question; None where it was not billed."""
    # A file with control characters is taken for a binary one.
    plain = "".join(sign for sign in text[:1_000] if sign.isprintable() or sign == "\n")
    (notes / "note.md").write_text(plain, encoding="utf-8", errors="replace")
    answer = workspace.ask(f"What is this? {text[:200]!r}", files=["note.md"])
    certificate = answer.certificate
    if answer.turn is None or certificate is None or certificate.actual is None:
        return None
    request = json.loads(workspace.explain(answer.turn).request)
    said = "".join(message["content"] for message in request["messages"])
    assert certificate.drift is not None
    return {
        "drift": certificate.drift,
        "cl100k": abs(certificate.actual - cl100k(said)),
        "quarter": abs(certificate.actual - quarter(said)),
    }


# --- Bills ----------------------------------------------------------------------------------------


async def of_bills(cases: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Requests that services have billed: how many we count too low, and how far above the others are."""
    low = exact = 0
    over, others = [], []
    for case in cases:
        counter = (await counter_for(case["model"])).counter
        counts = await counter.count_body(case)
        billed = case["prompt_tokens"]
        low += counts.tokens[0] < billed
        exact += counts.tokens[0] == billed
        over.append(counts.tokens[0] / billed - 1)
        said = "".join(str(message.get("content") or "") for message in case["messages"])
        others.append(quarter(said) < billed)
    return {
        "bills": len(cases),
        "too_low": low,
        "exact": round(exact / len(cases), 4),
        "mean_over": round(sum(over) / len(over), 4),
        "quarter_too_low": sum(others),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--texts", type=int, default=2_000)
    parser.add_argument("--requests", type=int, default=40)
    parser.add_argument("--bills", type=Path)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    texts = list(hard_texts(options.texts, seed=3))
    found = {name: of_vocabulary(name, texts) for name in REFERENCES}
    show(
        f"Counted to the token, of {len(texts)} texts",
        ["vocabulary", "Sill", "cl100k for all", "characters / 4"],
        [[name, row["equal"], row["cl100k"], row["quarter"]] for name, row in found.items()],
    )
    server = on_server(options.requests)
    show(
        f"Tokens off the bill of a real server at most, of {server['requests']} requests",
        ["", "Sill", "cl100k for all", "characters / 4"],
        [["", server["drift"], server["cl100k"], server["quarter"]]],
    )
    bills: dict[str, Any] | str = "no bills were given"
    if options.bills:
        groups = json.loads(options.bills.read_text()).values()
        bills = asyncio.run(of_bills([case for group in groups for case in group]))
        show("Recorded bills", list(bills), [list(bills.values())])
    finish({"bench": "exact", "vocabularies": found, "server": server, "bills": bills})


if __name__ == "__main__":
    main()
