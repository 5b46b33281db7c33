"""``sill serve`` as a process: how it starts, what it prints, and how it ends."""

import asyncio
import json
import os
import re
import signal
import subprocess
import sys
from contextlib import contextmanager

import httpx
import pytest

from sill.adapters.store import open_store
from tests.engine.workspace import says
from tests.models.fault_provider import FaultProvider, Hang, head, said
from tests.web.serving import parse


@contextmanager
def served(place, provider, *options):
    """The process, its address and the token it printed."""
    (place / "vault").mkdir(exist_ok=True)
    settings = {
        "SILL_PROBE": "false",
        "SILL_TOKENIZER": "o200k_base",
        "SILL_MODEL": "first",
        "SILL_WINDOW": "8192",
        "SILL_BASE_URL": f"{provider.url}/v1",
        "SILL_DATABASE_URL": str(place / "sill.db"),
        "PYTHONUNBUFFERED": "1",
    }
    command = (sys.executable, "-m", "sill", "serve", "--no-open", "--token", *options)
    process = subprocess.Popen(
        [*command, "--vault", str(place / "vault")],
        env={**os.environ, **settings},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        printed = ""
        while "Log in" not in printed:
            line = process.stdout.readline()
            assert line, "the server did not start"
            printed += line
        token = re.search(r"shown this once: (\S+)", printed)[1]
        url = re.search(r"at (http://127\.0\.0\.1:\d+)", printed)[1]
        headers = {"authorization": f"Bearer {token}"}
        with httpx.Client(base_url=url, headers=headers, timeout=120, trust_env=False) as http:
            yield process, http, printed
    finally:
        process.kill()
        process.wait()
        process.stdout.close()


@pytest.mark.slow
def test_it_prints_a_way_in_and_ends_in_order(tmp_path):
    """A signal in the middle of an answer: it is told and stored as interrupted, and so it is after a restart."""
    half = [head(), said("Half of"), Hang()]
    with FaultProvider(half, half, says("whole")) as provider:
        with served(tmp_path, provider, "--port", "0") as (process, http, printed):
            login = re.search(r"(http://\S+/login\?once=\S+)", printed)[1]
            with httpx.Client(trust_env=False, timeout=120) as browser:
                entered = browser.get(login)
                page = browser.get(str(http.base_url))
            asked = http.post("/api/v1/turns", json={"text": "hi"}).json()
            said_before = [{"role": "user", "content": "hi"}]
            question = {"model": "sill", "stream": True, "messages": said_before}
            with (
                http.stream("GET", asked["events"]) as stream,
                http.stream("POST", "/v1/chat/completions", json=question) as answer,
            ):
                events, chunks = stream.iter_text(), answer.iter_text()
                told, passed_on = _until_half(events), _until_half(chunks)
                process.send_signal(signal.SIGTERM)
                told += "".join(events)
                passed_on += "".join(chunks)
            code = process.wait(timeout=120)
        with served(tmp_path, provider, "--port", "0") as (_, http, _):
            resumed = parse(http.get(asked["events"], params={"after": "4.1"}).text)
            turn = http.get(f"/api/v1/turns/{asked['turn']}").json()

    ended = parse(told)[-1].data
    chunks = [json.loads(line[6:]) for line in passed_on.splitlines() if line.startswith("data: {")]
    assert (entered.status_code, page.status_code, code) == (303, 200, 0)
    assert (ended["outcome"], ended["text"]) == ("interrupted", "Half of")
    assert chunks[-1]["error"]["code"] == "interrupted"
    assert passed_on.endswith("data: [DONE]\n\n")
    assert [(e.name, e.data["text"]) for e in resumed] == [
        ("delta", " of"),
        ("finished", "Half of"),
    ]
    assert resumed[-1].data["outcome"] == "interrupted"
    assert (turn["status"], turn["answer"]) == ("interrupted", "Half of")


def _until_half(pieces):
    text = ""
    while "Half of" not in text:
        text += next(pieces)
    return text


@pytest.mark.slow
def test_what_came_before_a_crash_is_there_after_it(tmp_path):
    long = "word " * 200  # what has arrived is kept every few hundred characters

    with FaultProvider([head(), said(long), Hang()], says("whole")) as provider:
        with served(tmp_path, provider, "--port", "0") as (process, http, _):
            asked = http.post("/api/v1/turns", json={"text": "hi"}).json()
            with http.stream("GET", asked["events"]) as stream:
                for piece in stream.iter_text():
                    if "word" in piece:
                        break
            asyncio.run(_kept(tmp_path / "sill.db", asked["turn"], long))
            process.kill()
            process.wait()
        with served(tmp_path, provider, "--port", "0") as (_, http, _):
            rest = parse(http.get(asked["events"], params={"after": "5.1"}).text)
            turn = http.get(f"/api/v1/turns/{asked['turn']}").json()

    assert [event.name for event in rest] == ["delta", "finished"]
    assert rest[0].data["text"] == long[5:]
    assert (rest[1].data["outcome"], rest[1].data["text"]) == ("interrupted", long)
    assert turn["status"] == "interrupted"


async def _kept(database, turn, text):
    """Until the store has it: readers are told before."""
    store = await open_store(database)
    for _ in range(600):
        if await store.partial(turn) == text:
            break
        await asyncio.sleep(0.1)
    await store.close()


@pytest.mark.slow
def test_a_port_in_use_is_told_in_one_line(tmp_path):
    with FaultProvider() as provider, served(tmp_path, provider, "--port", "0") as (_, http, _):
        port = str(http.base_url.port)
        environment = {**os.environ, "SILL_DATABASE_URL": str(tmp_path / "b.db")}
        second = subprocess.run(
            [
                sys.executable,
                "-m",
                "sill",
                "serve",
                "--port",
                port,
                "--vault",
                str(tmp_path / "vault"),
            ],
            env=environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=120,
        )

    assert second.returncode == 2
    assert second.stderr.splitlines()[0] == f"sill: port {port}: address already in use"
