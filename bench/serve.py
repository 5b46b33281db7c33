"""The server under load: many answers at once through real sockets, and many readers that only wait.

    python bench/serve.py [--streams 50] [--rate 20] [--seconds 10] [--idle 1000] [--json]

A model made for this writes one word `rate` times a second into each of `streams` chats. Every word holds the
moment it was sent; the delay is measured where a reader of the server's event stream gets it. Model, server
and readers share the machine, so the figures are bounds from above. Then `idle` readers wait on an answer
that does not come, for the memory they take, and questions past the limit are counted.
"""

import argparse
import asyncio
import json
import os
import re
import sys
import tempfile
import time
from contextlib import asynccontextmanager
from pathlib import Path

BOUND_MB = 150  # for the whole process with a thousand readers
DIRECT = 2  # readers beside the server, to tell its delay from the machine's
WORD = re.compile(r"<(\d+)>")
HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n"


class Model:
    """An OpenAI-compatible endpoint; a question that says `wait` gets an answer that never comes."""

    def __init__(self, rate, seconds):
        self.rate, self.seconds, self.sent = rate, seconds, 0
        self.waiting, self.expected, self.all_here = 0, 1, asyncio.Event()

    def expect(self, streams):
        """Nobody is answered before so many have asked: what is measured is streaming, not planning."""
        self.waiting, self.expected, self.sent = 0, streams, 0
        self.all_here.clear()

    async def serve(self, reader, writer):
        head = await reader.readuntil(b"\r\n\r\n")
        size = int(re.search(rb"(?i)content-length: (\d+)", head)[1])
        body = json.loads(await reader.readexactly(size))
        writer.write(HEAD)
        try:
            if body["messages"][-1]["content"].endswith("wait"):
                await reader.read()
                return
            await self.talk(writer)
        except OSError:
            pass
        finally:
            writer.close()

    async def talk(self, writer):
        self.waiting += 1
        place = self.waiting
        if self.waiting == self.expected:
            self.all_here.set()
        await self.all_here.wait()
        # They all write at the same speed, but not in the same moment.
        started = time.monotonic() + place / self.expected / self.rate
        count = int(self.rate * self.seconds)
        for number in range(count):
            await asyncio.sleep(max(0.0, started + number / self.rate - time.monotonic()))
            writer.write(chunk({"content": f"<{time.monotonic_ns()}>"}))
            await writer.drain()
            self.sent += 1
        writer.write(chunk({}, "stop") + b"data: [DONE]\n\n")
        await writer.drain()


def chunk(delta, finish=None):
    body = {"id": "c", "choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}
    return b"data: " + json.dumps(body).encode() + b"\n\n"


class Server:
    """`sill serve` as a user starts it, asked over bare sockets so that the asking costs little."""

    def __init__(self, process, port, token):
        self.process, self.port, self.token = process, port, token

    async def open(self, method, path, body=None):
        data = b"" if body is None else json.dumps(body).encode()
        reader, writer = await asyncio.open_connection("127.0.0.1", self.port)
        writer.write(
            f"{method} {path} HTTP/1.1\r\nhost: 127.0.0.1:{self.port}\r\nauthorization: Bearer {self.token}\r\n"
            f"content-type: application/json\r\ncontent-length: {len(data)}\r\nconnection: close\r\n\r\n".encode()
            + data
        )
        head = (await reader.readuntil(b"\r\n\r\n")).decode()
        return int(head.split(" ", 2)[1]), head, reader, writer

    async def post(self, path, body):
        status, head, reader, writer = await self.open("POST", path, body)
        answer = await reader.read()
        writer.close()
        return status, head, json.loads(answer)

    def memory(self, kind="Rss"):
        """Megabytes that the process holds now; `Pss` has what it shares with others in part."""
        rolled = Path(f"/proc/{self.process.pid}/smaps_rollup").read_text()
        return int(re.search(rf"^{kind}:\s+(\d+)", rolled, re.MULTILINE)[1]) / 1024

    def cpu(self):
        fields = Path(f"/proc/{self.process.pid}/stat").read_text().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


@asynccontextmanager
async def serving(model_port):
    with tempfile.TemporaryDirectory() as place:
        vault = Path(place) / "vault"
        vault.mkdir()
        homes = {
            f"XDG_{n}_HOME": f"{place}/{n.lower()}" for n in ("CONFIG", "DATA", "STATE", "CACHE")
        }
        settings = {
            "SILL_PROBE": "false",
            "SILL_TOKENIZER": "o200k_base",
            "SILL_MODEL": "bench",
            "SILL_WINDOW": "32768",
            "SILL_BASE_URL": f"http://127.0.0.1:{model_port}/v1",
            "SILL_DATABASE_URL": f"{place}/sill.db",
            "SILL_TOOLS": "false",
        }
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "sill", "serve", "--port", "0", "--token", "--no-open"),
            *("--vault", str(vault)),
            env={**os.environ, **homes, **settings, "PYTHONUNBUFFERED": "1"},
            stdout=asyncio.subprocess.PIPE,
        )
        try:
            said = ""
            while "Log in" not in said:
                line = await process.stdout.readline()
                if not line:
                    raise SystemExit("the server did not start")
                said += line.decode()
            port = int(re.search(r"127\.0\.0\.1:(\d+)", said)[1])
            token = re.search(r"shown this once: (\S+)", said)[1]
            yield Server(process, port, token)
        finally:
            process.terminate()
            await process.wait()


