"""The libraries that define each vocabulary, made to work without a download.

The packaged ranks are written out in the published file format; the published checksums of those
files prove that they are the official ranks, before a line of the packaged encoder is trusted.
"""

import base64
import hashlib
from collections.abc import Callable
from functools import cache

import splintr
import tiktoken

Encode = Callable[[str], list[int]]

# As published by the models' makers.
CHECKSUMS = {
    "o200k_base": (199_998, "446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d"),
    "cl100k_base": (100_256, "223921b76ee99bde995b7ff738513eef100fb51d18c93597a113bcffe865b2a7"),
    "llama3": (128_000, "82e9d31979e92ab929cd544440f129d9ecd797b69e327f80f17e1c50d5551b55"),
}

CL100K = (
    r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+| ?[^\s\p{L}\p{N}]++[\r\n]*+"
    r"|\s++$|\s*[\r\n]|\s+(?!\S)|\s"
)
LLAMA3 = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*"
    r"|\s*[\r\n]+|\s+(?!\S)|\s+"
)
_UPPER, _LOWER = r"[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]", r"[\p{Ll}\p{Lm}\p{Lo}\p{M}]"
_CONTRACTION = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
O200K = (
    rf"[^\r\n\p{{L}}\p{{N}}]?{_UPPER}*{_LOWER}+{_CONTRACTION}"
    rf"|[^\r\n\p{{L}}\p{{N}}]?{_UPPER}+{_LOWER}*{_CONTRACTION}"
    r"|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)
PATTERNS = {"o200k_base": O200K, "cl100k_base": CL100K, "llama3": LLAMA3}

DEEPSEEK = (
    r"\p{N}{1,3}",
    "[一-龥぀-ゟ゠-ヿ]+",
    r"""[!"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+"""
    r"| ?[\p{P}\p{S}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+",
)


def packaged_ranks(name: str, first: int, end: int) -> dict[bytes, int]:
    tokenizer = splintr.Tokenizer.from_pretrained(name)
    return {tokenizer.decode_bytes([token]): token for token in range(first, end)}


def rank_file(ranks: dict[bytes, int]) -> bytes:
    """Ranks in the format in which they are published."""
    return b"".join(base64.b64encode(text) + b" %d\n" % rank for text, rank in ranks.items())


@cache
def official(name: str) -> Encode:
    """tiktoken with ranks whose checksum is the published one."""
    count, checksum = CHECKSUMS[name]
    ranks = packaged_ranks(name, 0, count)
    assert hashlib.sha256(rank_file(ranks)).hexdigest() == checksum
    encoding = tiktoken.Encoding(
        name, pat_str=PATTERNS[name], mergeable_ranks=ranks, special_tokens={}
    )
    return encoding.encode_ordinary


@cache
def tekken() -> Encode:
    """mistral-common with the ranks that it carries itself."""
    from mistral_common.tokens.tokenizers.mistral import MistralTokenizer

    tokenizer = MistralTokenizer.v3(is_tekken=True).instruct_tokenizer.tokenizer
    return lambda text: tokenizer.encode(text, bos=False, eos=False)


@cache
def deepseek() -> Encode:
    """The Hugging Face library with DeepSeek's published pre-tokenizer and the packaged merges."""
    return byte_level(packaged_ranks("deepseek_v3", 3, 128_000), DEEPSEEK)


def byte_level(ranks: dict[bytes, int], splits: tuple[str, ...]) -> Encode:
    """The Hugging Face library with these ranks as merges."""
    from tokenizers import Regex, Tokenizer, models, pre_tokenizers

    letters = byte_letters()
    spelled = {text: "".join(letters[byte] for byte in text) for text in ranks}
    vocabulary = {spelled[text]: rank for text, rank in ranks.items()}
    merges = [
        (spelled[left], spelled[right])
        for text, rank in ranks.items()
        if len(text) > 1
        for left, right in [last_merge(text, rank, ranks)]
    ]
    library = Tokenizer(models.BPE(vocab=vocabulary, merges=merges))
    cuts = [pre_tokenizers.Split(Regex(pattern), "isolated") for pattern in splits]
    library.pre_tokenizer = pre_tokenizers.Sequence(
        [*cuts, pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)]
    )
    return lambda text: library.encode(text, add_special_tokens=False).ids


def last_merge(text: bytes, rank: int, ranks: dict[bytes, int]) -> tuple[bytes, bytes]:
    """The two tokens whose merge makes ``text``: what merging gives with lower ranks only."""
    parts = [bytes([byte]) for byte in text]
    while len(parts) > 2:
        pairs = [(ranks.get(parts[i] + parts[i + 1], rank), i) for i in range(len(parts) - 1)]
        _, i = min(pairs)
        parts[i : i + 2] = [parts[i] + parts[i + 1]]
    return parts[0], parts[1]


def byte_letters() -> dict[int, str]:
    """The printable letter that stands for each byte in byte-level vocabularies."""
    printable = [*range(33, 127), *range(161, 173), *range(174, 256)]
    others = [byte for byte in range(256) if byte not in printable]
    shown = {byte: chr(byte) for byte in printable}
    return shown | {byte: chr(256 + place) for place, byte in enumerate(others)}
