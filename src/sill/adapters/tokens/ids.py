"""The tokens themselves, where somebody knows them and not only how many there are."""

from ...ports import TokenCounter
from ._http import Endpoint, Silence, ask
from ._vocabularies import vocabulary
from ._wire import seconds_for, sound
from .first import LocalFirst
from .huggingface import HuggingFace
from .llamacpp import LlamaCpp
from .local import Local
from .vllm import Vllm

UNKNOWN = -1
"""Stands for a token of which only the place is known."""


async def token_ids(
    counter: TokenCounter, text: str, *, add_special: bool = False, parse_special: bool = True
) -> list[int]:
    """The tokens of ``text`` for the counter's model; ``UNKNOWN`` for each where they can only be counted."""
    text = sound(text)
    found = await _ids(counter, text, add_special, parse_special)
    if found is not None:
        return found
    return [UNKNOWN] * (await counter.count([text])).tokens[0]


async def _ids(
    counter: TokenCounter, text: str, add_special: bool, parse_special: bool
) -> list[int] | None:
    match counter:
        case LocalFirst():
            return await _ids(counter._server, text, add_special, parse_special)
        case LlamaCpp():
            options = {"add_special": add_special, "parse_special": parse_special}
            return await _asked(counter._endpoint, {"content": text, **options}, text)
        case Vllm():
            body = {"model": counter._model, "prompt": text, "add_special_tokens": add_special}
            return await _asked(counter._endpoint, body, text)
        case Local() if (
            counter._family.likeness is None
        ):  # another family's ids would be no tokens of its
            plain = vocabulary(counter._family.vocabulary)
            return None if plain is None else plain.encode(text)
        case HuggingFace():
            return counter._parsing(text) if parse_special else counter._plain(text)
        case _:
            return None


async def _asked(endpoint: Endpoint, body: dict[str, object], text: str) -> list[int] | None:
    answer = await ask(endpoint, "POST", "/tokenize", body, seconds_for([text]))
    tokens = None if isinstance(answer, Silence) else answer.get("tokens")
    if isinstance(tokens, list) and all(isinstance(token, int) for token in tokens):
        return tokens
    return None
