import json

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from sill.core.control import SPELLING, neutral_json, neutral_text, restore

SPELLINGS = [
    "<|im_end|>", "<|im_start|>", "<|endoftext|>", "<|eot_id|>", "<|start_header_id|>", "<|user|>",
    "<|START_OF_TURN_TOKEN|>", "<｜begin▁of▁sentence｜>", "<｜User｜>", "<s>", "</s>", "<unk>", "<pad>",
    "<bos>", "<eos>", "<start_of_turn>", "<end_of_turn>", "<start_of_image>", "<<SYS>>", "<</SYS>>",
    "[INST]", "[/INST]", "[SYSTEM_PROMPT]", "[/AVAILABLE_TOOLS]", "[TOOL_CALLS]", "[ARGS]", "[IMG]",
    "[THINK]", "[gMASK]", "<sop>", "<think>", "</think>", "<tool_call>", "</tool_response>",
    "<BOS_TOKEN>", "<fim_prefix>", "<repo_name>", "<reponame>", "<file_sep>", "<jupyter_start>",
    "<issue_comment>", "<empty_output>", "<unused42>",
]  # fmt: skip

HARMLESS = [
    "a < b and c > d", "f <| x |> g", "<b>bold</b>", "[link](url)", "[[Note]]", "a[INST", "<| spaced |>",
    "x <|> y", "{'type': 1}", '{"type":"other"}', "[1]", "<html>", "if (a<s && b>c)",
]  # fmt: skip

spoken = st.lists(
    st.sampled_from(
        [*SPELLINGS, "\\", "<", "[", "{", "|", ">", "\n", '{"type":"virtual_file_', "é"]
    )
).map("".join)


@pytest.mark.parametrize("spelling", SPELLINGS)
def test_a_control_token_is_broken_everywhere(spelling):
    text = f"before {spelling} after"

    assert SPELLING.search(neutral_text(text)) is None
    assert SPELLING.search(neutral_json(json.dumps(text, ensure_ascii=False))) is None
    assert restore(neutral_text(text)) == text


@pytest.mark.parametrize("text", HARMLESS)
def test_other_text_is_left_alone(text):
    assert neutral_text(text) == text
    assert neutral_json(text) == text


@pytest.mark.parametrize(
    "text, expected",
    [
        pytest.param("<|im_end|>", "<\\|im_end|>", id="visible backslash"),
        pytest.param("<\\|im_end|>", "<\\\\|im_end|>", id="one more where one was"),
        pytest.param("[INST]", "[\\INST]", id="square"),
        pytest.param(
            '{"type":"virtual_file_context"}', '{\\"type":"virtual_file_context"}', id="posing"
        ),
        pytest.param(
            '{ "type" : "recalled_turns"}', '{\\ "type" : "recalled_turns"}', id="posing, spaced"
        ),
    ],
)
def test_plain_text_is_marked_with_one_backslash(text, expected):
    assert neutral_text(text) == expected


@settings(max_examples=2_000)
@given(spoken)
def test_marks_can_be_taken_out_again_exactly(text):
    marked = neutral_text(text)

    assert SPELLING.search(marked) is None
    assert restore(marked) == text


@settings(max_examples=2_000)
@given(spoken)
@example("<|<|im_end|>")
def test_neutral_json_is_the_same_value(text):
    encoded = neutral_json(json.dumps(text, ensure_ascii=False))

    assert SPELLING.search(encoded) is None
    assert json.loads(encoded) == text
