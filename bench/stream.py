"""What the model client adds between a provider and its reader: time to the first token, delay, throughput.

    python bench/stream.py [--json] [--runs 15] [--tokens 200]

A provider in a process of its own streams tokens, each carrying the time it was sent. In turns, a bare blocking
socket and Sill's client read the same stream, so both meet the same machine in the same state. The bare socket
only looks for bytes; the client also parses, keeps its clocks and decides whether the reply is whole. The bounds are
for providers at the speed of models (to 1,000 tokens a second); the unpaced row shows what parsing costs beyond that.
"""

import argparse
import asyncio
import json
import multiprocessing
import os
import socket
import statistics
import sys
import time
from dataclasses import dataclass
from multiprocessing.connection import Connection

from sill.adapters.models.openai import OpenAIModel
from sill.core.request import ChatRequest, WireMessage, encode
from sill.ports import Ended, TextDelta

RATES = (50, 200, 1000, 0)  # tokens a second; 0 is as fast as the provider can
FIRST_TOKEN_BOUND_MS, THROUGHPUT_BOUND = 5.0, 0.95


def provide(tokens: int, ready: Connection) -> None:
    """Serve streams for ever, one at a time. The model's name is the rate."""
    listener = socket.create_server(("127.0.0.1", 0), backlog=8)
    ready.send(listener.getsockname()[1])
    while True:
        connection, _ = listener.accept()
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        asked = b""
        while b"include_usage" not in asked:
            asked += connection.recv(65536)
        rate = int(json.loads(asked.partition(b"\r\n\r\n")[2])["model"])
        connection.sendall(
            b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n"
        )
        began = time.monotonic()
        for number in range(tokens):
            if rate:
                time.sleep(max(0.0, began + number / rate - time.monotonic()))
            connection.sendall(_event({"content": f"{time.monotonic():.6f} "}, None))
        connection.sendall(_event({}, "stop") + b"data: [DONE]\n\n")
        connection.close()


def _event(delta: dict[str, str], finish: str | None) -> bytes:
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    chunk = {
        "id": "chatcmpl-1",
        "object": "chat.completion.chunk",
        "created": 1,
        "choices": [choice],
    }
    return b"data: " + json.dumps(chunk).encode() + b"\n\n"


@dataclass(frozen=True, slots=True)
class Read:
    """One stream: milliseconds to the first token, the tokens' median delay, seconds from asking to the last."""

    first_ms: float
    delay_ms: float
    seconds: float


def request_for(rate: int) -> ChatRequest:
    return ChatRequest(str(rate), (WireMessage("user", "word " * 500),), 1000)


def read_bare(port: int, rate: int) -> Read:
    body = encode(request_for(rate).body())
    head = f"POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\ncontent-length: {len(body)}\r\n\r\n"
    started = time.monotonic()
    connection = socket.create_connection(("127.0.0.1", port))
    connection.sendall(head.encode() + body)
    first, delays, last, held = 0.0, [], 0.0, b""
    while piece := connection.recv(65536):
        now = time.monotonic()
        held += piece
        while (at := held.find(b'"content": "')) >= 0 and (end := held.find(b' "', at + 12)) >= 0:
            delays.append(now - float(held[at + 12 : end]))
            held = held[end:]
            first, last = first or now, now
    connection.close()
    return Read((first - started) * 1000, statistics.median(delays) * 1000, last - started)


async def read_ours(model: OpenAIModel, rate: int) -> Read:
    started = time.monotonic()
    first, delays, last = 0.0, [], 0.0
    async for event in model.stream(request_for(rate)):
        now = time.monotonic()
        if isinstance(event, TextDelta):
            delays.append(now - float(event.text))
            first, last = first or now, now
        elif isinstance(event, Ended):
            assert event.outcome == "complete", event.reason
    return Read((first - started) * 1000, statistics.median(delays) * 1000, last - started)


