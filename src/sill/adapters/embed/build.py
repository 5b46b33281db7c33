"""A quantised ONNX graph of a small BERT, written from its weights. No deep-learning library is needed.

Weights are int8 with one scale per output channel: one scale for a whole matrix would cost a tenth of
the quality. Word embeddings are int8 with one scale per word.
"""

import importlib
import json
import logging
import struct
import tempfile
from pathlib import Path
from typing import Any

_HEAD_SIZE, _EPSILON = 32, 1e-12
_OPSET = 17


def build(weights: Path, target: Path) -> None:
    """Read ``weights`` (safetensors) and write the graph: ids and mask in, mean of the last layer out."""
    import onnx

    quantization: Any = importlib.import_module("onnxruntime.quantization")
    graph = _Graph(_tensors(weights))
    _network(graph)
    with tempfile.TemporaryDirectory(prefix="sill-", dir=target.parent) as scratch:
        plain = Path(scratch) / "plain.onnx"
        onnx.save(graph.model(), str(plain))
        # It advises steps that are for other kinds of graphs.
        logging.disable(logging.WARNING)
        try:
            quantization.quantize_dynamic(
                str(plain),
                str(target),
                op_types_to_quantize=["MatMul"],
                per_channel=True,
                weight_type=quantization.QuantType.QInt8,
                extra_options={"MatMulConstBOnly": True},
            )
        finally:
            logging.disable(logging.NOTSET)


class _Graph:
    """Nodes and constants as they are added."""

    def __init__(self, tensors: dict[str, Any]) -> None:
        self.tensors = tensors
        self.hidden = int(tensors["embeddings.word_embeddings.weight"].shape[1])
        self.layers = sum(name.endswith(".attention.self.query.bias") for name in tensors)
        self._nodes: list[Any] = []
        self._constants: list[Any] = []

    def constant(self, name: str, value: Any) -> str:
        from onnx import numpy_helper

        self._constants.append(numpy_helper.from_array(value, name))
        return name

    def add(self, operator: str, *inputs: str, output: str = "", **attributes: Any) -> str:
        from onnx import helper

        output = output or f"n{len(self._nodes)}"
        self._nodes.append(helper.make_node(operator, list(inputs), [output], **attributes))
        return output

    def linear(self, value: str, layer: str) -> str:
        weight = self.constant(layer + ".w", self.tensors[layer + ".weight"].T.copy())
        bias = self.constant(layer + ".b", self.tensors[layer + ".bias"])
        return self.add("Add", self.add("MatMul", value, weight), bias)

    def norm(self, value: str, layer: str) -> str:
        scale = self.constant(layer + ".w", self.tensors[layer + ".weight"])
        bias = self.constant(layer + ".b", self.tensors[layer + ".bias"])
        return self.add("LayerNormalization", value, scale, bias, axis=-1, epsilon=_EPSILON)

    def model(self) -> Any:
        from onnx import TensorProto, helper

        inputs = [
            helper.make_tensor_value_info(name, TensorProto.INT64, ["batch", "length"])
            for name in ("ids", "mask")
        ]
        outputs = [
            helper.make_tensor_value_info("vectors", TensorProto.FLOAT, ["batch", self.hidden])
        ]
        graph = helper.make_graph(self._nodes, "minilm", inputs, outputs, self._constants)
        return helper.make_model(
            graph, opset_imports=[helper.make_opsetid("", _OPSET)], ir_version=8
        )


