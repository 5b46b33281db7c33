"""A real server whose vocabulary is packaged too: texts are counted here, and the same."""

import asyncio

import httpx
import pytest

from sill.adapters.local.supervise import open_local
from sill.adapters.tokens import Endpoint, Probes, counter_for
from sill.adapters.tokens._vocabularies import vocabulary
from sill.adapters.tokens.first import LocalFirst, twin
from sill.adapters.tokens.llamacpp import SAMPLE, LlamaCpp
from sill.core.certificate import Counts
from sill.core.request import ChatRequest, WireMessage

from .test_local import sum_of_parts
from .texts import code_texts, hard_texts
from .weights import write_llama3

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def llama3_server(tmp_path_factory):
    weights = tmp_path_factory.mktemp("weights") / "llama3.gguf"
    write_llama3(weights)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_RUNTIME_DIR", str(tmp_path_factory.mktemp("run")))
        patch.setenv("XDG_STATE_HOME", str(tmp_path_factory.mktemp("state")))
        server = open_local(weights)
    with server:
        yield server


def with_counters(server, work):
    """``work`` with the counter that was chosen, and with one that always asks the server."""

    async def run():
        async with httpx.AsyncClient(timeout=60, trust_env=False) as client:
            endpoint = Endpoint(server.base_url, client, server.api_key)
            probes = Probes()
            chosen = await counter_for("any", endpoint=endpoint, probes=probes)
            asking = LlamaCpp(endpoint, await probes.ask(endpoint, "any"))
            return await work(chosen.counter, asking)

    return asyncio.run(run())


def test_every_text_counts_as_the_server_counts_it(llama3_server):
    texts = [text[:400] for text in hard_texts(700, seed=21)] + [
        t[:3_000] for t in code_texts()[:60]
    ]

    async def work(first, asking):
        assert isinstance(first, LocalFirst)
        together, alone = [], []
        for start in range(0, len(texts), 50):
            together += (await first.count(texts[start : start + 50])).tokens
            alone += (await asking.count(texts[start : start + 50])).tokens
        return together, alone

    together, alone = with_counters(llama3_server, work)

    wrong = [text for text, a, b in zip(texts, together, alone, strict=True) if a != b]
    assert wrong == []


def test_requests_are_counted_by_the_server_and_never_above_their_parts(llama3_server):
    lists = [
        (WireMessage("system", system[:80]), WireMessage("user", question[:80]))
        for system, question in zip(hard_texts(60, 22), hard_texts(60, 23), strict=True)
    ]

    async def work(first, asking):
        short = []
        for messages in lists:
            request = ChatRequest("any", messages, 1)
            whole = await first.count_request(request)
            assert whole == await asking.count_request(request)
            if await sum_of_parts(first, messages) < whole.tokens[0]:
                short.append(messages)
        return short

    assert with_counters(llama3_server, work) == []


def test_ascii_texts_need_no_server(llama3_server):
    async def work(first, asking):
        class Gone:
            async def count(self, texts):
                raise AssertionError("nobody should be asked")

        first._server = Gone()
        return await first.count(["hello world", ""])

    assert with_counters(llama3_server, work) == Counts((2, 0), "exact")


class Listening:
    """The server's counter, and what it was asked for."""

    def __init__(self, counter):
        self.tokenizer = counter.tokenizer
        self._counter = counter
        self.asked = []

    async def count(self, texts):
        self.asked += texts
        return await self._counter.count(texts)


def test_of_a_large_text_only_blocks_with_other_letters_go_to_the_server(llama3_server):
    code = "\n".join(code_texts()[:20]).encode("ascii", "ignore").decode()[:30_000]
    text = f"{code[:9_000]} naïve {code[9_000:]} 東京"

    async def work(first, asking):
        server = Listening(asking)
        counts = await LocalFirst(server, first._plain, cuts=True).count([text, "hi", "é"])
        return counts, await asking.count([text, "hi", "é"]), server.asked

    counts, alone, asked = with_counters(llama3_server, work)

    assert counts == alone
    assert not any(piece.isascii() and "<" not in piece for piece in asked)
    assert sum(map(len, asked)) < len(text) // 4


def test_a_twin_must_give_the_same_tokens():
    tokens = vocabulary("llama3").encode(SAMPLE)

    assert twin(128_256, SAMPLE, tokens) is vocabulary("llama3")
    assert twin(128_256, SAMPLE, tokens[1:]) is None
    assert twin(49_152, SAMPLE, tokens) is None
    assert twin(None, SAMPLE, tokens) is None
