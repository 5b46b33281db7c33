import pytest

from sill.adapters.models.endpoints import Endpoint, is_local_host, parse_endpoint
from sill.core.request import ChatRequest
from sill.errors import SettingsError


@pytest.mark.parametrize(
    "written, root, api",
    [
        pytest.param("http://h:1", "http://h:1", "http://h:1/v1", id="bare"),
        pytest.param("http://h:1/", "http://h:1", "http://h:1/v1", id="slash"),
        pytest.param("  http://h:1/v1/ ", "http://h:1", "http://h:1/v1", id="v1"),
        pytest.param("h:1", "http://h:1", "http://h:1/v1", id="no scheme"),
        pytest.param("localhost", "http://localhost", "http://localhost/v1", id="a host alone"),
        pytest.param("http://[::1]:8080", "http://[::1]:8080", "http://[::1]:8080/v1", id="IPv6"),
        pytest.param("http://h/v1/chat/completions", "http://h", "http://h/v1", id="a request URL"),
        pytest.param("http://h/api/chat", "http://h", "http://h/v1", id="Ollama's request URL"),
        pytest.param("https://openrouter.ai/api/v1", "https://openrouter.ai/api", "https://openrouter.ai/api/v1", id="OpenRouter"),
        pytest.param("https://api.z.ai/api/paas/v4/", "https://api.z.ai/api/paas", "https://api.z.ai/api/paas/v4", id="another version"),
        pytest.param(
            "https://generativelanguage.googleapis.com/v1beta/openai/",
            "https://generativelanguage.googleapis.com/v1beta/openai",
            "https://generativelanguage.googleapis.com/v1beta/openai",
            id="Gemini",
        ),
    ],
)  # fmt: skip
def test_base_urls_as_people_write_them(written, root, api):
    assert parse_endpoint(written) == Endpoint(root, api)


@pytest.mark.parametrize(
    "written",
    ["", "ftp://h", "http://", "http://h:port", "http://me:sk-canary@h", "http://h/v1?key=sk-canary", "http://h/#a"],
)  # fmt: skip
def test_what_is_no_base_url_is_refused_without_repeating_it(written):
    with pytest.raises(SettingsError) as caught:
        parse_endpoint(written)

    assert "canary" not in f"{caught.value}{caught.value.__context__}"


@pytest.mark.parametrize(
    "host, is_local",
    [
        ("localhost", True),
        ("127.0.0.1", True),
        ("127.9.9.9", True),
        ("::1", True),
        ("192.168.1.4", True),
        ("10.0.0.1", True),
        ("fe80::1%eth0", True),
        ("8.8.8.8", False),
        ("api.openai.com", False),
        ("localhost.example.com", False),
        ("gpu-box", False),
    ],
)
def test_only_addresses_of_this_machine_and_private_networks_are_local(host, is_local):
    assert is_local_host(host) is is_local


@pytest.mark.parametrize(
    "url, name",
    [
        ("https://api.openai.com/v1", "max_completion_tokens"),
        ("https://mine.openai.azure.com/openai/v1", "max_completion_tokens"),
        ("https://openrouter.ai/api/v1", "max_tokens"),
        ("http://127.0.0.1:8080", "max_tokens"),
    ],
)
def test_the_reply_limit_has_the_name_the_endpoint_knows(url, name):
    request = ChatRequest("m", (), 9, limit_name=parse_endpoint(url).limit_name)

    assert (parse_endpoint(url).limit_name, request.body()[name]) == (name, 9)
