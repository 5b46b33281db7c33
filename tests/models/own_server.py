"""A llama.cpp server of one test, on a port that stays the same when it is started again."""

import socket
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
parameters.hostnames, parameters.n_ctx, parameters.n_parallel = ["127.0.0.1"], 512, 1
parameters.api_keys = ["of-this-test"]
if sys.argv[3] == "embeddings":
    parameters.embedding = True
    parameters.pooling_type = xllamacpp.llama_pooling_type.LLAMA_POOLING_TYPE_MEAN
server = xllamacpp.Server(parameters)
print("listening", flush=True)
time.sleep(3600)
"""
KEY = "of-this-test"


def free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


@contextmanager
def serving(weights: Path, port: int, mode: str = "chat") -> Iterator[str]:
    """The base URL of a server that is killed when the block is left."""
    process = subprocess.Popen(
        [sys.executable, "-c", _SERVE, str(weights), str(port), mode],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    try:
        assert process.stdout is not None
        assert process.stdout.readline() == b"listening\n"
        yield f"http://127.0.0.1:{port}"
    finally:
        process.kill()
        process.communicate()
