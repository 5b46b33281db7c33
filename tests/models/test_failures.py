"""Every fault becomes one line that says what happened and one that says what to do."""

from typing import get_args

import pytest

from sill.adapters.models.failures import to_error
from sill.core.faults import Fault, Kind

AT = "http://127.0.0.1:8080/v1"

WORDS = [
    pytest.param(
        Fault("unreachable", "connection refused"),
        f"nobody answers at {AT}: connection refused (is the server running, and is the base URL right?)",
        id="server down",
    ),
    pytest.param(
        Fault("silent", "600 s"),
        f"{AT} took the request but did not answer in time: 600 s"
        " (is the server busy or stuck? look at its log, or allow more time)",
        id="server that hangs",
    ),
    pytest.param(
        Fault("key", "Invalid API Key", 401),
        f"{AT} refused the API key"
        " (check OPENAI_API_KEY; it may be wrong, expired or not allowed to use this model)",
        id="wrong key",
    ),
    pytest.param(
        Fault("model", "", 404),
        f"{AT} does not have the model 'm'"
        f" (name another with -m or `model` in the settings; {AT}/models lists them)",
        id="missing model",
    ),
    pytest.param(
        Fault("address", "File Not Found", 404),
        f"{AT} has no chat completions there: File Not Found"
        " (is the base URL right? it usually ends in /v1)",
        id="wrong URL",
    ),
    pytest.param(
        Fault("page", "Sign in", 404),
        f"{AT} answers with a web page, not with an API: Sign in"
        " (is the base URL right? it usually ends in /v1)",
        id="a web page",
    ),
    pytest.param(
        Fault("rate", "", 429, retry_after=300),
        f"{AT} limits the rate of requests (try again in 300 s)",
        id="rate",
    ),
]


@pytest.mark.parametrize("fault, words", WORDS)
def test_a_fault_is_said(fault, words):
    assert str(to_error(fault, AT, "m", has_key=True)) == words


def test_an_overflow_carries_the_servers_numbers():
    error = to_error(Fault("overflow", "", 400, window=4096, prompt=9031), AT)

    assert (error.window, error.prompt, error.status, error.endpoint) == (4096, 9031, 400, AT)


def test_a_missing_key_is_not_called_wrong():
    assert to_error(Fault("key", status=401), AT).message == f"{AT} wants an API key"


@pytest.mark.parametrize("kind", get_args(Kind))
def test_every_fault_is_one_line_that_names_the_endpoint(kind):
    error = to_error(Fault(kind, "what it said", 400), AT, "m")

    assert AT in error.message
    assert "\n" not in str(error)
