"""A llama.cpp server of one test, on a port that stays the same when it is started again."""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_SERVE = """
import sys, time
import xllamacpp
parameters = xllamacpp.CommonParams()
parameters.model.path, parameters.port = sys.argv[1], int(sys.argv[2])
parameters.hostnames, parameters.n_ctx, parameters.n_parallel = ["127.0.0.1"], 8192, 1
parameters.api_keys = ["of-this-test"]
if sys.argv[3] == "embeddings":
    parameters.embedding = True
    parameters.pooling_type = xllamacpp.llama_pooling_type.LLAMA_POOLING_TYPE_MEAN
server = xllamacpp.Server(parameters)
print(server.listening_address.rpartition(":")[2], flush=True)
time.sleep(3600)
"""
KEY = "of-this-test"


@contextmanager
def serving(weights: Path, mode: str = "chat", port: int = 0) -> Iterator[str]:
    """The base URL of a server that is killed when the block is left; ``port`` is one it had before."""
    process = subprocess.Popen(
        [sys.executable, "-c", _SERVE, str(weights), str(port), mode],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    try:
        assert process.stdout is not None
        yield f"http://127.0.0.1:{int(process.stdout.readline())}"
    finally:
        process.kill()
        process.communicate()
