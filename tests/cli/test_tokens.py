"""``sill tokens`` needs no server: known names are counted here."""

import json
import os
import subprocess
import sys

import pytest
from click.testing import CliRunner

from sill.cli import tokens
from sill.cli.tokens import command
from sill.errors import UsageError


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder of files and nobody's settings."""
    for name in ("XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_DATA_HOME", "HOME"):
        monkeypatch.setenv(name, str(tmp_path / "home"))
    for name in list(os.environ):
        if name.startswith(("SILL_", "LLM_", "OPENAI_")):
            monkeypatch.delenv(name)
    (tmp_path / "a.md").write_text("hello world")
    (tmp_path / "b.py").write_text("x = 1\n")
    (tmp_path / "blob.bin").write_bytes(b"\x00\x01\x02")
    (tmp_path / "old.txt").write_bytes("caf\xe9".encode("latin-1"))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(*arguments, stdin=None):
    return CliRunner().invoke(command, arguments, input=stdin, standalone_mode=False)


def test_one_model_is_one_object(folder):
    result = run("a.md", "b.py", "--json", "-m", "gpt-5")

    assert json.loads(result.stdout) == {
        "model": "gpt-5",
        "tokenizer": "o200k_base",
        "kind": "exact",
        "files": [{"path": "a.md", "tokens": 2}, {"path": "b.py", "tokens": 5}],
        "total": 7,
        "window": 400_000,
    }


def test_several_models_are_a_list_of_objects(folder):
    result = run("a.md", "--json", "-m", "gpt-5", "-m", "devstral-small-2", "-m", "unheard-of")

    shown = [(one["model"], one["tokenizer"], one["kind"]) for one in json.loads(result.stdout)]
    assert shown == [
        ("gpt-5", "o200k_base", "exact"),
        ("devstral-small-2", "tekken", "exact"),
        ("unheard-of", "estimate", "estimate"),
    ]


def test_people_get_a_table_with_totals_and_fits(folder):
    (folder / "long.txt").write_text("word " * 9_000)

    result = run("a.md", "long.txt", "-m", "gpt-4", "-m", "unheard-of")

    assert [line.split() for line in result.stdout.splitlines()] == [
        ["gpt-4", "fits", "unheard-of", "fits", "file"],
        ["2", "yes", "~2", "?", "a.md"],
        ["9,001", "no", "~9,180", "?", "long.txt"],
        ["9,003", "no", "~9,182", "?", "total"],
    ]


def test_standard_input_is_a_dash(folder):
    result = run("-", "--json", "-m", "gpt-5", stdin="hello world")

    assert json.loads(result.stdout)["files"] == [{"path": "-", "tokens": 2}]


def test_files_that_are_not_text_are_named_and_the_rest_is_counted(folder):
    result = run("blob.bin", "a.md", "old.txt", "missing.md", ".", "--json", "-m", "gpt-5")

    assert result.return_value == 1
    assert json.loads(result.stdout)["files"] == [{"path": "a.md", "tokens": 2}]
    assert [line for line in result.stderr.splitlines() if line.startswith("sill:")] == [
        "sill: blob.bin: looks like a binary file",
        "sill: old.txt: not UTF-8 text (byte 3)",
        "sill: missing.md: there is no such file",
        "sill: .: is a folder",
    ]


def test_the_model_of_the_settings_counts(folder, monkeypatch):
    monkeypatch.setenv("SILL_MODEL", "devstral-small-2")

    assert json.loads(run("a.md", "--json").stdout)["tokenizer"] == "tekken"


@pytest.mark.parametrize("name", ["", "  "])
def test_a_model_without_a_name_is_refused(folder, name):
    result = run("a.md", "-m", "gpt-5", "-m", name)

    assert isinstance(result.exception, UsageError)
    assert result.stdout == ""


def test_of_too_much_on_standard_input_no_part_is_counted(folder, monkeypatch):
    monkeypatch.setattr(tokens, "LARGEST", 10)
    whole, more = run("-", "--json", stdin="ten bytes."), run("-", "--json", stdin="ten bytes.\n")

    assert json.loads(whole.stdout)["files"] == [{"path": "-", "tokens": 3}]
    assert json.loads(more.stdout)["files"] == []
    assert "sill: -: has more bytes than the limit of 10" in more.stderr


def test_an_endpoint_that_is_away_does_not_matter(folder):
    result = run("a.md", "--json", "-m", "gpt-5", "--base-url", "http://127.0.0.1:9/v1")

    assert json.loads(result.stdout)["total"] == 2


def test_importing_sill_loads_no_tokenizer():
    check = (
        "import sys, sill, sill.adapters.tokens, sill.cli.main, sill.core.formats;"
        "print([m for m in ('splintr','tokenizers','tiktoken','httpx','jinja2') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", check], capture_output=True, text=True, check=True)

    assert done.stdout.strip() == "[]"
