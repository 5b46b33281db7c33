"""From a model's name to the way it counts.

The first row whose pattern fits wins. A row is ``sure`` when the name alone settles the vocabulary;
a guess from part of a name is an estimate, however good the vocabulary is.
"""

import re
from dataclasses import dataclass, replace
from typing import Literal

from .certificate import Kind
from .formats import Format
from .likeness import Likeness

Vocabulary = Literal[
    "o200k_base",
    "o200k_harmony",
    "cl100k_base",
    "tekken",
    "llama3",
    "deepseek",
    "qwen",
    "glm",
    "kimi",
    "phi",
    "olmo",
    "mistral_v1",
]

PROVED: frozenset[str] = frozenset(
    {"o200k_base", "o200k_harmony", "cl100k_base", "tekken", "llama3", "deepseek"}
)
"""Vocabularies whose fast count equals the reference's on every text we tried."""


@dataclass(frozen=True, slots=True)
class Family:
    """How a group of models counts; ``window`` in tokens, where one number holds for the whole group.

    ``likeness`` tells the count where the real vocabulary is not public and this one stands in for it;
    ``margin`` is what may be missing then.
    """

    name: str
    vocabulary: Vocabulary
    style: Format
    window: int | None = None
    likeness: Likeness | None = None
    margin: float = 0.0
    sure: bool = True

    @property
    def kind(self) -> Kind:
        proved = self.vocabulary in PROVED and self.likeness is None and self.margin == 0.0
        return "exact" if proved and self.sure else "estimate"


_Row = tuple[str, Family]

# Measured against reconstructions of Claude's two vocabularies and against Google's and Cohere's published ones. Grok's
# is not public: it is taken to be like Cohere's, which costs most.
_CLAUDE_3 = Likeness(1.25, least=0.84)
_CLAUDE_5 = Likeness(1.7, shouted=0.37, capital=0.185, least=1.01)
_GOOGLE = Likeness(1.07, splits_digits=True, least=0.6)
_COHERE = Likeness(1.1, splits_digits=True, least=0.93)

_KNOWN: tuple[_Row, ...] = (
    (r"compound(-mini|-beta)?\b", Family("Groq Compound", "o200k_base", "agent", window=131_072)),
    (r"gpt-oss", Family("gpt-oss", "o200k_harmony", "gpt-oss", window=131_072)),
    (r"(gpt-5|codex)(?=.*chat-latest)", Family("GPT-5", "o200k_base", "harmony", window=128_000)),
    (r"gpt-[5-9]|codex-mini", Family("GPT-5", "o200k_base", "harmony", window=400_000)),
    (r"o1-(mini|preview)", Family("o1", "o200k_base", "o1-mini", window=128_000)),
    (r"o[134](-mini|-pro|-deep-research)?(-\d|$)", Family("o-series", "o200k_base", "harmony", window=200_000)),
    (r"gpt-4\.1", Family("GPT-4.1", "o200k_base", "gpt-4o", window=1_047_576)),
    (r"gpt-4\.5", Family("GPT-4.5", "o200k_base", "gpt-4o", window=128_000)),
    (r"(chat)?gpt-4o", Family("GPT-4o", "o200k_base", "gpt-4o", window=128_000)),
    (r"gpt-4-32k", Family("GPT-4", "cl100k_base", "gpt-4", window=32_768)),
    (r"gpt-4-(turbo|1106|0125|vision)", Family("GPT-4 Turbo", "cl100k_base", "gpt-4", window=128_000)),
    (r"gpt-4(-0314|-0613)?$", Family("GPT-4", "cl100k_base", "gpt-4", window=8_192)),
    (r"gpt-(3\.5|35)-turbo", Family("GPT-3.5", "cl100k_base", "gpt-3.5", window=16_385)),
    (r"text-embedding-(3|ada)", Family("OpenAI embeddings", "cl100k_base", "gpt-4", window=8_191)),
    (r"devstral-(small-2|2|medium-2)", Family("Devstral 2", "tekken", "tekken", window=262_144)),
    (r"devstral|codestral-25|voxtral", Family("Mistral", "tekken", "tekken", window=131_072)),
    (r"magistral|mistral-small", Family("Mistral Small", "tekken", "mistral-small", window=131_072)),
    (r"(open-)?mistral-(large|medium|nemo)|ministral|pixtral", Family("Mistral", "tekken", "mistral", window=131_072)),
    (r"(meta-)?llama-?3\.[123]", Family("Llama 3", "llama3", "llama3", window=131_072)),
    (r"(meta-)?llama-?3(-\d+b|:|$)", Family("Llama 3", "llama3", "llama3", window=8_192)),
    (r"deepseek-r1(-distill)?-llama", Family("DeepSeek distilled", "llama3", "deepseek", window=131_072)),
    (r"deepseek-(chat|reasoner|v[34]|r1(-0528)?$|r1:671b)", Family("DeepSeek", "deepseek", "deepseek", window=131_072)),
)  # fmt: skip