def _network(g: _Graph) -> None:
    import numpy

    shapes = {
        "zero": [0],
        "one": [1],
        "last": [-1],
        "heads": [0, 0, g.hidden // _HEAD_SIZE, _HEAD_SIZE],
        "flat": [0, 0, g.hidden],
    }
    number = {
        name: g.constant(name, numpy.array(value, dtype=numpy.int64))
        for name, value in shapes.items()
    }
    minus = g.constant("far", numpy.array(-10_000.0, dtype=numpy.float32))
    unit = g.constant("unit", numpy.array(1.0, dtype=numpy.float32))
    scale = g.constant("scale", numpy.array(_HEAD_SIZE**-0.5, dtype=numpy.float32))
    half = g.constant("half", numpy.array(0.5, dtype=numpy.float32))
    root = g.constant("root", numpy.array(2**-0.5, dtype=numpy.float32))

    hidden = g.norm(g.add("Add", _words(g), _positions(g, number)), "embeddings.LayerNorm")
    mask = g.add("Cast", "mask", to=1)
    blocked = g.add("Mul", g.add("Sub", unit, mask), minus)
    blocked = g.add(
        "Unsqueeze", blocked, g.constant("axes", numpy.array([1, 2], dtype=numpy.int64))
    )

    for layer in range(g.layers):
        name = f"encoder.layer.{layer}"
        parts = {
            part: g.add(
                "Reshape", g.linear(hidden, f"{name}.attention.self.{part}"), number["heads"]
            )
            for part in ("query", "key", "value")
        }
        query = g.add("Mul", g.add("Transpose", parts["query"], perm=[0, 2, 1, 3]), scale)
        keys = g.add("Transpose", parts["key"], perm=[0, 2, 3, 1])
        values = g.add("Transpose", parts["value"], perm=[0, 2, 1, 3])
        attention = g.add("Softmax", g.add("Add", g.add("MatMul", query, keys), blocked), axis=-1)
        mixed = g.add("Transpose", g.add("MatMul", attention, values), perm=[0, 2, 1, 3])
        mixed = g.linear(g.add("Reshape", mixed, number["flat"]), f"{name}.attention.output.dense")
        hidden = g.norm(g.add("Add", mixed, hidden), f"{name}.attention.output.LayerNorm")
        inner = g.linear(hidden, f"{name}.intermediate.dense")
        gate = g.add("Add", g.add("Erf", g.add("Mul", inner, root)), unit)
        inner = g.add("Mul", g.add("Mul", inner, gate), half)
        outer = g.linear(inner, f"{name}.output.dense")
        hidden = g.norm(g.add("Add", outer, hidden), f"{name}.output.LayerNorm")

    weights = g.add("Unsqueeze", mask, number["last"])
    total = g.add("ReduceSum", g.add("Mul", hidden, weights), number["one"], keepdims=0)
    count = g.add("ReduceSum", mask, number["one"], keepdims=1)
    g.add("Div", total, count, output="vectors")


def _words(g: _Graph) -> str:
    import numpy

    table = g.tensors["embeddings.word_embeddings.weight"]
    scales = numpy.maximum(numpy.abs(table).max(axis=1, keepdims=True) / 127, 1e-12)
    small = g.constant("words", numpy.round(table / scales).astype(numpy.int8))
    sizes = g.constant("word_scales", scales.astype(numpy.float32))
    words = g.add("Cast", g.add("Gather", small, "ids"), to=1)
    return g.add("Mul", words, g.add("Gather", sizes, "ids"))


def _positions(g: _Graph, number: dict[str, str]) -> str:
    """Position and (only) segment are the same for every text of a length: one sum."""
    table = g.tensors["embeddings.position_embeddings.weight"]
    segment = g.tensors["embeddings.token_type_embeddings.weight"][0]
    positions = g.constant("positions", table + segment)
    length = g.add("Slice", g.add("Shape", "ids"), number["one"], g.constant("two", _two()))
    return g.add("Slice", positions, number["zero"], length, number["zero"])


def _two() -> Any:
    import numpy

    return numpy.array([2], dtype=numpy.int64)


def _tensors(path: Path) -> dict[str, Any]:
    """The float32 tensors of a safetensors file."""
    import numpy

    data = path.read_bytes()
    (length,) = struct.unpack("<Q", data[:8])
    header = json.loads(data[8 : 8 + length])
    tensors = {}
    for name, about in header.items():
        if name != "__metadata__" and about["dtype"] == "F32":
            start, end = about["data_offsets"]
            values = numpy.frombuffer(data[8 + length + start : 8 + length + end], dtype="<f4")
            tensors[name] = values.reshape(about["shape"])
    return tensors
