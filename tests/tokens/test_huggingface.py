"""A ``tokenizer.json`` with its chat template, against the library itself."""

import asyncio
import json

import pytest
from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers, trainers

from sill.adapters.tokens import counter_for
from sill.adapters.tokens._template import TemplateRefused, compile_template
from sill.adapters.tokens.huggingface import find_tokenizer, load
from sill.core.certificate import Counts
from sill.core.messages import ToolCall
from sill.core.request import ChatRequest, ToolSchema, WireMessage
from sill.errors import SettingsError

from .test_local import sum_of_parts
from .texts import code_texts, hard_texts, vault_texts

TEMPLATE = (
    "{{ bos_token }}{% if tools %}<|im_start|>tools\n{{ tools | tojson }}<|im_end|>\n{% endif %}"
    "{% for message in messages %}<|im_start|>{{ message.role }}\n{{ message.content }}"
    "{% for call in message.tool_calls or [] %}{{ call.function | tojson }}{% endfor %}"
    "<|im_end|>\n{% endfor %}{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A small byte-level vocabulary, trained here, as a model's folder on disk."""
    library = Tokenizer(models.BPE())
    library.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    library.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=3_000,
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    library.train_from_iterator([*vault_texts(), *code_texts()[:30]], trainer)
    library.add_special_tokens(
        [AddedToken(t, special=True) for t in ("<s>", "<|im_start|>", "<|im_end|>")]
    )
    place = tmp_path_factory.mktemp("hub") / "models--acme--small" / "snapshots" / "abc"
    place.mkdir(parents=True)
    library.save(str(place / "tokenizer.json"))
    config = {"chat_template": TEMPLATE, "bos_token": {"content": "<s>"}, "eos_token": None}
    (place / "tokenizer_config.json").write_text(json.dumps(config))
    return place


@pytest.fixture(scope="module")
def reference(folder):
    return Tokenizer.from_file(str(folder / "tokenizer.json"))


def test_texts_are_counted_as_text(folder, reference):
    texts = [*hard_texts(300, seed=18), "<|im_start|>user", "<s>"]
    reference.encode_special_tokens = True

    counts = asyncio.run(load(folder / "tokenizer.json").count(texts))

    expected = tuple(len(reference.encode(text, add_special_tokens=False).ids) for text in texts)
    assert counts == Counts(expected, "exact")


def test_a_request_is_counted_as_it_is_rendered(folder, reference):
    call = ToolCall("id", "read", '{"path": "a"}')
    messages = (
        WireMessage("system", "be kind"),
        WireMessage("user", "what <is> it & 'why'?"),
        WireMessage("assistant", None, tool_calls=(call,)),
        WireMessage("tool", "nothing", tool_call_id="id"),
    )
    tool = ToolSchema("read", "Reads <it>.", {"type": "object"})
    rendered = (
        "<s><|im_start|>tools\n"
        + json.dumps([tool.body()])
        + "<|im_end|>\n<|im_start|>system\nbe kind<|im_end|>\n"
        + "<|im_start|>user\nwhat <is> it & 'why'?<|im_end|>\n"
        + '<|im_start|>assistant\n{"name": "read", "arguments": {"path": "a"}}<|im_end|>\n'
        + "<|im_start|>tool\nnothing<|im_end|>\n<|im_start|>assistant\n"
    )
    reference.encode_special_tokens = False
    request = ChatRequest("m", messages, 1, tools=(tool,))

    counts = asyncio.run(load(folder / "tokenizer.json").count_request(request))

    expected = len(reference.encode(rendered, add_special_tokens=False).ids)
    assert counts == Counts((expected,), "exact")


def test_the_sum_of_parts_is_never_below_the_whole(folder):
    counter = load(folder / "tokenizer.json")
    texts = list(hard_texts(150, seed=19))

    async def compare():
        short = []
        for start in range(0, len(texts) - 3, 3):
            messages = tuple(
                WireMessage(role, text[:200])
                for role, text in zip(("system", "user", "assistant"), texts[start:], strict=False)
            )
            whole = await counter.count_request(ChatRequest("m", messages, 1))
            if await sum_of_parts(counter, messages) < whole.tokens[0]:
                short.append(messages)
        return short

    assert asyncio.run(compare()) == []


def test_a_long_text_is_counted_by_pieces_and_a_run_is_bounded(folder, reference):
    counter = load(folder / "tokenizer.json")
    words, run = "many words, " * 15_000, "a" * 150_000

    counts = [asyncio.run(counter.count([text])) for text in (words, run)]

    expected = len(reference.encode(words, add_special_tokens=False).ids)
    assert counter.cuts
    assert counts == [Counts((expected,), "exact"), Counts((150_001,), "bound")]


def test_it_is_found_by_path_folder_and_name(folder):
    cache = folder.parents[2]

    found = [find_tokenizer(str(folder)), find_tokenizer(str(folder / "tokenizer.json"))]
    found.append(find_tokenizer("acme/small", cache))

    assert found == [folder / "tokenizer.json"] * 3
    assert find_tokenizer("acme/other", cache) is None


def test_a_configured_path_is_used(folder):
    chosen = asyncio.run(counter_for("whatever", tokenizer=str(folder)))

    assert chosen.counter.tokenizer.id.startswith("hf:")
    assert chosen.reason == f"configured: {folder / 'tokenizer.json'}"


@pytest.mark.parametrize("name", ["nowhere/at-all", "no-such-vocabulary"])
def test_a_tokenizer_that_is_not_there_is_named(name):
    with pytest.raises(SettingsError, match=name):
        asyncio.run(counter_for("gpt-5", tokenizer=name))


def test_a_file_that_is_no_tokenizer_is_named(tmp_path):
    (tmp_path / "tokenizer.json").write_text('{"hello": 1}')

    with pytest.raises(SettingsError, match=r"not a tokenizer\.json"):
        load(tmp_path / "tokenizer.json")


def test_without_a_template_requests_are_estimates(folder, tmp_path):
    (tmp_path / "tokenizer.json").write_text((folder / "tokenizer.json").read_text())
    counter = load(tmp_path / "tokenizer.json")

    counts = asyncio.run(counter.count_request(ChatRequest("m", (WireMessage("user", "hi"),), 1)))

    assert counts.kind == "estimate"


@pytest.mark.parametrize(
    "template",
    [
        pytest.param("{{ ''.__class__.__mro__ }}", id="reaches for types"),
        pytest.param("{{ messages.append(1) }}", id="changes what it is given"),
        pytest.param("{{ raise_exception('roles must alternate') }}", id="refuses"),
        pytest.param("{{ nothing.at.all }}", id="asks for what is not there"),
    ],
)
def test_a_template_can_do_no_harm(template):
    render = compile_template(template, {})

    with pytest.raises(TemplateRefused):
        render({"messages": []})


@pytest.mark.parametrize(
    "name, kind",
    [("o200k_base", "exact"), ("tekken", "exact"), ("estimate", "estimate"), ("auto", "exact")],
)
def test_a_configured_vocabulary_is_used(name, kind):
    assert asyncio.run(counter_for("gpt-4", tokenizer=name)).counter.tokenizer.kind == kind


@pytest.mark.parametrize("name, margin", [("tekken", 0.0), ("qwen", 0.03), ("mistral_v1", 0.08)])
def test_a_configured_vocabulary_has_its_own_margin(name, margin):
    assert asyncio.run(counter_for("any", tokenizer=name)).counter.tokenizer.margin == margin
