"""Embedders: the bundled graph computes what the weights say; an endpoint is read with care."""

import asyncio
import json
import struct
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from sill.adapters.embed.choice import embedder_for
from sill.adapters.embed.endpoint import EndpointEmbedder
from sill.errors import BadAnswer, KeyRefused, ModelMissing, SettingsError, Unreachable

HIDDEN, INNER, WORDS, LAYERS = 64, 128, 50, 2


def small_weights(path, numpy):
    """A BERT of two narrow layers with random weights, as a safetensors file."""
    chance = numpy.random.default_rng(3)
    shapes = {"embeddings.word_embeddings.weight": (WORDS, HIDDEN), "embeddings.position_embeddings.weight": (32, HIDDEN),
              "embeddings.token_type_embeddings.weight": (2, HIDDEN)}  # fmt: skip
    norms = ["embeddings.LayerNorm"]
    linears = {}
    for number in range(LAYERS):
        layer = f"encoder.layer.{number}"
        for part in (
            "attention.self.query",
            "attention.self.key",
            "attention.self.value",
            "attention.output.dense",
        ):
            linears[f"{layer}.{part}"] = (HIDDEN, HIDDEN)
        linears[f"{layer}.intermediate.dense"] = (INNER, HIDDEN)
        linears[f"{layer}.output.dense"] = (HIDDEN, INNER)
        norms += [f"{layer}.attention.output.LayerNorm", f"{layer}.output.LayerNorm"]
    tensors = {name: chance.standard_normal(shape) for name, shape in shapes.items()}
    for name, shape in linears.items():
        tensors[name + ".weight"] = chance.standard_normal(shape) * 0.2
        tensors[name + ".bias"] = chance.standard_normal(shape[0]) * 0.1
    for name in norms:
        tensors[name + ".weight"] = 1 + chance.standard_normal(HIDDEN) * 0.1
        tensors[name + ".bias"] = chance.standard_normal(HIDDEN) * 0.1
    header, data = {}, b""
    for name, value in tensors.items():
        raw = value.astype("<f4").tobytes()
        header[name] = {
            "dtype": "F32",
            "shape": list(value.shape),
            "data_offsets": [len(data), len(data) + len(raw)],
        }
        data += raw
    text = json.dumps(header).encode()
    path.write_bytes(struct.pack("<Q", len(text)) + text + data)
    return tensors


def reference(tensors, ids, numpy):
    """The same network, written down once more in the plainest way, without quantisation."""
    from math import erf, sqrt

    def linear(x, name):
        return x @ tensors[name + ".weight"].T + tensors[name + ".bias"]

    def norm(x, name):
        spread = numpy.sqrt(x.var(axis=-1, keepdims=True) + 1e-12)
        return (x - x.mean(axis=-1, keepdims=True)) / spread * tensors[name + ".weight"] + tensors[
            name + ".bias"
        ]

    x = (
        tensors["embeddings.word_embeddings.weight"][ids]
        + tensors["embeddings.position_embeddings.weight"][: len(ids)]
    )
    x = norm(x + tensors["embeddings.token_type_embeddings.weight"][0], "embeddings.LayerNorm")
    gelu = numpy.vectorize(lambda value: value * 0.5 * (1 + erf(value / sqrt(2))))
    for number in range(LAYERS):
        layer = f"encoder.layer.{number}"
        query, keys, values = (
            linear(x, f"{layer}.attention.self.{part}") for part in ("query", "key", "value")
        )
        heads = []
        for head in range(HIDDEN // 32):
            part = slice(head * 32, head * 32 + 32)
            weights = numpy.exp(query[:, part] @ keys[:, part].T / sqrt(32))
            heads.append(weights / weights.sum(axis=1, keepdims=True) @ values[:, part])
        mixed = linear(numpy.concatenate(heads, axis=1), f"{layer}.attention.output.dense")
        x = norm(x + mixed, f"{layer}.attention.output.LayerNorm")
        inner = linear(gelu(linear(x, f"{layer}.intermediate.dense")), f"{layer}.output.dense")
        x = norm(x + inner, f"{layer}.output.LayerNorm")
    return x.mean(axis=0)


def test_the_built_graph_computes_what_the_weights_say(tmp_path):
    numpy = pytest.importorskip("numpy")
    onnxruntime = pytest.importorskip("onnxruntime")
    pytest.importorskip("onnx")
    from sill.adapters.embed.build import build

    tensors = small_weights(tmp_path / "w.safetensors", numpy)
    build(tmp_path / "w.safetensors", tmp_path / "g.onnx")
    session = onnxruntime.InferenceSession(
        str(tmp_path / "g.onnx"), providers=["CPUExecutionProvider"]
    )
    rows = [[5, 7, 9, 11, 2], [1, 2, 3, 0, 0]]  # the second is three words and padding
    mask = [[1, 1, 1, 1, 1], [1, 1, 1, 0, 0]]
    (found,) = session.run(None, {"ids": numpy.array(rows), "mask": numpy.array(mask)})

    for vector, ids in zip(found, ([5, 7, 9, 11, 2], [1, 2, 3]), strict=True):
        wanted = reference(tensors, ids, numpy)
        cosine = vector @ wanted / numpy.linalg.norm(vector) / numpy.linalg.norm(wanted)
        assert cosine > 0.99


class Endpoint(BaseHTTPRequestHandler):
    status, answer = 200, None
    asked: list[dict] = []  # noqa: RUF012

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.asked.append({"path": self.path, "key": self.headers.get("Authorization"), **body})
        rows = [{"index": n, "embedding": [len(text), 1.0]} for n, text in enumerate(body["input"])]
        answer = json.dumps(
            self.answer if self.answer is not None else {"data": rows[::-1]}
        ).encode()
        self.send_response(self.status)
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, *_):
        pass


