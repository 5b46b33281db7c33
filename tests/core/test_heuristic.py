"""An estimate falls short of no known vocabulary by more than its margin."""

import base64
import json
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sill.adapters.tokens._vocabularies import vocabulary as packaged
from sill.core.heuristic import MARGIN, estimate

from ..tokens.texts import code_texts, vault_texts

VOCABULARIES = ["o200k_base", "cl100k_base", "tekken", "llama3", "deepseek", "qwen", "mistral_v1"]
rng = random.Random(17)

KINDS = {
    "code": "\n".join(code_texts()[:40]),
    "notes": "\n".join(vault_texts()),
    "json": json.dumps([{"id": n, "name": "alpha", "ok": True, "at": n / 7} for n in range(200)]),
    "base64": base64.b64encode(rng.randbytes(6_000)).decode(),
    "hex": rng.randbytes(4_000).hex(),
    "numbers": ",".join(f"{rng.gauss(0, 100):.3f}" for _ in range(900)),
    "chinese": "人工智能是计算机科学的一个分支，它企图了解智能的实质，并生产出新的智能机器。" * 5,
    "japanese": "吾輩は猫である。名前はまだ無い。どこで生れたかとんと見当がつかぬ。" * 5,
    "korean": "모든 인간은 태어날 때부터 자유로우며 그 존엄과 권리에 있어 동등하다. " * 5,
    "russian": "Все люди рождаются свободными и равными в своем достоинстве и правах. " * 5,
    "arabic": "يولد جميع الناس أحرارًا متساوين في الكرامة والحقوق. " * 5,
    "hindi": "सभी मनुष्यों को गौरव और अधिकारों के मामले में जन्मजात स्वतन्त्रता प्राप्त है। " * 5,
    "thai": "มนุษย์ทั้งปวงเกิดมามีอิสระและเสมอภาคกันในศักดิ์ศรีและสิทธิ " * 5,
    "hebrew": "כל בני האדם נולדו בני חורין ושווים בערכם ובזכויותיהם. " * 5,
    "swedish": "Alla människor är födda fria och lika i värde och rättigheter. " * 5,
    "polish": "Wszyscy ludzie rodzą się wolni i równi pod względem swej godności. " * 5,
    "english": "People read the notes they wrote last year and find that half are still true. "
    * 20,
    "emoji": "😀🎉👍🏽 👩‍💻 🚀🔥 " * 20,
    "table": "\n".join(f"| item {n} | {n * 37} | some note |" for n in range(80)),
    "indents": "\n".join("    " * rng.randrange(6) + "x = call(y)" for _ in range(200)),
    "names": " ".join(["getUserById", "parse_http_header", "MAX_BUFFER_SIZE", "__init__"] * 40),
    "letters without sense": " ".join(
        "".join(rng.choice("abcdefghijklmnopqrstuvwxyz") for _ in range(8)) for _ in range(300)
    ),
}


@pytest.mark.parametrize("vocabulary", VOCABULARIES)
@pytest.mark.parametrize("kind", KINDS)
def test_it_is_never_short_by_more_than_its_margin(kind, vocabulary):
    real = len(packaged(vocabulary).encode(KINDS[kind]))

    assert real <= estimate(KINDS[kind]) * (1 + MARGIN)


@pytest.mark.parametrize("kind", ["code", "notes", "english", "json"])
def test_it_is_near_what_common_vocabularies_need(kind):
    real = len(packaged("o200k_base").encode(KINDS[kind]))

    assert estimate(KINDS[kind]) <= real * 1.5


@given(st.text())
def test_any_text_has_an_estimate(text):
    assert (estimate(text) == 0) is (text == "")
    assert estimate(text) <= 5 * len(text)
