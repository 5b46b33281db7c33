"""What people type into a search box, taken apart.

Words, ``"exact phrases"``, ``-without``, ``path:folder``, ``file:name``, ``tag:name``.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

_MOST_WORDS = 64
_PART = re.compile(r'(-?)(?:(path|file|tag):)?(?:"([^"]*+)"?|(\S++))')
_WORD = re.compile(r"\w+", re.UNICODE)

# Words that are in every text; a search made of nothing else keeps them.
_COMMON_WORDS = (
    "a about an and are as at be been but by can could did do does for from had has have how i if in into is it "
    "its me my no not of on or our so than that the their them then there these they this to was we were what "
    "when where which who why will with would you your"
)
_COMMON = frozenset(_COMMON_WORDS.split())


@dataclass(frozen=True, slots=True)
class Query:
    words: tuple[str, ...] = ()
    phrases: tuple[str, ...] = ()
    without: tuple[str, ...] = ()
    paths: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        """The part that means something by itself, for an embedder."""
        return " ".join([*self.words, *self.phrases])


def parse_query(text: str) -> Query:
    """Never fails: whatever is not an operator is a word."""
    words: list[str] = []
    parts: dict[str, list[str]] = {"phrase": [], "without": [], "path": [], "file": [], "tag": []}
    for minus, field, phrase, word in _PART.findall(text):
        value = (phrase or word).strip()
        if field and value and not minus:
            parts[field].append(value.lstrip("#") if field == "tag" else value)
        elif minus and _WORD.search(value):
            parts["without"].append(value)
        elif phrase and _WORD.search(value):
            parts["phrase"].append(value)
        elif word and word not in ("OR", "AND"):
            words.append(word)
    return Query(
        tuple(words[:_MOST_WORDS]),
        tuple(parts["phrase"][:_MOST_WORDS]),
        tuple(parts["without"][:_MOST_WORDS]),
        tuple(parts["path"]),
        tuple(parts["file"]),
        tuple(tag.lower() for tag in parts["tag"]),
    )


def terms(words: tuple[str, ...]) -> list[str]:
    """The words worth looking for, each once: common ones only if there are no others."""
    found = list(dict.fromkeys(part.lower() for word in words for part in _WORD.findall(word)))
    return [word for word in found if word not in _COMMON] or found


def full_text_expression(query: Query, one_of: Sequence[str] = ()) -> str:
    """An FTS5 expression: any of the words, all of the phrases, none of what is excluded; "" finds nothing.

    With ``one_of`` a text must have one of these words; the others only help to order what has.
    """
    wanted = " OR ".join(_quoted(word) for word in terms(query.words))
    required = [_quoted(phrase) for phrase in query.phrases]
    if one_of:
        required.append("(" + " OR ".join(_quoted(word) for word in one_of) + ")")
    if required:
        # A phrase is a condition; the words beside it only order what has it.
        conditions = " AND ".join(required)
        expression = f"({conditions})" + (f" AND ({wanted} OR {required[0]})" if wanted else "")
    else:
        expression = f"({wanted})" if wanted else ""
    if expression and query.without:
        expression += " NOT (" + " OR ".join(_quoted(word) for word in query.without) + ")"
    return expression


def _quoted(text: str) -> str:
    """No character of it is an operator."""
    return '"' + " ".join(_WORD.findall(text)) + '"'