@pytest.fixture
def endpoint():
    handler = type("Handler", (Endpoint,), {"asked": []})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield handler, f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


def embed(url, texts, key=None):
    async def work():
        embedder = EndpointEmbedder(url, "m", key)
        try:
            return await embedder.embed(texts)
        finally:
            await embedder.close()

    return asyncio.run(work())


@pytest.mark.parametrize("ending", ["", "/", "/v1", "/v1/"])
def test_vectors_come_in_the_order_of_the_texts(endpoint, ending):
    handler, url = endpoint

    assert embed(url + ending, ["a", "bbb", ""], "secret") == [[1.0, 1.0], [3.0, 1.0], [1.0, 1.0]]
    assert [(one["path"], one["key"], one["model"]) for one in handler.asked] == [
        ("/v1/embeddings", "Bearer secret", "m")
    ]


def test_many_texts_go_in_several_calls(endpoint):
    handler, url = endpoint

    assert len(embed(url, ["x"] * 150)) == 150
    assert [len(one["input"]) for one in handler.asked] == [64, 64, 22]


@pytest.mark.parametrize(
    "status, answer, error",
    [
        pytest.param(401, {}, KeyRefused, id="key"),
        pytest.param(404, {}, ModelMissing, id="model"),
        pytest.param(500, {}, BadAnswer, id="failure"),
        pytest.param(200, {"nothing": 1}, BadAnswer, id="no data"),
        pytest.param(200, {"data": []}, BadAnswer, id="no vector"),
        pytest.param(200, {"data": [{"index": 0, "embedding": []}]}, BadAnswer, id="empty vector"),
        pytest.param(200, {"data": [{"index": 0, "embedding": ["x"]}]}, BadAnswer, id="no numbers"),
        pytest.param(200, {"data": [{"index": 0, "embedding": [float("nan")]}]}, BadAnswer, id="not a number"),
    ],
)  # fmt: skip
def test_a_bad_answer_says_which(endpoint, status, answer, error):
    handler, url = endpoint
    handler.status, handler.answer = status, answer

    with pytest.raises(error):
        embed(url, ["a"])


def test_nobody_there_says_so():
    with pytest.raises(Unreachable):
        embed("http://127.0.0.1:9", ["a"])


def test_choosing_an_embedder(tmp_path):
    assert embedder_for("none") is None
    assert embedder_for("auto", folder=tmp_path) is None
    chosen = embedder_for("http://h/v1", model="m")
    assert chosen is not None
    assert chosen.name == "http://h/v1#m"
    for wanted in ("nonsense", "http://h"):
        with pytest.raises(SettingsError):
            embedder_for(wanted)
