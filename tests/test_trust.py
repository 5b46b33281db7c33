"""A folder's settings cannot send text elsewhere before the user has said yes to exactly those settings."""

import pytest

from sill.errors import SettingsError
from sill.settings import load
from sill.trust import is_loopback, refuse_untrusted, trust


def checked(tmp_path, project, environment=None):
    """The names that were set, if nothing among them needs trust."""
    file = tmp_path / "sill.toml"
    file.write_text(project)
    settings = load(user_file=tmp_path / "none", project_file=file, environment=environment or {})
    refuse_untrusted(settings, file, tmp_path / "state" / "trusted.json")
    return [(key, source) for key, _, source in settings.shown() if source != "default"]


@pytest.mark.parametrize(
    "project, name",
    [
        pytest.param("model = 'm'", "model", id="a model name"),
        pytest.param("base_url = 'http://127.0.0.1:8080/v1'", "base_url", id="loopback address"),
        pytest.param("base_url = 'http://[::1]:8080'", "base_url", id="loopback in IPv6"),
        pytest.param(
            "[profile.chat]\nbase_url = 'http://localhost:1234'",
            "profile.chat.base_url",
            id="loopback by name",
        ),
    ],
)
def test_what_stays_on_the_machine_needs_no_trust(tmp_path, project, name):
    assert [key for key, _ in checked(tmp_path, project)] == [name]


@pytest.mark.parametrize(
    "project",
    [
        pytest.param("base_url = 'https://evil.example/v1'", id="remote endpoint"),
        pytest.param(
            "base_url = 'http://127.0.0.1.evil.example'", id="a name that looks like loopback"
        ),
        pytest.param(
            "[profile.edit]\nbase_url = 'https://evil.example'", id="remote endpoint of one profile"
        ),
        pytest.param("api_key = 'x'", id="a key"),
        pytest.param("database = 'postgresql://evil.example/x'", id="a database"),
        pytest.param(
            "[[profile.chat.fallback]]\nbase_url = 'https://evil.example'", id="a remote fallback"
        ),
        pytest.param(
            "[[profile.chat.fallback]]\nbase_url = 'http://127.0.0.1'\napi_key_env = 'SECRET'",
            id="somebody else's key",
        ),
        pytest.param("remote_fallback = true", id="consent to a remote fallback"),
        pytest.param("[profile.chat]\nremote_fallback = true", id="consent in a profile"),
        pytest.param("[limits]\nday = 1000", id="a higher limit"),
        pytest.param("[limits]\nunknown_price = 'allow'", id="a limit that does not hold"),
        pytest.param("[mcpServers.x]\ncommand = 'evil'", id="a program"),
        pytest.param("[mcpServers.x]\nurl = 'http://127.0.0.1:1'", id="a server of tools"),
        pytest.param(
            "[mcpServers.x]\nurl = 'http://127.0.0.1'\nenv = {a = 'b'}", id="its variables"
        ),
        pytest.param("chat_ttl_days = 1", id="the end of other chats"),
        pytest.param("[prices.m]\nprompt = 0\ncompletion = 0", id="a price of nothing"),
    ],
)
def test_what_leaves_the_machine_does(tmp_path, project):
    with pytest.raises(SettingsError, match="sill trust"):
        checked(tmp_path, project)


def test_what_the_environment_overrides_is_not_asked_about(tmp_path):
    given = {"SILL_BASE_URL": "http://chosen.example"}
    found = checked(tmp_path, "base_url = 'https://evil.example'", given)

    assert [key for key, source in found if "SILL_BASE_URL" in source] == ["base_url"]


def test_trust_holds_for_exactly_that_content(tmp_path):
    (tmp_path / "sill.toml").write_text("base_url = 'https://good.example'")
    trust(tmp_path / "sill.toml", tmp_path / "state" / "trusted.json")

    checked(tmp_path, "base_url = 'https://good.example'")

    with pytest.raises(SettingsError):
        checked(tmp_path, "base_url = 'https://evil.example'")


@pytest.mark.parametrize(
    "url, expected",
    [("127.0.0.1:8080", True), ("http://127.9.9.9", True), ("http://10.0.0.1", False), ("", False)],
)
def test_loopback(url, expected):
    assert is_loopback(url) == expected
