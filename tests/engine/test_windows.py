"""How large the window is taken to be where the endpoint and the model's name say different things."""

import pytest

from sill.app.connect import NOBODY_TOLD, SAFE_WINDOW, Connection, with_usual_window

USUAL = "usual for gpt-5; set `window` where it is another"


def at(url: str, window: int = SAFE_WINDOW, source: str = NOBODY_TOLD) -> Connection:
    return Connection("configured", url, "chosen", "gpt-5", window, source)


REMOTE, HERE = "https://api.openai.com/v1", "http://127.0.0.1:8080/v1"


@pytest.mark.parametrize(
    "there, usual, window, source",
    [
        pytest.param(at(REMOTE), 400_000, 400_000, USUAL, id="a service that tells none"),
        pytest.param(at(REMOTE), None, SAFE_WINDOW, NOBODY_TOLD, id="a name nobody knows"),
        pytest.param(at(HERE), 400_000, SAFE_WINDOW, NOBODY_TOLD, id="a server here may have less"),
        pytest.param(at(HERE), 4_096, 4_096, NOBODY_TOLD, id="the model has less"),
        pytest.param(at(REMOTE, 128_000, "list"), 400_000, 128_000, "list", id="told less"),
        pytest.param(at(REMOTE, 500_000, "flag"), 400_000, 400_000, "flag", id="told too much"),
    ],
)
def test_which_window_is_planned_for(there, usual, window, source):
    found = with_usual_window(there, usual)

    assert (found.window, found.window_source) == (window, source)
