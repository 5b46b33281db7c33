"""Which counter for which model."""

import logging
from dataclasses import dataclass
from typing import get_args

from ...core.families import Family, Vocabulary, family_of, margin_of
from ...errors import TokenizerRefused
from ...ports import TokenCounter
from . import huggingface, llamacpp, vllm
from ._http import Endpoint
from .estimate import Estimate
from .first import LocalFirst, twin
from .local import local_counter
from .probe import CannotCount, Probes

log = logging.getLogger(__name__)
_warned: set[str] = set()

AUTO, ESTIMATE = "auto", "estimate"


@dataclass(frozen=True, slots=True)
class Chosen:
    """A counter, why it was taken, and the context window that its server or its family has, if known.

    ``cuts``: its counts add up at safe cuts, so that after an edit only what changed is counted.
    """

    counter: TokenCounter
    reason: str
    window: int | None = None
    cuts: bool = False


async def counter_for(
    model: str,
    *,
    endpoint: Endpoint | None = None,
    tokenizer: str | None = None,
    probes: Probes | None = None,
    ratio: float = 1.0,
) -> Chosen:
    """The best counter for ``model``, in this order.

    1. The endpoint's own, if it counts for itself (asked once, through ``probes``; without them nothing is asked).
    2. The configured ``tokenizer`` unless it is ``auto``: a vocabulary's name, a ``tokenizer.json``, a model
       in the hub's cache, or ``estimate``. One that cannot be used is ``TokenizerRefused``.
    3. The vocabulary that the model's name settles; 4. the one it suggests; 5. an estimate. What past answers taught
       (``ratio``) scales the last two.
    """
    silent = False
    if endpoint is not None and probes is not None:
        match await probes.ask(endpoint, model):
            case llamacpp.Found() as found:
                return _llamacpp(endpoint, found)
            case vllm.Found() as found:
                reason = "the endpoint counts for itself (vLLM)"
                return Chosen(vllm.Vllm(endpoint, found), reason, found.window)
            case CannotCount(later=later):
                silent = later
    asked = "; the endpoint did not answer, it is asked again later" if silent else ""
    family = family_of(model)
    if tokenizer and tokenizer != AUTO:
        return _configured(tokenizer, family, ratio)
    if family is not None and (counter_here := local_counter(family, ratio)) is not None:
        how = "known name" if family.sure else "guessed from the name"
        reason = f"{how}: {family.name}, {family.vocabulary}{asked}"
        return Chosen(counter_here, reason, family.window, counter_here.cuts)
    if model not in _warned:
        _warned.add(model)
        log.warning("no tokenizer is known for model %r: counts are estimates with a margin", model)
    window = family.window if family else None
    return Chosen(Estimate(ratio), f"unknown name: estimate with a margin{asked}", window)


def _llamacpp(endpoint: Endpoint, found: llamacpp.Found) -> Chosen:
    counter = llamacpp.LlamaCpp(endpoint, found)
    reason = "the endpoint counts for itself (llama.cpp)"
    plain = twin(found.size, llamacpp.SAMPLE, found.sample) if found.bare else None
    if plain is None:
        return Chosen(counter, reason, found.window, found.cuts)
    reason += "; ASCII texts are counted here with the same vocabulary"
    here = LocalFirst(counter, plain, cuts=found.cuts)
    return Chosen(here, reason, found.window, found.cuts)


def _configured(tokenizer: str, family: Family | None, ratio: float) -> Chosen:
    window = family.window if family else None
    if tokenizer == ESTIMATE:
        return Chosen(Estimate(ratio), "configured: estimate", window)
    if tokenizer in get_args(Vocabulary):
        style = family.style if family else "chatml"
        chosen = Family(tokenizer, tokenizer, style, window, margin=margin_of(tokenizer))  # type: ignore[arg-type]
        counter = local_counter(chosen)
        if counter is not None:
            return Chosen(counter, f"configured: {tokenizer}", window, counter.cuts)
    path = huggingface.find_tokenizer(tokenizer)
    if path is None:
        known = ", ".join(get_args(Vocabulary))
        raise TokenizerRefused(
            f"tokenizer {tokenizer!r} is not there",
            hint=f"a path to a tokenizer.json, a model in the Hugging Face cache, estimate, or one of {known}",
        )
    loaded = huggingface.load(path)
    return Chosen(loaded, f"configured: {path}", window, loaded.cuts)
