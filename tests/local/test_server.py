"""The running server: closed to strangers, and the cut counts exactly like the whole model."""

import hashlib
import json
import subprocess
import sys
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

import pytest

from sill.adapters.local.cut import write_cut
from sill.adapters.local.serve import is_shared
from sill.adapters.local.supervise import LocalServer, open_local
from sill.errors import LocalModelError

TEXTS = [
    "",
    "Name three colours.",
    "Grüße 🌾👩‍🌾 面包 \u0000 \r\n\t end ",
    "def f(x):\n    return {'a': x}\n" * 20,
    "<|im_start|>user\n<|im_end|>",
]


def call(server: LocalServer, path: str, body: object = None, key: str | None = None) -> Any:
    """The server's JSON, or the HTTP status of its refusal."""
    data = body if body is None or isinstance(body, bytes) else json.dumps(body).encode()
    request = urllib.request.Request(
        server.base_url.removesuffix("/v1") + path,
        data=data,
        headers={"Authorization": f"Bearer {server.api_key if key is None else key}"},
    )
    try:
        with urllib.request.urlopen(request, timeout=120) as response:
            return json.load(response)
    except urllib.error.HTTPError as error:
        return error.code


@pytest.mark.slow
@pytest.mark.parametrize("key", ["", "wrong"])
@pytest.mark.parametrize(
    "path, body",
    [
        pytest.param("/v1/chat/completions", {"messages": []}, id="chat"),
        pytest.param("/tokenize", {"content": "x"}, id="tokenize"),
        pytest.param("/props", None, id="props"),
        pytest.param("/slots", None, id="slots"),
    ],
)
def test_nobody_gets_in_without_the_key(
    tiny_server: LocalServer, path: str, body: object, key: str
) -> None:
    assert call(tiny_server, path, body, key) == 401


@pytest.mark.slow
def test_it_says_what_it_is(tiny_server: LocalServer) -> None:
    props = call(tiny_server, "/props")

    assert props["default_generation_settings"]["n_ctx"] == tiny_server.window == 8192
    assert props["total_slots"] == 2
    assert props["model_alias"] == tiny_server.model_name
    assert tiny_server.api_key not in repr(tiny_server)


@pytest.mark.slow
def test_the_cut_counts_and_templates_like_the_whole_model(
    tiny_server: LocalServer, smol_server: LocalServer
) -> None:
    def answers(server: LocalServer) -> list[object]:
        tokens = [call(server, "/tokenize", {"content": text}) for text in TEXTS]
        chats = [{"messages": [{"role": "user", "content": text}]} for text in TEXTS]
        return tokens + [call(server, "/apply-template", chat) for chat in chats]

    assert answers(tiny_server) == answers(smol_server)


@pytest.mark.slow
def test_the_same_weights_always_give_the_same_cut(
    smol_weights: Path, tiny_weights: Path, tmp_path: Path
) -> None:
    again = tmp_path / "again.gguf"

    write_cut(smol_weights, again)

    digests = {hashlib.sha256(p.read_bytes()).hexdigest() for p in (again, tiny_weights)}
    assert len(digests) == 1
    assert list(tmp_path.iterdir()) == [again]


@pytest.mark.slow
def test_the_log_never_holds_what_was_said(tiny_weights: Path, places: Path) -> None:
    secret = "xyzzy-plugh"
    ask = {"messages": [{"role": "user", "content": secret}], "max_tokens": 4}
    with open_local(tiny_weights, window=512, linger=0.1) as server:
        good = call(server, "/v1/chat/completions", ask)
        bad = [
            call(server, "/v1/chat/completions", {**ask, "grammar": f"root ::= {secret} ("}),
            call(server, "/v1/chat/completions", {**ask, "messages": secret}),
            call(server, "/v1/chat/completions", f'{{"messages": "{secret}", {secret}'.encode()),
        ]
        [log] = (places / "state_home" / "sill" / "local").iterdir()
        text = log.read_text()

    assert good["usage"]["completion_tokens"] > 0
    assert bad == [400, 400, 400]
    assert "listening on port" in text
    assert secret not in text
    assert server.api_key not in text
    assert log.stat().st_mode & 0o777 == 0o600


@pytest.mark.slow
@pytest.mark.parametrize(
    "error, expected",
    [
        pytest.param(
            ImportError("libgomp.so.1: cannot open shared object file: No such file or directory"),
            "the system library libgomp.so.1 is missing (on Debian and Ubuntu: apt install libgomp1)",
            id="a system library",
        ),
        pytest.param(
            ModuleNotFoundError("No module named 'xllamacpp'"),
            "llama.cpp's server is not installed (pip install 'sill[local]')",
            id="the package",
        ),
        pytest.param(
            ImportError("undefined symbol: x"),
            "llama.cpp's server cannot be loaded: undefined symbol: x",
            id="something else",
        ),
    ],
)
def test_what_is_missing_is_named(
    error: ImportError,
    expected: str,
    tiny_weights: Path,
    places: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A module that cannot be imported stands where the server's process looks first."""
    (places / "xllamacpp.py").write_text(f"raise {error!r}")
    monkeypatch.setenv("PYTHONPATH", str(places))

    with pytest.raises(LocalModelError) as caught:
        open_local(tiny_weights, window=512)
    assert str(caught.value) == expected


def test_everything_can_be_imported_without_the_extra_packages() -> None:
    program = """
import sys
sys.modules.update(dict.fromkeys(["xllamacpp", "gguf", "numpy"]))
from pathlib import Path
from sill.adapters.local import address, choice, cut, header, locks, serve, supervise, weights
import sill.cli.model
try:
    cut.write_cut(Path("a"), Path("b"))
except sill.errors.LocalModelError as error:
    print(error)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)

    assert (done.stdout, done.stderr) == (
        "the package `gguf` is missing (pip install 'sill[local]')\n",
        "",
    )


@pytest.mark.parametrize(
    "on_ci, load, cores, shared",
    [
        pytest.param(False, 0.3, 4, False, id="a quiet machine of one's own"),
        pytest.param(False, 2.0, 4, True, id="half of it is busy"),
        pytest.param(True, 0.0, 4, True, id="continuous integration"),
    ],
)
def test_threads_sleep_where_cores_are_shared(
    on_ci: bool, load: float, cores: int, shared: bool
) -> None:
    assert is_shared(on_ci, load, cores) == shared


@pytest.mark.slow
def test_weights_that_llama_cpp_cannot_load_are_named(
    tiny_weights: Path, places: Path, tmp_path: Path
) -> None:
    half = tmp_path / "half.gguf"
    half.write_bytes(tiny_weights.read_bytes()[:20_000_000])

    with pytest.raises(LocalModelError, match=f"llama.cpp cannot load {half}"):
        open_local(half, window=512)


@pytest.mark.parametrize("window", [0, 255, 8193])
def test_a_window_the_model_does_not_have_is_refused(
    window: int, tiny_weights: Path, places: Path
) -> None:
    with pytest.raises(LocalModelError, match=f"256 to 8192 tokens, not {window}"):
        open_local(tiny_weights, window=window)
