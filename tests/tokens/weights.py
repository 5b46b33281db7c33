"""Tiny model files with a real vocabulary: llama.cpp reads them, their answers mean nothing."""

from pathlib import Path

import gguf
import numpy

from .references import byte_letters, last_merge, packaged_ranks

TEMPLATE = (
    "{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content }}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)
WIDTH = 32


def write_llama3(path: Path) -> None:
    """One layer of noise under Llama 3's vocabulary and merges."""
    ranks = packaged_ranks("llama3", 0, 128_000)
    letters = byte_letters()
    spelled = {text: "".join(letters[byte] for byte in text) for text in ranks}
    specials = ["<|im_start|>", "<|im_end|>"]
    # A few long tokens are whole words that no merge makes; llama.cpp knows this of this vocabulary.
    merges = [
        f"{spelled[left]} {spelled[right]}"
        for text, rank in ranks.items()
        if len(text) > 1
        for left, right in [last_merge(text, rank, ranks)]
        if left in spelled and right in spelled
    ]
    writer = gguf.GGUFWriter(path, "llama")
    writer.add_context_length(4096)
    writer.add_embedding_length(WIDTH)
    writer.add_block_count(1)
    writer.add_feed_forward_length(WIDTH)
    writer.add_head_count(1)
    writer.add_head_count_kv(1)
    writer.add_rope_dimension_count(WIDTH)
    writer.add_layer_norm_rms_eps(1e-5)
    writer.add_vocab_size(len(ranks) + len(specials))
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre("llama-bpe")
    writer.add_token_list([*spelled.values(), *specials])
    kinds = [gguf.TokenType.NORMAL] * len(ranks) + [gguf.TokenType.CONTROL] * len(specials)
    writer.add_token_types(kinds)
    writer.add_token_merges(merges)
    writer.add_bos_token_id(len(ranks))
    writer.add_eos_token_id(len(ranks) + 1)
    writer.add_add_bos_token(False)
    writer.add_chat_template(TEMPLATE)
    _add_noise(writer, len(ranks) + len(specials))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def _add_noise(writer: gguf.GGUFWriter, size: int) -> None:
    noise = numpy.random.default_rng(0)
    for name in ("output_norm", "blk.0.attn_norm", "blk.0.ffn_norm"):
        writer.add_tensor(f"{name}.weight", numpy.ones(WIDTH, dtype=numpy.float32))
    square = [f"blk.0.{part}" for part in ("attn_q", "attn_k", "attn_v", "attn_output")]
    square += [f"blk.0.ffn_{part}" for part in ("gate", "up", "down")]
    for name, rows in [("token_embd", size), *((name, WIDTH) for name in square)]:
        values = noise.normal(scale=0.02, size=(rows, WIDTH)).astype(numpy.float16)
        writer.add_tensor(f"{name}.weight", values)
