"""Families whose vocabularies are not public: counts as their own tokenizers give them, against ours."""

import pytest

from sill.adapters.tokens._vocabularies import vocabulary
from sill.core.families import family_of
from sill.core.heuristic import MARGIN, estimate
from sill.core.likeness import Likeness

from .kinds import KINDS

MODELS = ("claude-opus-4-5", "claude-opus-4-7", "gemma-2-9b", "gemini-2.5-pro", "command-r-plus", "qwen3-8b")  # fmt: skip
# Taken with a reconstruction of Claude's two tokenizers (ctok 1.3, without the frame of a message), and with the published
# ones of Gemma 2, Gemma 3 (which is Gemini's, too), Command R+ and Qwen 3.
MEASURED = {
    "german": (137, 201, 89, 105, 105, 113),
    "french": (133, 153, 93, 93, 93, 117),
    "spanish": (129, 153, 89, 89, 89, 109),
    "swedish": (81, 93, 61, 65, 93, 90),
    "polish": (89, 121, 77, 81, 70, 89),
    "turkish": (109, 137, 81, 73, 66, 93),
    "indonesian": (121, 149, 73, 70, 65, 97),
    "vietnamese": (157, 173, 82, 82, 82, 82),
    "greek": (233, 233, 129, 133, 89, 288),
    "russian": (105, 105, 77, 73, 65, 82),
    "armenian": (213, 213, 173, 160, 337, 324),
    "hebrew": (137, 137, 89, 97, 77, 81),
    "arabic": (125, 125, 77, 73, 81, 77),
    "hindi": (205, 205, 114, 77, 206, 277),
    "thai": (213, 213, 117, 97, 248, 160),
    "korean": (165, 164, 106, 90, 81, 98),
    "japanese": (149, 148, 92, 92, 96, 104),
    "chinese": (153, 152, 92, 88, 88, 80),
    "english": (129, 153, 129, 129, 129, 129),
    "shouted": (141, 251, 106, 101, 121, 121),
    "names": (320, 559, 300, 300, 300, 220),
    "code": (457, 547, 446, 442, 420, 380),
    "note": (317, 395, 306, 308, 314, 300),
    "indents": (719, 719, 704, 704, 629, 525),
    "json": (1726, 2025, 2287, 2287, 2287, 2287),
    "csv": (1350, 1439, 1898, 1898, 1898, 1898),
    "table": (871, 871, 917, 917, 917, 858),
    "html": (1119, 1239, 1210, 1090, 1210, 1090),
    "diff": (1199, 1239, 1120, 1120, 1120, 1040),
    "numbers": (1359, 1358, 2540, 2540, 2540, 2540),
    "hex": (1732, 1936, 2631, 2646, 2607, 2641),
    "base64": (2300, 2507, 1815, 1861, 1823, 1957),
    "emoji": (201, 200, 81, 89, 137, 105),
}  # fmt: skip


def counted(model: str, kind: str) -> int:
    family, text = family_of(model), KINDS[kind]
    known = vocabulary(family.vocabulary).count(text)
    return known if family.likeness is None else family.likeness.tokens(text, known)


def test_every_kind_was_measured():
    assert list(MEASURED) == list(KINDS)


@pytest.mark.parametrize("model", MODELS)
def test_a_count_is_never_short_by_more_than_its_margin(model):
    column, margin = MODELS.index(model), family_of(model).margin

    short = {
        kind: (counted(model, kind), real[column])
        for kind, real in MEASURED.items()
        if real[column] > counted(model, kind) * (1 + margin)
    }

    assert short == {}


@pytest.mark.parametrize(
    "model, most", [(model, 1.45) for model in MODELS[:5]] + [("qwen3-8b", 1.0)]
)
def test_a_count_is_not_far_above_what_prose_and_code_cost(model, most):
    column = MODELS.index(model)

    over = [counted(model, kind) / MEASURED[kind][column] for kind in ("english", "note", "code")]

    assert sum(over) / len(over) <= most


@pytest.mark.parametrize("column", range(2, 6), ids=MODELS[2:])
def test_the_estimate_for_unknown_models_would_do_for_these(column):
    short = {
        kind: (estimate(KINDS[kind]), real[column])
        for kind, real in MEASURED.items()
        if real[column] > estimate(KINDS[kind]) * (1 + MARGIN)
    }

    assert short == {}


@pytest.mark.parametrize(
    "likeness, text, known, expected",
    [
        pytest.param(Likeness(), "some words", 2, 2, id="the same"),
        pytest.param(Likeness(1.5), "some words", 3, 5, id="scaled and rounded up"),
        pytest.param(Likeness(splits_digits=True), "1234567 12", 4, 9, id="every digit"),
        pytest.param(Likeness(splits_digits=True), "f();\nx\n", 5, 6, id="a mark and the end of a line"),
        pytest.param(Likeness(shouted=0.5), "NASA and MIT", 3, 7, id="words in capitals"),
        pytest.param(Likeness(capital=0.5), "Ann met Bob", 3, 4, id="words with a capital"),
        pytest.param(Likeness(least=2.0), "word", 1, 2, id="not below the estimate"),
        pytest.param(Likeness(1.2, True, 0.4, 0.2, 1.0), "", 0, 0, id="no text"),
    ],
)  # fmt: skip
def test_what_makes_a_difference(likeness, text, known, expected):
    assert likeness.tokens(text, known) == expected
