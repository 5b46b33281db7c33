"""``sill users`` and what `sill serve` refuses to start with."""

import json

import pytest
from click.testing import CliRunner

from sill.cli.main import cli

PASSWORD = "correct horse battery\n"


@pytest.fixture
def sill(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def call(*arguments: str, typed: str = ""):
        return CliRunner().invoke(cli, [*arguments, "--db", str(tmp_path / "sill.db")], input=typed)

    return call


def test_people_are_added_listed_changed_and_removed(sill):
    assert sill("users", "add", "Ann", "--role", "admin", typed=PASSWORD).exit_code == 0
    assert sill("users", "add", "bob", "--no-password").exit_code == 0
    assert sill("users", "role", "bob", "viewer").output == "bob has the role viewer now.\n"
    listed = [json.loads(line) for line in sill("users", "list", "--json").output.splitlines()]

    assert [(one["name"], one["role"], one["has_password"]) for one in listed] == [
        ("ann", "admin", True),
        ("bob", "viewer", False),
    ]
    assert "removed, with 0 chats" in sill("users", "remove", "bob", "--with-chats").output
    assert "bob" not in sill("users", "list").output


def test_a_token_is_shown_once_and_can_be_taken_back(sill):
    sill("users", "add", "bob", "--no-password")
    token = sill("users", "token", "bob", "--label", "laptop", "--days", "3").output.strip()
    listed = sill("users", "token", "bob", "--list").output

    assert token.startswith("sill_")
    assert "laptop" in listed and token not in listed
    assert sill("users", "token", "bob", "--revoke", listed.split()[0]).exit_code == 0
    assert sill("users", "token", "bob", "--list").output == ""


@pytest.mark.parametrize(
    "arguments, typed, problem",
    [
        pytest.param(["add", "bob"], "short\n", "at least 10 characters", id="a short password"),
        pytest.param(["add", "bob"], "\n", "at least 10 characters", id="an empty password"),
        pytest.param(
            ["add", "B b", "--no-password"], "", "cannot be a user's name", id="a bad name"
        ),
        pytest.param(["remove", "carl"], "", "there is no user carl", id="nobody of that name"),
        pytest.param(["token", "ann", "--revoke", "x"], "", "has no token x", id="no such token"),
        pytest.param(["add", "ann", "--no-password"], "", "already", id="twice"),
    ],
)
def test_mistakes_are_named(sill, arguments, typed, problem):
    sill("users", "add", "ann", "--no-password")
    done = sill("users", *arguments, typed=typed)

    assert problem in str(done.exception)


@pytest.mark.parametrize(
    "arguments, problem",
    [
        pytest.param(["--workers", "2"], "only a server for several people", id="workers alone"),
        pytest.param(["--host", "0.0.0.0"], "only a server for several people", id="another address"),
        pytest.param(["--multi-user"], "under which name", id="no name"),
        pytest.param(["--multi-user", "--name", "n"], "need TLS", id="in the clear"),
        pytest.param(["--multi-user", "--name", "n", "--behind-proxy"], "no admin with a password", id="nobody"),
    ],
)  # fmt: skip
def test_an_unsafe_server_does_not_start(sill, arguments, problem):
    assert problem in str(sill("serve", *arguments).exception)
