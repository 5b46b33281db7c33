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
        pytest.param({"user": "[prices.m]\nprompt=1"}, ["user.toml", "`prices.m` lacks `completion`", "per million"], id="half a price"),
        pytest.param({"user": "[prices.m]\nprompt=-1\ncompletion=1"}, ["`prices.m.prompt` is -1", "at least 0"], id="a negative price"),
        pytest.param({"user": "[prices.m]\nprompt='1'\ncompletion=1"}, ["`prices.m.prompt`", "a number", "'1'"], id="a price in words"),
        pytest.param({"user": "[prices.m]\npromt=1\ncompletion=1"}, ["`prices.m.promt`", "did you mean `prompt`?"], id="misspelt price"),
        pytest.param({"user": "prices = 3"}, ["`prices`", '[prices."MODEL"]'], id="a price of nothing"),
        pytest.param({"user": "[[profile.chat.fallback]]\nmodel='m'"}, ["`profile.chat.fallback.1` lacks `base_url`"], id="a fallback without address"),
        pytest.param({"user": "[[profile.chat.fallback]]\nbase_url='b'\nreply=3"}, ["`profile.chat.fallback.1.reply`", "known are base_url"], id="not of a fallback"),
        pytest.param({"user": "[profile.chat.fallback]\nbase_url='b'"}, ["`profile.chat.fallback.base_url`", "[[profile.NAME.fallback]]"], id="one pair of brackets"),
        pytest.param({"user": "[[profile.chatt.fallback]]\nbase_url='b'"}, ["profile.chatt.fallback.1.base_url"], id="fallback of nobody"),
        pytest.param({"user": "[limits]\nday = -1"}, ["`limits.day` is -1", "at least 0"], id="a negative limit"),
        pytest.param({"user": "[limits]\nweek = 1"}, ["`limits.week`", "unknown setting"], id="no such limit"),
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


PRICES = """
[prices."gpt-4.1-mini"]
prompt = 0.4
completion = 1.6
[prices.other]
prompt = 0
completion = 0
"""


def test_prices_are_kept_by_model_and_replaced_whole(tmp_path):
    project = '[prices."gpt-4.1-mini"]\nprompt = 1\ncompletion = 2\ncached = 0.5'

    assert loaded(tmp_path, user=PRICES, project=project).prices() == {
        "gpt-4.1-mini": {"prompt": 1.0, "completion": 2.0, "cached": 0.5},
        "other": {"prompt": 0.0, "completion": 0.0},
    }


def test_a_name_with_dots_may_go_without_quotes(tmp_path):
    unquoted = PRICES.replace('"gpt-4.1-mini"', "gpt-4.1-mini")

    assert loaded(tmp_path, user=unquoted).prices() == loaded(tmp_path, user=PRICES).prices()


FALLBACKS = """
[[profile.chat.fallback]]
base_url = "http://one"
api_key_env = "ONE_KEY"
[[profile.chat.fallback]]
base_url = "http://two"
api_key = "sk-canary-two"
"""


def test_fallbacks_keep_their_order_and_their_keys(tmp_path):
    settings = loaded(
        tmp_path, user=FALLBACKS, environment={"ONE_KEY": "sk-canary-one", "OPENAI_API_KEY": "x"}
    )
    names = settings.fallbacks("chat")

    assert [settings.get(f"{name}.base_url", str) for name in names] == ["http://one", "http://two"]
    assert [settings.get(f"{name}.api_key", str) for name in names] == [
        "sk-canary-one",
        "sk-canary-two",
    ]
    assert "sk-canary" not in str(list(settings.shown()))
    assert settings.fallbacks("edit") == ()


def test_a_project_replaces_the_whole_list_of_fallbacks(tmp_path):
    settings = loaded(
        tmp_path, user=FALLBACKS, project="[[profile.chat.fallback]]\nbase_url = 'http://p'"
    )

    assert settings.fallbacks("chat") == ("profile.chat.fallback.1",)
    assert settings.get("profile.chat.fallback.1.base_url", str) == "http://p"
    assert settings.get("profile.chat.fallback.1.api_key_env", str) is None


def test_limits_have_variables_of_their_own(tmp_path):
    settings = loaded(tmp_path, environment={"SILL_LIMITS_DAY": "2.5"})

    assert settings.get("limits.day", float) == 2.5


# --- Servers of tools ------------------------------------------------------------------------------


def test_a_server_of_tools_is_read_like_in_other_programs(tmp_path):
    file = tmp_path / "sill.toml"
    file.write_text(
        '[mcpServers.a-1]\ncommand = "x"\nargs = ["-v", "two words"]\nenv = { KEY = "${KEY}" }\n'
        '[mcpServers.b]\nurl = "http://127.0.0.1:1/mcp"\ntimeout = 5\nenabled = false\n'
    )
    settings = load(user_file=file, project_file=None, environment={"KEY": "secret"})

    assert settings.mcp_servers() == {
        "a-1": {"command": "x", "args.1": "-v", "args.2": "two words", "env.KEY": "${KEY}"},
        "b": {"url": "http://127.0.0.1:1/mcp", "timeout": 5.0, "enabled": False},
    }
    assert ("mcpServers.a-1.env.KEY", "(set)") in [row[:2] for row in settings.shown()]


def test_a_projects_server_replaces_the_users_whole(tmp_path):
    user, project = tmp_path / "user.toml", tmp_path / "sill.toml"
    user.write_text('[mcpServers.a]\ncommand = "x"\nenv = { KEY = "k" }\n')
    project.write_text('[mcpServers.a]\nurl = "http://127.0.0.1:1"\n')

    settings = load(user_file=user, project_file=project, environment={})

    assert settings.mcp_servers() == {"a": {"url": "http://127.0.0.1:1"}}


@pytest.mark.parametrize(
    "text, told",
    [
        pytest.param("[mcpServers.a]\nargs = ['x']", "needs `command` or `url`", id="neither"),
        pytest.param("[mcpServers.a]\ncommand = 'x'\nurl = 'y'", "needs `command` or", id="both"),
        pytest.param("[mcpServers.a]\ncomand = 'x'", "did you mean `command`", id="a slip"),
        pytest.param("[mcpServers.a]\ncommand = 'x'\nargs = [1]", "must be text", id="a number"),
        pytest.param("mcpServers = 1", "with command and args", id="no table"),
        pytest.param("[mcpServers]\ncommand = 'x'", "with command and args", id="no name"),
    ],
)
def test_a_wrong_server_of_tools_is_named(tmp_path, text, told):
    file = tmp_path / "sill.toml"
    file.write_text(text)

    with pytest.raises(SettingsError) as caught:
        load(user_file=file, project_file=None, environment={})

    assert told in str(caught.value)
