"""Which counter for which model."""

from dataclasses import dataclass

from ...ports import TokenCounter
from . import llamacpp, vllm
from ._http import Endpoint
from .estimate import Estimate
from .probe import CannotCount, Probes


@dataclass(frozen=True, slots=True)
class Chosen:
    """A counter, why it was taken, and the window its server named, if any."""

    counter: TokenCounter
    reason: str
    window: int | None = None


async def counter_for(
    model: str,
    *,
    endpoint: Endpoint | None = None,
    probes: Probes | None = None,
) -> Chosen:
    """The best counter for ``model``: the endpoint's own if it has one, an estimate if nothing else.

    Without ``probes`` nothing is asked over the network.
    """
    if endpoint is not None and probes is not None:
        match await probes.ask(endpoint, model):
            case llamacpp.Found() as found:
                counter = llamacpp.LlamaCpp(endpoint, found)
                return Chosen(counter, "the endpoint counts (llama.cpp)", found.window)
            case vllm.Found() as found:
                return Chosen(
                    vllm.Vllm(endpoint, found), "the endpoint counts (vLLM)", found.window
                )
            case CannotCount():
                pass
    return Chosen(Estimate(), "unknown model: an estimate with a margin")
