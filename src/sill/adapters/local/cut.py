"""A cut of the bundled weights: the same tokenizer, template and endpoints, nonsense text, some ten times faster.

For tests of everything but wording.
"""

import re
from pathlib import Path
from typing import Any

from ...errors import LocalModelError
from .weights import SHA256, models_dir

LAYERS = 2
_LAYER_OF = re.compile(r"blk\.(\d+)\.")


def cut_path() -> Path:
    return models_dir() / f".SmolLM2-135M-Instruct.first-{LAYERS}-layers.gguf"


def is_cut() -> bool:
    """Whether a finished cut of the present weights is there."""
    path = cut_path()
    try:
        return _marker(path).read_text() == _stamp(path)
    except OSError:
        return False


def make_cut(weights: Path) -> Path:
    """The cut, made from ``weights`` if it is not there yet. The same weights always give the same bytes."""
    path = cut_path()
    if not is_cut():
        write_cut(weights, path)
        _marker(path).write_text(_stamp(path))
    return path


def write_cut(weights: Path, target: Path, layers: int = LAYERS) -> None:
    """Write the first ``layers`` layers of ``weights`` to ``target``, whole or not at all."""
    try:
        import gguf
    except ImportError as error:
        raise LocalModelError(
            "the package `gguf` is missing", hint="pip install 'sill[local]'"
        ) from error
    partial = target.with_name(f"{target.name}.partial")
    reader = gguf.GGUFReader(weights)
    architecture = reader.fields[gguf.Keys.General.ARCHITECTURE].contents()
    blocks = gguf.Keys.LLM.BLOCK_COUNT.format(arch=architecture)
    writer = gguf.GGUFWriter(partial, architecture)
    try:
        for key, field in reader.fields.items():
            if key.startswith("GGUF.") or key == gguf.Keys.General.ARCHITECTURE:
                continue  # the writer makes these itself
            value = layers if key == blocks else field.contents()
            writer.add_key_value(key, value, field.types[0], _item_type(field))
        for tensor in reader.tensors:
            if _is_kept(tensor.name, layers):
                writer.add_tensor(tensor.name, tensor.data, raw_dtype=tensor.tensor_type)
        writer.write_header_to_file()
        writer.write_kv_data_to_file()
        writer.write_tensors_to_file()
        writer.close()
        partial.replace(target)
    finally:
        partial.unlink(missing_ok=True)


def _is_kept(tensor: str, layers: int) -> bool:
    layer = _LAYER_OF.match(tensor)
    return layer is None or int(layer[1]) < layers


def _item_type(field: Any) -> Any:
    return field.types[-1] if len(field.types) > 1 else None


def _marker(path: Path) -> Path:
    return path.with_name(f"{path.name}.made")


def _stamp(path: Path) -> str:
    found = path.stat()
    return f"{SHA256} {LAYERS} {found.st_size} {found.st_mtime_ns}\n"
