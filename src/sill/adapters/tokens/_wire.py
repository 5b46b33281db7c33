"""What every endpoint needs: texts that can be sent, and a limit that grows with them."""

from collections.abc import Iterable
from typing import Any

from ._http import PROBE_SECONDS

MOST_SECONDS = 10.0
CHARACTERS_A_SECOND = 100_000  # a slow server on a busy machine


def seconds_for(texts: Iterable[str]) -> float:
    """How long counting these may take before an estimate is better than waiting."""
    return min(MOST_SECONDS, PROBE_SECONDS + sum(map(len, texts)) / CHARACTERS_A_SECOND)


def whole_number(value: Any, least: int = 0) -> int | None:
    """The value if it is a number that counts something: JSON's ``true`` is none, nor is what is below ``least``."""
    return value if type(value) is int and value >= least else None


def sound(text: str) -> str:
    """The text as it can be sent: a lone surrogate becomes the replacement character."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text


def sound_body(value: Any) -> Any:
    match value:
        case str():
            return sound(value)
        case list() | tuple():
            return [sound_body(item) for item in value]
        case dict():
            return {sound(str(key)): sound_body(item) for key, item in value.items()}
        case _:
            return value
