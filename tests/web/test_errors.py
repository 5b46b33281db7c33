"""Every error of ours has a status, a code and OpenAI's words for it; a new one has to be thought of here."""

import pytest

from sill import errors
from sill.app.running import Overloaded, ShuttingDown
from sill.errors import SillError
from sill.web.answers import error_of_gateway, problem_response, status_of
from sill.web.gateway.failures import failure_of

LIMIT = errors.LimitReached("too dear", limit=1, spent=1, wanted=1)
WAITING = errors.RateLimited("slow down", retry_after=7.4)

# The error; over HTTP; for OpenAI's clients with the seconds to wait.
ROWS = [
    pytest.param(SillError("x"), (503, "unavailable"), (502, "upstream_error", 0), id="any"),
    pytest.param(errors.UsageError("x"), (422, "invalid"), (400, "invalid_request", 0), id="usage"),
    pytest.param(errors.SettingsError("x"), (503, "misconfigured"), (400, "invalid_request", 0), id="settings"),
    pytest.param(errors.TokenizerRefused("x"), (503, "misconfigured"), (400, "invalid_request", 0), id="tokenizer"),
    pytest.param(errors.NoPlace("x"), (503, "unavailable"), (502, "upstream_error", 0), id="no place to write"),
    pytest.param(errors.FileRefused("a", "x"), (422, "file_refused"), (400, "invalid_request", 0), id="file"),
    pytest.param(errors.ProviderError("x"), (503, "upstream"), (502, "upstream_error", 0), id="provider"),
    pytest.param(errors.Unreachable("x"), (503, "upstream"), (502, "upstream_error", 0), id="unreachable"),
    pytest.param(errors.TimedOut("x"), (503, "upstream"), (504, "timeout", 0), id="silent"),
    pytest.param(errors.KeyRefused("x"), (503, "upstream"), (502, "upstream_refused", 0), id="key"),
    pytest.param(errors.ModelMissing("x"), (503, "upstream"), (404, "model_not_found", 0), id="model"),
    pytest.param(errors.Overflow("x"), (503, "upstream"), (400, "context_length_exceeded", 0), id="too long"),
    pytest.param(WAITING, (503, "upstream"), (429, "rate_limit_exceeded", 7), id="rate"),
    pytest.param(errors.QuotaExhausted("x"), (503, "upstream"), (402, "insufficient_quota", 0), id="quota"),
    pytest.param(errors.Unsupported("x"), (503, "upstream"), (400, "unsupported", 0), id="unsupported"),
    pytest.param(errors.BadAnswer("x"), (503, "upstream"), (502, "upstream_error", 0), id="no answer"),
    pytest.param(LIMIT, (402, "over_limit"), (402, "limit_reached", 0), id="too dear"),
    pytest.param(errors.TurnInProgress("x"), (409, "busy"), (502, "upstream_error", 0), id="busy"),
    pytest.param(errors.Fenced("x"), (409, "conflict"), (502, "upstream_error", 0), id="fenced"),
    pytest.param(errors.StoreError("x"), (503, "storage"), (502, "upstream_error", 0), id="database"),
    pytest.param(errors.VaultError("x"), (503, "storage"), (502, "upstream_error", 0), id="folder"),
    pytest.param(errors.VaultBusy("x"), (503, "storage"), (502, "upstream_error", 0), id="folder busy"),
    pytest.param(errors.LocalModelError("x"), (503, "upstream"), (502, "upstream_error", 0), id="local model"),
    pytest.param(Overloaded("x", 5), (503, "too_many_streams"), (503, "overloaded", 5), id="overloaded"),
    pytest.param(ShuttingDown(), (503, "shutting_down"), (503, "overloaded", 10), id="shutting down"),
]  # fmt: skip


@pytest.mark.parametrize("error, http, openai", ROWS)
def test_an_error_has_a_status_and_a_code(error, http, openai):
    failure = failure_of(error)

    assert status_of(error) == http
    assert (failure.status, failure.code, failure.wait) == openai
    assert failure.body["error"]["message"] == str(error)


def test_no_error_was_forgotten():
    listed = {kind for kind in vars(errors).values() if isinstance(kind, type)}

    assert {kind for kind in listed if issubclass(kind, SillError)} <= {
        type(row.values[0]) for row in ROWS
    }


@pytest.mark.parametrize(
    "status, kind",
    [
        pytest.param(400, "invalid_request_error", id="the client's fault"),
        pytest.param(502, "server_error", id="ours"),
    ],
)
def test_openai_is_told_whose_fault_it_is(status, kind):
    error = errors.Overflow("x") if status == 400 else errors.BadAnswer("x")

    assert failure_of(error).body["error"]["type"] == kind


@pytest.mark.parametrize(
    "wait, header",
    [pytest.param(7.4, "7", id="as long as it says"), pytest.param(None, None, id="nobody says")],
)
def test_how_long_to_wait_is_a_header(wait, header):
    answer = failure_of(errors.RateLimited("x", retry_after=wait)).response()

    assert answer.headers.get("retry-after") == header


def test_a_problem_for_people_is_a_page_that_nothing_can_be_put_into():
    answer = problem_response(401, "no_credentials", "<script>", "log in", page=True)

    assert answer.headers["content-type"].startswith("text/html")
    assert answer.headers["www-authenticate"] == "Bearer"
    assert b"<p>Sill: &lt;script&gt;: log in.</p>" in answer.body


@pytest.mark.parametrize(
    "path, hint, message",
    [
        pytest.param("/v1/models", "log in", "no (log in)", id="with a hint"),
        pytest.param("/v1/models", "", "no", id="without"),
        pytest.param("/api/v1/chats", "log in", None, id="not the gateway"),
    ],
)
def test_refusals_of_the_gateway_are_in_openais_shape_too(path, hint, message):
    found = error_of_gateway(path, "denied", "no", hint)

    assert found.get("error", {}).get("message") == message
