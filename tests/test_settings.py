"""Settings: which value wins, where it came from, and how mistakes are named."""

import pytest

from sill.errors import SettingsError
from sill.settings import Settings, Value, find_project_file, load


def loaded(tmp_path, *, user="", project="", environment=None, flags=None) -> Settings:
    (tmp_path / "user.toml").write_text(user)
    (tmp_path / "sill.toml").write_text(project)
    return load(
        user_file=tmp_path / "user.toml",
        project_file=tmp_path / "sill.toml",
        environment=environment or {},
        flags=flags,
    )


@pytest.mark.parametrize(
    "given, model, source",
    [
        pytest.param({}, None, "default", id="nothing set"),
        pytest.param({"user": "model='u'"}, "u", "user file", id="the user's file"),
        pytest.param({"user": "model='u'", "project": "model='p'"}, "p", "project file", id="project over user"),
        pytest.param({"project": "model='p'", "environment": {"SILL_MODEL": "e"}}, "e", "environment", id="environment"),
        pytest.param({"environment": {"SILL_MODEL": "e"}, "flags": {"model": "f"}}, "f", "flag", id="a flag beats all"),
        pytest.param({"environment": {"SILL_MODEL": "e"}, "flags": {"model": None}}, "e", "environment", id="a flag not given"),
        pytest.param({"environment": {"SILL_MODEL": ""}}, None, "default", id="an empty variable is not set"),
    ],
)  # fmt: skip
def test_the_nearer_source_wins(tmp_path, given, model, source):
    settings = loaded(tmp_path, **given)

    assert (settings.get("model", str), settings.value("model").origin) == (model, source)


def test_the_source_names_file_variable_or_flag(tmp_path):
    settings = loaded(
        tmp_path,
        user="window = 4096",
        environment={"OPENAI_BASE_URL": "http://x"},
        flags={"model": "m"},
    )

    assert [settings.value(key).source for key in ("window", "base_url", "model")] == [
        f"user file {tmp_path / 'user.toml'}",
        "environment OPENAI_BASE_URL",
        "flag --model",
    ]


def test_sills_own_variable_goes_before_the_common_one(tmp_path):
    settings = loaded(
        tmp_path, environment={"OPENAI_BASE_URL": "http://a", "SILL_BASE_URL": "http://b"}
    )

    assert settings.value("base_url") == Value("http://b", "environment", "SILL_BASE_URL")


def test_a_profile_falls_back_to_the_general_value(tmp_path):
    settings = loaded(
        tmp_path,
        user="model = 'general'\n[profile.edit]\nmodel = 'editor'",
        environment={"LLM_CHAT_OPS_REPLY": "900"},
    )

    assert settings.of_profile("chat", "model", str) == "general"
    assert settings.of_profile("edit", "model", str) == "editor"
    assert settings.of_profile("chat_ops", "reply", int) == 900
    assert settings.of_profile("chat", "reply", int) is None


@pytest.mark.parametrize(
    "given, words",
    [
        pytest.param({"user": "modle = 'x'"}, ["user.toml", "`modle`", "did you mean `model`?"], id="misspelt key"),
        pytest.param({"project": "[profile.chatt]\nreply=1"}, ["sill.toml", "profile.chatt.reply"], id="unknown profile"),
        pytest.param({"user": "window = '4k'"}, ["`window`", "whole number", "'4k'"], id="wrong type"),
        pytest.param({"user": "window = 4"}, ["`window` is 4", "at least 256"], id="too small"),
        pytest.param({"user": "probe = 1"}, ["`probe`", "true or false"], id="a number is not a yes"),
        pytest.param({"user": "window = true"}, ["`window`", "whole number"], id="a yes is not a number"),
        pytest.param({"user": "model = ["}, ["user.toml", "not valid TOML"], id="malformed"),
        pytest.param({"user": "[profile.chat]\nlayout='x'"}, ["folded, separate"], id="not a choice"),
        pytest.param({"environment": {"SILL_WINDOW": "lots"}}, ["SILL_WINDOW=lots", "not a number"], id="variable"),
        pytest.param({"environment": {"SILL_PROBE": "maybe"}}, ["SILL_PROBE=maybe", "true or false"], id="not a yes or no"),
        pytest.param({"environment": {"LLM_CHAT_MODLE": "x"}}, ["LLM_CHAT_MODLE", "did you mean LLM_CHAT_MODEL?"], id="misspelt variable"),
    ],
)  # fmt: skip
def test_a_mistake_is_named(tmp_path, given, words):
    with pytest.raises(SettingsError) as caught:
        loaded(tmp_path, **given)

    assert [word for word in words if word not in str(caught.value)] == []
    assert "\n" not in str(caught.value)


def test_a_file_that_is_not_text_is_named(tmp_path):
    (tmp_path / "user.toml").write_bytes(b"\xff\xfe")

    with pytest.raises(SettingsError, match=r"user\.toml: not UTF-8 text"):
        load(user_file=tmp_path / "user.toml", project_file=None, environment={})


def test_secrets_are_never_shown(tmp_path):
    settings = loaded(tmp_path, environment={"OPENAI_API_KEY": "sk-canary"})

    assert ("api_key", "(set)", "environment OPENAI_API_KEY") in list(settings.shown())
    assert "sk-canary" not in str(list(settings.shown()))


def test_the_project_file_is_looked_for_upward_but_not_above_home(tmp_path, monkeypatch):
    home = tmp_path / "home"
    deep = home / "notes" / "deep"
    deep.mkdir(parents=True)
    (tmp_path / "sill.toml").write_text("")
    monkeypatch.setenv("HOME", str(home))

    assert find_project_file(deep) is None

    (home / "notes" / "sill.toml").write_text("")

    assert find_project_file(deep) == home / "notes" / "sill.toml"
