"""What is read from a weight file before anything is started with it."""

import struct
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sill.adapters.local.header import Header, read_header, slots_for
from sill.errors import LocalModelError

from .files import FACTS, gguf_bytes


def header(path: Path, **changed: object) -> Header:
    facts = {
        "path": path,
        "name": "some",
        "architecture": "llama",
        "trained_window": 8192,
        "has_template": True,
        "cache_bytes_per_token": 23_040,
    }
    return Header(**{**facts, **changed})  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "facts, expected",
    [
        pytest.param(FACTS, {}, id="as it is"),
        pytest.param(
            {**FACTS, "tokenizer.chat_template": ""}, {"has_template": False}, id="no template"
        ),
        pytest.param(
            {**FACTS, "llama.attention.key_length": 128, "llama.attention.value_length": 128},
            {"cache_bytes_per_token": 46_080},
            id="heads of their own length",
        ),
        pytest.param(
            {**FACTS, "llama.context_length": 131_072},
            {"trained_window": 131_072},
            id="long window",
        ),
        pytest.param(
            {**FACTS, "a.list": ["x", "yy"], "b.list": [1, 2]}, {}, id="lists are passed over"
        ),
    ],
)
def test_a_header_holds_the_facts(
    facts: dict[str, object], expected: dict[str, object], tmp_path: Path
) -> None:
    path = tmp_path / "some.gguf"
    path.write_bytes(gguf_bytes(facts))

    assert read_header(path) == header(path, **expected)


@pytest.mark.parametrize(
    "content, message",
    [
        pytest.param(b"", "is not a GGUF file", id="empty"),
        pytest.param(b"GIF89a", "is not a GGUF file", id="another format"),
        pytest.param(b"GGUF", "is damaged: its header ends in the middle", id="only the magic"),
        pytest.param(
            gguf_bytes(FACTS)[:200], "is damaged: its header ends in the middle", id="cut off"
        ),
        pytest.param(
            b"GGUF" + struct.pack("<IQQ", 3, 0, 1 << 60),
            "is damaged: its header ends in the middle",
            id="a count that cannot be",
        ),
        pytest.param(
            b"GGUF" + struct.pack("<IQQQI", 3, 0, 1, 0, 9) + struct.pack("<IQ", 9, 1) * 9999,
            "is damaged: its header ends in the middle",
            id="lists in lists without end",
        ),
        pytest.param(
            gguf_bytes({"general.architecture": "llama"}),
            "does not say how long its window is",
            id="no window",
        ),
    ],
)
def test_a_file_that_cannot_serve_is_named(content: bytes, message: str, tmp_path: Path) -> None:
    path = tmp_path / "some.gguf"
    path.write_bytes(content)

    with pytest.raises(LocalModelError) as caught:
        read_header(path)
    assert caught.value.message == f"{path} {message}"


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(LocalModelError) as caught:
        read_header(tmp_path / "none.gguf")
    assert str(caught.value) == (
        f"there are no model weights at {tmp_path / 'none.gguf'} (`sill model pull` fetches the bundled ones)"
    )


@given(st.binary(max_size=300), st.integers(0, 400))
def test_no_bytes_whatever_bring_the_reader_down(
    tmp_path_factory: pytest.TempPathFactory, noise: bytes, at: int
) -> None:
    whole = gguf_bytes(FACTS)
    path = tmp_path_factory.getbasetemp() / "noise.gguf"
    path.write_bytes(whole[:at] + noise + whole[at + len(noise) :])

    try:
        told = str(read_header(path).path)
    except LocalModelError as error:
        told = str(error)

    assert str(path) in told


@pytest.mark.parametrize(
    "window, per_token, slots",
    [
        pytest.param(8192, 23_040, 2, id="the bundled model"),
        pytest.param(4096, 1 << 17, 2, id="exactly a GiB"),
        pytest.param(8192, 1 << 17, 1, id="more than a GiB"),
        pytest.param(8192, 0, 2, id="unknown"),
    ],
)
def test_two_chats_at_once_where_memory_allows(window: int, per_token: int, slots: int) -> None:
    assert slots_for(header(Path("x"), cache_bytes_per_token=per_token), window) == slots