def measure(runs: int, tokens: int) -> dict[str, object]:
    ours_end, provider_end = multiprocessing.Pipe()
    provider = multiprocessing.get_context("spawn").Process(
        target=provide, args=(tokens, provider_end), daemon=True
    )
    provider.start()
    port = ours_end.recv()
    model = OpenAIModel(f"http://127.0.0.1:{port}", "bench")
    rows = []
    with asyncio.Runner() as runner:
        cold = runner.run(read_ours(model, 0))
        for rate in RATES:
            bare, ours = [], []
            for _ in range(runs):
                bare.append(read_bare(port, rate))
                ours.append(runner.run(read_ours(model, rate)))
            rows.append(_row(rate, tokens, bare, ours))
        runner.run(model.close())
    provider.terminate()
    paced = [row for row in rows if row["rate"]]
    return {
        "benchmark": "stream",
        "runs": runs,
        "tokens": tokens,
        "load_average": round(os.getloadavg()[0], 1),
        "cold_first_token_ms": round(cold.first_ms, 2),
        "rows": rows,
        "bounds": {"added_first_token_ms": FIRST_TOKEN_BOUND_MS, "throughput": THROUGHPUT_BOUND},
        "holds": all(
            row["added_first_token_ms"] <= FIRST_TOKEN_BOUND_MS
            and row["throughput_ratio"] >= THROUGHPUT_BOUND
            for row in paced
        ),
    }


def _row(rate: int, tokens: int, bare: list[Read], ours: list[Read]) -> dict[str, float]:
    def median(reads: list[Read], name: str) -> float:
        return statistics.median(getattr(read, name) for read in reads)

    added = statistics.median(
        mine.first_ms - theirs.first_ms for mine, theirs in zip(ours, bare, strict=True)
    )
    return {
        "rate": rate,
        "bare_first_token_ms": round(median(bare, "first_ms"), 2),
        "ours_first_token_ms": round(median(ours, "first_ms"), 2),
        "added_first_token_ms": round(added, 2),
        "bare_delay_ms": round(median(bare, "delay_ms"), 3),
        "ours_delay_ms": round(median(ours, "delay_ms"), 3),
        "bare_tokens_per_second": round(tokens / median(bare, "seconds")),
        "ours_tokens_per_second": round(tokens / median(ours, "seconds")),
        "throughput_ratio": round(median(bare, "seconds") / median(ours, "seconds"), 3),
    }


def show(result: dict[str, object]) -> None:
    rows = result["rows"]
    assert isinstance(rows, list)
    print(
        f"{result['runs']} streams of {result['tokens']} tokens each way, medians;"
        f" load average {result['load_average']}\n"
    )
    print("provider    first token, ms        delay per token, ms    tokens/s")
    print("tokens/s    bare   Sill   added    bare    Sill           bare     Sill     ratio")
    for row in rows:
        rate = row["rate"] or "unpaced"
        print(
            f"{rate:>8}  {row['bare_first_token_ms']:>6} {row['ours_first_token_ms']:>6}"
            f" {row['added_first_token_ms']:>7}  {row['bare_delay_ms']:>6} {row['ours_delay_ms']:>7}"
            f"  {row['bare_tokens_per_second']:>12} {row['ours_tokens_per_second']:>8}"
            f" {row['throughput_ratio']:>9}"
        )
    print(
        f"\nfirst stream of a process, client made on the way: {result['cold_first_token_ms']} ms"
    )
    print(
        f"bounds for paced streams: added <= {FIRST_TOKEN_BOUND_MS} ms, ratio >= {THROUGHPUT_BOUND}:"
        f" {'held' if result['holds'] else 'NOT HELD'}"
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--json", action="store_true", help="one object as the last line")
    parser.add_argument("--runs", type=int, default=15)
    parser.add_argument("--tokens", type=int, default=200)
    options = parser.parse_args()
    result = measure(options.runs, options.tokens)
    show(result)
    if options.json:
        print(json.dumps(result))
    return 0 if result["holds"] else 1


if __name__ == "__main__":
    sys.exit(main())
