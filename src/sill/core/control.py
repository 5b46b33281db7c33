r"""Spellings that a chat template would obey, made harmless.

Servers parse control tokens anywhere in the rendered prompt, so ``<|im_end|>`` inside a file would end the
turn. Inside envelopes the opening character becomes ``\u003c`` or ``\u005b``: the JSON still parses to the
exact text. In plain messages one backslash goes in after the opening character, ``<\|im_end|>``: people see
it, and ``restore`` takes it out again, exactly. Plain text that poses as an envelope is treated the same way.
"""

import re

_ANGLE = "|".join(
    (
        r"[|｜][^<>\\\s]{1,80}?[|｜]>",  # ChatML, Llama 3, Phi, Granite, Command R, Kimi, DeepSeek
        r"/?s>|(?:unk|pad|bos|eos|mask|sop|eop)>|unused\d+>",
        r"</?SYS>>",  # Llama 2
        r"(?:start|end)_of_[a-z]+>",  # Gemma
        r"/?(?:think|tool_call|tool_response)>",  # Qwen
        r"[A-Z_]{2,40}_TOKEN>",
        r"(?:fim_(?:prefix|middle|suffix|pad)|file_sep|repo_?name|filename|gh_stars|empty_output)>",
        r"(?:issue|jupyter)_[a-z]+>",  # StarCoder, SmolLM
    )
)
_SQUARE = "|".join(
    (
        r"/?(?:INST|SYSTEM_PROMPT|AVAILABLE_TOOLS|TOOL_RESULTS|THINK|MODEL_SETTINGS)\]",  # Mistral
        r"(?:TOOL_CALLS|TOOL_CONTENT|ARGS|CALL_ID|PREFIX|MIDDLE|SUFFIX)\]",
        r"(?:IMG|IMG_BREAK|IMG_END|AUDIO|BEGIN_AUDIO|TRANSCRIBE)\]",
        r"[gs]?MASK\]",  # GLM
    )
)
_POSING = r'\s*"type"\s*:\s*"(?:virtual_file_|recalled_turns|earlier_turns|pinned_turn|proposal_news|remembered_facts)'

# Each pattern begins with one set of characters, which is what a search can skip to.
SPELLING = re.compile(rf"[<\[](?=(?<=<)(?:{_ANGLE})|(?<=\[)(?:{_SQUARE}))")
_BODIES = rf"(?=({_ANGLE})|({_SQUARE})|({_POSING}))"
_BARE = re.compile(r"([<\[{])(\\*)" + _BODIES)
_MARKED = re.compile(r"([<\[{])\\(\\*)" + _BODIES)


def neutral_json(encoded: str) -> str:
    """The same JSON value without a control token in its text."""
    if "<" not in encoded and "[" not in encoded:
        return encoded
    return SPELLING.sub(lambda found: f"\\u{ord(found[0]):04x}", encoded)


def neutral_text(text: str) -> str:
    """``text`` as a model may read it: every control token and posing envelope visibly broken."""
    return _BARE.sub(lambda found: _marked(found, "\\"), text) if _may_need(text) else text


def restore(text: str) -> str:
    """What ``neutral_text`` was given."""
    return _MARKED.sub(lambda found: _marked(found, ""), text) if _may_need(text) else text


def _may_need(text: str) -> bool:
    return "<" in text or "[" in text or "{" in text


def _marked(found: re.Match[str], mark: str) -> str:
    opener, backslashes, *bodies = found.groups()
    belongs = bodies["<[{".index(opener)] is not None
    return f"{opener}{mark}{backslashes}" if belongs else found[0]