async def read_along(server, delays):
    """Ask, read the events to the end, and note when each word arrived; how many words there were."""
    status, _, asked = await server.post("/api/v1/turns", {"text": "talk"})
    assert status == 202, asked
    _, _, reader, writer = await server.open("GET", asked["events"])
    words = 0
    ended = False
    while not ended:
        line = await reader.readline()
        if not line:
            break
        if line.startswith(b'data: {"kind":"delta"'):
            now = time.monotonic_ns()
            for sent in WORD.findall(line.decode()):
                delays.append((now - int(sent)) / 1e6)
                words += 1
        ended = line.startswith(b'data: {"kind":"finished"')
    writer.close()
    return words


async def read_directly(port, delays):
    """The same words straight from the model: what the machine itself adds at this moment."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    body = json.dumps({"messages": [{"content": "talk"}]}).encode()
    writer.write(b"POST / HTTP/1.1\r\ncontent-length: %d\r\n\r\n%s" % (len(body), body))
    while line := await reader.readline():
        now = time.monotonic_ns()
        delays += [(now - int(sent)) / 1e6 for sent in WORD.findall(line.decode())]
    writer.close()


def spread(delays):
    delays.sort()

    def at(part):
        return round(delays[min(len(delays) - 1, int(len(delays) * part))], 1)

    return {"p50": at(0.5), "p95": at(0.95), "p99": at(0.99), "max": at(1.0)}


async def under_load(server, streams, port):
    delays: list[float] = []
    direct: list[float] = []
    before, started = server.cpu(), time.monotonic()
    begun = server.memory()
    words, _ = await asyncio.gather(
        asyncio.gather(*(read_along(server, delays) for _ in range(streams))),
        asyncio.gather(*(read_directly(port, direct) for _ in range(DIRECT))),
    )
    took = time.monotonic() - started

    return {
        "streams": streams,
        "words": sum(words),
        "seconds": round(took, 1),
        "delay_ms": spread(delays),
        "without_server_ms": spread(direct),
        "direct_words": len(direct),
        "server_cpu": round((server.cpu() - before) / took, 2),
        "cpu_per_word_us": round((server.cpu() - before) / max(1, sum(words)) * 1e6),
        "server_mb": {"before": round(begun, 1), "after": round(server.memory(), 1)},
    }


async def idle(server, readers):
    """Memory of readers who wait on answers that do not come, and what is said past the limit."""
    turns, refused = [], []
    before = server.memory()
    while not refused:
        status, head, asked = await server.post("/api/v1/turns", {"text": "wait"})
        if status == 202:
            turns.append(asked)
        else:
            refused.append((status, "retry-after:" in head.lower()))
    with_turns = server.memory()
    opened = []
    for number in range(readers):
        _, _, reader, writer = await server.open("GET", turns[number % len(turns)]["events"])
        await reader.readuntil(b"\n\n")
        opened.append(writer)
    after, shared_out = server.memory(), server.memory("Pss")
    for writer in opened:
        writer.close()
    for turn in turns:
        await server.post(f"/api/v1/turns/{turn['turn']}/stop", {})
    return {
        "readers": readers,
        "server_mb": round(after, 1),
        "server_pss_mb": round(shared_out, 1),
        "bound_mb": BOUND_MB,
        "readers_mb": round(after - with_turns, 1),
        "turns": len(turns),
        "turns_mb": round(with_turns - before, 1),
        "past_the_limit": {"status": refused[0][0], "says_when": refused[0][1]},
    }


async def main(options):
    model = Model(options.rate, options.seconds)
    listening = await asyncio.start_server(model.serve, "127.0.0.1", 0, backlog=1024)
    port = listening.sockets[0].getsockname()[1]
    async with serving(port) as server:
        await read_along(server, [])  # everything that is loaded once is loaded
        model.expect(options.streams + DIRECT)
        loaded = await under_load(server, options.streams, port)
        loaded["lost"] = model.sent - loaded["words"] - loaded.pop("direct_words")
        waiting = await idle(server, options.idle)
    listening.close()
    return {"load": loaded, "idle": waiting}


def shown(found):
    load, waiting = found["load"], found["idle"]
    delay = load["delay_ms"]
    yield f"{load['streams']} answers at once, {load['words']:,} words in {load['seconds']} s, {load['lost']} lost"
    yield f"  added delay: p50 {delay['p50']} ms, p95 {delay['p95']} ms, p99 {delay['p99']} ms, max {delay['max']} ms"
    bare = load["without_server_ms"]
    yield f"  without the server, at the same time: p50 {bare['p50']} ms, p95 {bare['p95']} ms, p99 {bare['p99']} ms"
    used, each = load["server_cpu"], load["cpu_per_word_us"]
    yield f"  the server used {used:.0%} of one core, {each} µs for each word, the questions themselves included"
    held = load["server_mb"]
    yield f"  the process has {held['before']} MB before and {held['after']} MB after"
    readers, room, whole = waiting["readers"], waiting["readers_mb"], waiting["server_mb"]
    kept = "within" if whole < BOUND_MB else "NOT WITHIN"
    yield f"{readers:,} readers who wait for {waiting['turns']} answers take {room} MB"
    yield f"  the whole process has {whole} MB ({waiting['server_pss_mb']} MB by its share), {kept} {BOUND_MB} MB"
    past = waiting["past_the_limit"]
    when = "says when to come back" if past["says_when"] else "does not say when to come back"
    yield f"question {waiting['turns'] + 1} at once is answered {past['status']} and {when}"


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--streams", type=int, default=50)
    parser.add_argument("--rate", type=float, default=20)
    parser.add_argument("--seconds", type=float, default=10)
    parser.add_argument("--idle", type=int, default=1000)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    found = asyncio.run(main(options))
    print(json.dumps(found) if options.json else "\n".join(shown(found)))
    sys.exit(found["idle"]["server_mb"] >= BOUND_MB)
