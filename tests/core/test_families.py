from typing import get_args

import pytest

from sill.core.families import PROVED, Vocabulary, family_of, margin_of


@pytest.mark.parametrize(
    "model, expected",
    [
        ("gpt-5", ("o200k_base", "harmony", 400_000, "exact")),
        ("gpt-5.6-sol", ("o200k_base", "harmony", 400_000, "exact")),
        ("openai/gpt-4o-2024-08-06", ("o200k_base", "gpt-4o", 128_000, "exact")),
        ("ft:gpt-4o:acme", ("o200k_base", "gpt-4o", 128_000, "exact")),
        ("gpt-4.1-mini", ("o200k_base", "gpt-4o", 1_047_576, "exact")),
        ("GPT-4", ("cl100k_base", "gpt-4", 8_192, "exact")),
        ("gpt-4-turbo-2024-04-09", ("cl100k_base", "gpt-4", 128_000, "exact")),
        ("gpt-3.5-turbo-0125", ("cl100k_base", "gpt-3.5", 16_385, "exact")),
        ("o3-mini-2025-01-31", ("o200k_base", "harmony", 200_000, "exact")),
        ("o1-mini-2024-09-12", ("o200k_base", "o1-mini", 128_000, "exact")),
        ("openai/gpt-oss-120b", ("o200k_harmony", "gpt-oss", 131_072, "exact")),
        ("gpt-oss:20b", ("o200k_harmony", "gpt-oss", 131_072, "exact")),
        ("devstral-small-2", ("tekken", "tekken", 262_144, "exact")),
        ("mistralai/Devstral-Small-2-24B", ("tekken", "tekken", 262_144, "exact")),
        ("mistral-small-latest", ("tekken", "mistral-small", 131_072, "exact")),
        ("mistral-large-latest", ("tekken", "mistral", 131_072, "exact")),
        ("meta-llama/Llama-3.1-8B-Instruct", ("llama3", "llama3", 131_072, "exact")),
        ("llama3:8b", ("llama3", "llama3", 8_192, "exact")),
        ("deepseek-chat", ("deepseek", "deepseek", 131_072, "exact")),
        ("deepseek-r1-distill-llama-70b", ("llama3", "deepseek", 131_072, "exact")),
        ("deepseek-r1:7b", ("qwen", "chatml", None, "estimate")),
        ("qwen/qwen3-32b", ("qwen", "chatml", None, "estimate")),
        ("my-llama-finetune", ("llama3", "llama3", None, "estimate")),
        ("claude-opus-4", ("o200k_base", "chatml", 200_000, "estimate")),
        ("mixtral-8x7b", ("mistral_v1", "mistral", 32_768, "estimate")),
        ("groq/compound", ("o200k_base", "agent", 131_072, "exact")),
    ],
)
def test_the_name_settles_how_a_model_counts(model, expected):
    family = family_of(model)

    assert (family.vocabulary, family.style, family.window, family.kind) == expected


@pytest.mark.parametrize(
    "model, expected",
    [
        ("claude-3-haiku-20240307", "Claude 3"),
        ("claude-3-5-sonnet-20241022", "Claude 3"),
        ("claude-3.7-sonnet", "Claude 3"),
        ("anthropic/claude-opus-4", "Claude 3"),
        ("claude-opus-4-1-20250805", "Claude 3"),
        ("claude-sonnet-4-20250514", "Claude 3"),
        ("anthropic.claude-sonnet-4-5-20250929-v1:0", "Claude 3"),
        ("claude-opus-4-6", "Claude 3"),
        ("claude-opus-4-7", "Claude"),
        ("claude-opus-4.8", "Claude"),
        ("claude-sonnet-5", "Claude"),
        ("claude-fable-5-1", "Claude"),
        ("claude-next", "Claude"),
    ],
)
def test_claude_counts_by_one_of_two_vocabularies_and_by_the_finer_one_in_doubt(model, expected):
    assert family_of(model).name == expected


@pytest.mark.parametrize("model", ["", "unheard-of", "smollm2", "my-model/v2"])
def test_an_unknown_name_has_no_family(model):
    assert family_of(model) is None


@pytest.mark.parametrize("model", ["qwen3-8b", "claude-opus-4", "gemini-2.5-pro", "my-gpt"])
def test_a_guess_has_a_margin(model):
    family = family_of(model)

    assert not family.sure
    assert 0 < family.margin < 0.5


@pytest.mark.parametrize("vocabulary", get_args(Vocabulary))
def test_a_vocabulary_that_is_not_proved_has_a_margin_by_itself(vocabulary):
    assert (margin_of(vocabulary) == 0) is (vocabulary in PROVED)


def test_the_margin_of_a_vocabulary_is_the_widest_of_its_families():
    assert (margin_of("qwen"), margin_of("mistral_v1")) == (0.03, 0.08)
