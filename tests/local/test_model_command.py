"""`sill model`, as people meet it."""

import json
import shutil
from pathlib import Path

import pytest

from sill.adapters.local.choice import chosen_weights
from sill.adapters.local.weights import bundled_path
from sill.cli.main import run
from sill.cli.model import model

from .files import FACTS, gguf_bytes

HINT = "give the path of a GGUF file, or a name that `sill model list` shows"


@pytest.fixture
def better(places: Path) -> Path:
    path = places / "Better-7B.gguf"
    path.write_bytes(gguf_bytes({**FACTS, "llama.context_length": 131_072}))
    return path


def said(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    """Exit code, standard output, standard error."""
    code = run(model, list(arguments))
    out, err = capsys.readouterr()
    return code, out, err


def test_before_anything_is_fetched_the_list_says_how(
    places: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert said(capsys, "list") == (
        0,
        "* SmolLM2-135M-Instruct.Q4_1  not fetched yet; `sill model pull` does it\n",
        "",
    )


def test_a_better_file_is_used_from_then_on(
    better: Path, smol_weights: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    shutil.copy(smol_weights, bundled_path())

    used = said(capsys, "use", str(better))

    assert used == (0, "", "Sill now runs Better-7B (window 16,384 tokens).\n")
    assert chosen_weights() == better
    assert said(capsys, "path") == (0, f"{better}\n", "")
    assert said(capsys, "list") == (
        0,
        f"  SmolLM2-135M-Instruct.Q4_1  98 MB, window 8,192 tokens, {bundled_path()}\n"
        f"* Better-7B                   0 MB, window 16,384 tokens, {better}\n",
        "",
    )
    assert said(capsys, "use", "smollm2")[0] == 0
    assert chosen_weights() == bundled_path()


def test_the_list_for_programs(better: Path, capsys: pytest.CaptureFixture[str]) -> None:
    said(capsys, "use", str(better))

    code, out, _ = said(capsys, "list", "--json")

    assert code == 0
    assert json.loads(out) == [
        {
            "name": "SmolLM2-135M-Instruct.Q4_1",
            "path": str(bundled_path()),
            "in_use": False,
            "window": None,
            "size": None,
            "problem": "not fetched yet; `sill model pull` does it",
        },
        {
            "name": "Better-7B",
            "path": str(better),
            "in_use": True,
            "window": 16_384,
            "size": better.stat().st_size,
            "problem": None,
        },
    ]


@pytest.mark.parametrize(
    "content, complaint",
    [
        pytest.param(
            gguf_bytes({**FACTS, "tokenizer.chat_template": ""}),
            "has no chat template\n      take an instruction-tuned (Instruct, Chat) version",
            id="no chat template",
        ),
        pytest.param(
            b"PK\x03\x04",
            "is not a GGUF file\n      give the path of a model in llama.cpp's format",
            id="not a model",
        ),
        pytest.param(
            gguf_bytes(FACTS)[:99],
            "is damaged: its header ends in the middle\n      fetch the file again",
            id="damaged",
        ),
    ],
)
def test_a_file_that_cannot_chat_is_not_taken(
    content: bytes, complaint: str, places: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = places / "bad.gguf"
    path.write_bytes(content)

    assert said(capsys, "use", str(path)) == (2, "", f"sill: {path} {complaint}\n")
    assert chosen_weights() == bundled_path()


def test_an_unknown_name_is_refused(places: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert said(capsys, "use", "gpt-5") == (
        2,
        "",
        f"sill: there is no model 'gpt-5'\n      {HINT}\n",
    )


def test_a_chosen_file_that_has_gone_is_named_and_can_be_replaced(
    better: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    said(capsys, "use", str(better))
    better.unlink()

    _, out, _ = said(capsys, "list")

    assert out.splitlines()[1] == (
        f"* Better-7B                   there are no model weights at {better}"
    )


def test_a_broken_note_does_not_stop_a_new_choice(
    better: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    note = places_note(better)
    note.parent.mkdir(parents=True, exist_ok=True)
    note.write_text("{")

    listed = said(capsys, "list")

    assert listed == (
        1,
        "",
        f"sill: {note} cannot be read\n      `sill model use` writes it anew\n",
    )
    assert said(capsys, "use", str(better))[0] == 0
    assert said(capsys, "path") == (0, f"{better}\n", "")


def places_note(better: Path) -> Path:
    return better.parent / "data_home" / "sill" / "local-model.json"
