"""What a chat is called: a few words of its first question, or what a model makes of it."""

import re

from .summaries import plain_text, shortened

LONGEST = 60  # characters

_FENCE = re.compile(r"^[ \t]*(```|~~~).*?(?:^[ \t]*\1|\Z)", re.MULTILINE | re.DOTALL)
_LINE_MARK = re.compile(r"^[ \t]*(?:#{1,6}[ \t]+|>[ \t]?|[-*+][ \t]+|\d{1,3}[.)][ \t]+)+")
# What people say before they say what they want.
_PREAMBLE = re.compile(
    r"(?:(?:hi|hello|hey|ok|okay|so|well|thanks|thank you|please|(?:can|could|would|will) you(?: please)?"
    r"|i(?:'d| would) like (?:you )?to|i want (?:you )?to|i need (?:you )?to|help me(?: to)?|tell me)\b[\s,.!:-]*)+",
    re.IGNORECASE,
)
_QUOTES = "\"'“”‘’«»*_`# "


def title_of(question: str, most: int = LONGEST) -> str:
    """The question's first line that says something, tidied, as one short line; empty if there is none."""
    text = _FENCE.sub("\n", question)
    lines = (plain_text(_LINE_MARK.sub("", line)) for line in text.splitlines())
    line = next((line for line in lines if any(map(str.isalnum, line))), "")
    if not line:
        rows = (one.strip() for one in question.splitlines())
        line = next((row for row in rows if row and not row.startswith(("```", "~~~"))), "")
    before = _PREAMBLE.match(line)
    return _titled(line[before.end() :] or line if before else line, most)


def title_from_model(answer: str, most: int = LONGEST) -> str:
    """The title in a model's answer, without quotation marks and a final full stop; empty if it gave none."""
    line = next((line for line in answer.splitlines() if any(map(str.isalnum, line))), "")
    head, colon, rest = line.partition(":")
    if colon and head.strip(_QUOTES).lower() == "title":
        line = rest
    return _titled(line.strip(_QUOTES).removesuffix("."), most)


def _titled(text: str, most: int) -> str:
    line = shortened(" ".join(text.split()), most)
    return line[:1].upper() + line[1:]
