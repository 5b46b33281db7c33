"""Who finds by meaning is a setting, and the model's key goes to no other host."""

from pathlib import Path

import pytest

from sill.app.embedding import embedder_of
from sill.errors import SettingsError
from sill.settings import load
from sill.trust import refuse_untrusted

NO_FILE = Path("no-such-file.toml")
KEYED = {"OPENAI_API_KEY": "secret"}


def settings(environment=None, **flags):
    return load(user_file=NO_FILE, project_file=None, environment=environment or {}, flags=flags)


@pytest.mark.parametrize(
    "flags, expected",
    [
        pytest.param({"embedder": "none"}, None, id="none"),
        pytest.param(
            {"embedder": "http://localhost:1/v1", "embed_model": "e"},
            "http://localhost:1/v1#e",
            id="an address",
        ),
    ],
)
def test_the_embedder_is_the_one_of_the_settings(flags, expected):
    found = embedder_of(settings(**flags))

    assert (found.name if found else None) == expected


@pytest.mark.parametrize(
    "flags, sent",
    [
        pytest.param({"embedder": "https://api.openai.com"}, "secret", id="its own host"),
        pytest.param({"embedder": "https://elsewhere.example"}, None, id="another host"),
        pytest.param(
            {"embedder": "https://a.example", "base_url": "https://a.example/v1"},
            "secret",
            id="the model's endpoint",
        ),
        pytest.param(
            {"embedder": "https://api.openai.com", "base_url": "https://a.example/v1"},
            None,
            id="not the model's endpoint",
        ),
        pytest.param(
            {"embedder": "https://elsewhere.example", "embed_api_key": "other"},
            "other",
            id="a key of its own",
        ),
    ],
)
def test_a_key_goes_to_the_host_it_is_for(flags, sent):
    embedder = embedder_of(settings(KEYED, embed_model="e", **flags))

    header = embedder._client.headers.get("Authorization")
    assert header == (f"Bearer {sent}" if sent else None)


@pytest.mark.parametrize(
    "line, is_refused",
    [
        pytest.param('embedder = "https://elsewhere.example"', True, id="elsewhere"),
        pytest.param('embed_api_key = "k"', True, id="a key"),
        pytest.param('embedder = "http://127.0.0.1:9"', False, id="this machine"),
        pytest.param('embedder = "none"', False, id="none at all"),
    ],
)
def test_a_folder_cannot_send_its_notes_elsewhere_unasked(tmp_path, line, is_refused):
    file = tmp_path / "sill.toml"
    file.write_text(line + "\n")
    found = load(user_file=NO_FILE, project_file=file, environment={})

    try:
        refuse_untrusted(found, file, tmp_path / "trusted.json")
        refused = False
    except SettingsError:
        refused = True

    assert refused == is_refused
