"""`sill doctor`: what is wrong, and what to do about it."""

import json

import pytest

from sill.cli.checks import Check, _cache, examine_index, examine_permissions
from sill.core.certificate import Usage
from sill.settings import Settings
from tests.models.fault_provider import FaultProvider, head

WHATS = {"sill", "folder", "endpoint", "model", "window", "tokenizer", "template", "price", "answer", "cache",
         "drift", "database", "index", "permission"}  # fmt: skip


def checks(done) -> dict[str, dict[str, str]]:
    return {check["what"]: check for check in json.loads(done.stdout)}


@pytest.mark.slow
def test_with_a_real_server_everything_is_looked_at_and_good(chosen):
    done = chosen.sill("doctor", "--json")
    found = checks(done)

    assert set(found) - {"setting"} == WHATS
    assert done.returncode == 0
    states = {
        what: found[what]["state"]
        for what in ("endpoint", "tokenizer", "template", "answer", "cache")
    }
    assert states == dict.fromkeys(states, "good")
    assert found["index"]["todo"] == "the first `sill search` makes it"


def test_nobody_answers(home):
    done = home.sill("doctor", "--json", "--base-url", "http://127.0.0.1:9/v1")
    found = checks(done)["endpoint"]

    assert done.returncode == 1
    assert (found["state"], "nobody answers" in found["text"]) == ("bad", True)
    assert "is the server running" in found["todo"]


@pytest.mark.parametrize(
    "tokenizer, message",
    [
        pytest.param("broken.json", "broken.json: not a tokenizer.json", id="none"),
        pytest.param("gone.json", "tokenizer 'gone.json' is not there", id="not there"),
    ],
)
def test_a_tokenizer_that_cannot_be_used_is_told_as_such(home, tokenizer, message):
    (home.folder / "broken.json").write_text("{")
    with FaultProvider([]) as provider:
        done = home.sill(
            "doctor",
            "--json",
            OPENAI_BASE_URL=f"{provider.url}/v1",
            SILL_MODEL="m",
            SILL_PROBE="false",
            SILL_TOKENIZER=tokenizer,
        )
    found = checks(done)["tokenizer"]

    assert (done.returncode, found["state"], bool(found["todo"])) == (1, "bad", True)
    assert message in found["text"]


def test_a_server_that_fails_is_told_with_what_to_do(home):
    with FaultProvider([head(500)]) as provider:
        done = home.sill(
            "doctor",
            "--json",
            OPENAI_BASE_URL=f"{provider.url}/v1",
            SILL_MODEL="m",
            SILL_PROBE="false",
            SILL_TOKENIZER="o200k_base",
        )
    found = checks(done)["answer"]

    assert (done.returncode, found["state"], bool(found["todo"])) == (1, "bad", True)


@pytest.mark.parametrize(
    "usage, expected",
    [
        pytest.param(Usage(100, 1, 99), Check("cache", "good", "99 of 100 prompt tokens were kept from the request before"), id="kept"),
        pytest.param(Usage(100, 1, 0), Check("cache", "note", "0 of 100 prompt tokens were kept from the request before", "long chats are evaluated anew; look for a prompt cache"), id="not kept"),
        pytest.param(Usage(100, 1), Check("cache", "note", "the endpoint does not tell what it kept of a prompt"), id="not told"),
    ],
)  # fmt: skip
def test_the_prompt_cache(usage, expected):
    assert _cache(usage) == expected


@pytest.fixture
def own(tmp_path, monkeypatch):
    for name in ("CONFIG", "DATA", "STATE", "CACHE"):
        monkeypatch.setenv(f"XDG_{name}_HOME", str(tmp_path / name))
    return tmp_path


def test_a_key_that_others_can_read_is_bad_and_the_command_that_helps_is_named(own):
    assert examine_permissions(own) == [
        Check("permission", "good", "settings, chats and history are yours alone")
    ]
    settings = own / "CONFIG" / "sill" / "sill.toml"
    settings.write_text('api_key = "k"\n')
    settings.chmod(0o644)

    text = f"{settings} can be read by others (644)"
    assert examine_permissions(own) == [
        Check("permission", "bad", text, f"chmod go-rwx {settings}")
    ]


def test_a_damaged_index_is_told_and_left_alone(own):
    from sill.adapters.vault.index import database_for

    damaged = b"no database at all, whatever its name says" * 200
    database_for(own).write_bytes(damaged)
    found = examine_index(own, Settings({}))

    assert (found.state, found.todo) == ("note", "the next search makes it anew")
    assert database_for(own).read_bytes() == damaged
