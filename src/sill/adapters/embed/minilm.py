"""The bundled embedder: all-MiniLM-L6-v2 as int8 ONNX, on this machine's processor."""

import asyncio
import importlib
import os
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from .fetch import GRAPH, TOKENIZER

_MOST_TOKENS = 256  # what the model was trained on
_BATCH_TOKENS = 2_048  # larger ones are no faster and take hundreds of megabytes
_MOST_CHARACTERS = 4_000  # of a text; more than the model can read


class MiniLM:
    """384 dimensions; English. Some 25 passages a second and core. Loaded when it is first asked."""

    name = "all-MiniLM-L6-v2/int8-1"

    def __init__(self, folder: Path, threads: int | None = None) -> None:
        self._folder = folder
        self._threads = threads or max(1, (os.cpu_count() or 2) // 2)
        self._loading = threading.Lock()
        self._session: Any = None
        self._tokenizer: Any = None

    def _load(self) -> None:
        from tokenizers import Tokenizer

        onnxruntime: Any = importlib.import_module("onnxruntime")

        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = self._threads
        options.log_severity_level = 3
        # Shapes differ from batch to batch: an arena only grows, and a server lives long.
        options.enable_cpu_mem_arena = False
        options.enable_mem_pattern = False
        self._tokenizer = Tokenizer.from_file(str(self._folder / TOKENIZER))
        self._tokenizer.enable_truncation(_MOST_TOKENS)
        self._tokenizer.no_padding()
        self._session = onnxruntime.InferenceSession(
            str(self._folder / GRAPH), options, providers=["CPUExecutionProvider"]
        )

    async def embed(self, texts: Sequence[str]) -> list[list[float]]:
        return await asyncio.to_thread(self.embed_now, texts)

    def embed_now(self, texts: Sequence[str]) -> list[list[float]]:
        """Texts of similar length go together, so that little is computed for padding."""
        if not texts:
            return []
        with self._loading:
            if self._session is None:
                self._load()
        ids = [
            encoding.ids
            for encoding in self._tokenizer.encode_batch(
                [text[:_MOST_CHARACTERS] for text in texts]
            )
        ]
        order = sorted(range(len(ids)), key=lambda number: len(ids[number]))
        vectors: list[list[float]] = [[] for _ in ids]
        batch: list[int] = []
        for number in order:
            if batch and (len(batch) + 1) * len(ids[number]) > _BATCH_TOKENS:
                self._run(ids, batch, vectors)
                batch = []
            batch.append(number)
        self._run(ids, batch, vectors)
        return vectors

    def _run(self, ids: list[list[int]], batch: list[int], vectors: list[list[float]]) -> None:
        import numpy

        longest = max(len(ids[number]) for number in batch)
        tokens = numpy.zeros((len(batch), longest), dtype=numpy.int64)
        mask = numpy.zeros_like(tokens)
        for row, number in enumerate(batch):
            tokens[row, : len(ids[number])] = ids[number]
            mask[row, : len(ids[number])] = 1
        (found,) = self._session.run(None, {"ids": tokens, "mask": mask})
        result: Any = found / numpy.linalg.norm(found, axis=1, keepdims=True).clip(1e-12)
        for number, vector in zip(batch, result.tolist(), strict=True):
            vectors[number] = vector

    async def close(self) -> None:
        return None