_BEFORE_CLAUDE_4_7 = r"claude(-instant|-v?[123]\b|-[123][-.]|-[a-z]+-[34](?!\d)(?![-.][7-9]))"

_GUESSED: tuple[_Row, ...] = (
    (r"llama-?4", Family("Llama 4", "llama3", "llama4", window=1_048_576, margin=0.05)),
    (r"qwen|qwq|deepseek-r1-distill-qwen|deepseek-r1:(1\.5|7|14|32)b", Family("Qwen", "qwen", "chatml", margin=0.03)),
    (r"glm-?[45]", Family("GLM", "glm", "chatml", window=131_072, margin=0.05)),
    (r"kimi|moonshot", Family("Kimi", "kimi", "chatml", window=131_072, margin=0.05)),
    (r"phi-?4", Family("Phi 4", "phi", "chatml", window=16_384, margin=0.03)),
    (r"olmo-?2", Family("OLMo 2", "olmo", "chatml", window=4_096, margin=0.03)),
    (r"mi(s|x)tral", Family("Mistral", "mistral_v1", "mistral", window=32_768, margin=0.05)),
    (r"llama-?2|vicuna|tinyllama|codellama", Family("Llama 2", "mistral_v1", "llama3", window=4_096, margin=0.08)),
    (r"deepseek", Family("DeepSeek", "deepseek", "deepseek", margin=0.05)),
    (r"(hermes-3|tulu-3|nemotron|llama)", Family("Llama", "llama3", "llama3", margin=0.08)),
    (r"gpt", Family("GPT", "o200k_base", "harmony", margin=0.05)),
    (_BEFORE_CLAUDE_4_7, Family("Claude 3", "o200k_base", "chatml", window=200_000, likeness=_CLAUDE_3, margin=0.25)),
    (r"claude", Family("Claude", "o200k_base", "chatml", window=200_000, likeness=_CLAUDE_5, margin=0.2)),
    (r"gemini", Family("Gemini", "o200k_base", "chatml", window=1_048_576, likeness=_GOOGLE, margin=0.15)),
    (r"gemma", Family("Gemma", "o200k_base", "chatml", likeness=_GOOGLE, margin=0.15)),
    (r"grok", Family("Grok", "o200k_base", "chatml", window=131_072, likeness=_COHERE, margin=0.15)),
    (r"command-(r|a)", Family("Command", "o200k_base", "chatml", window=131_072, likeness=_COHERE, margin=0.15)),
)  # fmt: skip


def margin_of(vocabulary: str) -> float:
    """What may be missing where this vocabulary counts for models that are known by nothing else."""
    alike = [one.margin for _, one in _GUESSED if one.vocabulary == vocabulary and not one.likeness]
    return 0.0 if vocabulary in PROVED else max(alike)


def family_of(model: str) -> Family | None:
    """The family of a model as people and services write its name; None if nothing fits.

    ``openai/gpt-4o``, ``ft:gpt-4o:acme``, ``models/gpt-4o`` and ``GPT-4o`` are all ``gpt-4o``.
    """
    name = model.strip().lower().removeprefix("ft:")
    name = name.rsplit("/", 1)[-1]
    for pattern, family in _KNOWN:
        if re.match(pattern, name):
            return family
    for pattern, family in _GUESSED:
        if re.search(pattern, name):
            return replace(family, sure=False)
    return None
