"""Did the server read all that was sent? Some drop the front of a long prompt and say nothing."""

from dataclasses import dataclass

from .certificate import Certificate, Kind, Usage

# Below this part of our count, something is missing: templates and counting slack explain less than that.
_SUSPICIOUS: dict[Kind, float] = {"exact": 0.85, "bound": 0.85, "estimate": 0.5}
# Short prompts differ by a large part for small reasons.
_LEAST_MISSING: dict[Kind, int] = {"exact": 1, "bound": 32, "estimate": 512}


@dataclass(frozen=True, slots=True)
class Shortfall:
    """``is_certain`` when the count is exact and the server told what it took from its cache."""

    predicted: int
    reported: int
    is_certain: bool

    @property
    def words(self) -> str:
        verb = "dropped" if self.is_certain else "seems to have dropped"
        return (
            f"the server {verb} part of the prompt: {self.predicted:,} tokens were sent,"
            f" it read {self.reported:,}"
        )

    @property
    def remedy(self) -> str:
        return (
            f"give the server a window of more than {self.predicted:,} tokens (Ollama:"
            " OLLAMA_CONTEXT_LENGTH, or num_ctx in the Modelfile; llama.cpp: --ctx-size), or set this"
            " profile's window to what the server really has"
        )


def find_shortfall(certificate: Certificate, usage: Usage | None) -> Shortfall | None:
    """The prompt tokens that went missing between us and the server, if any did.

    With an exact count and a known cache any missing token counts. Otherwise it takes a gap that neither
    the kind of count nor a server that leaves out cached tokens can explain.
    """
    if usage is None:
        return None
    predicted, reported = certificate.predicted, usage.prompt
    missing = predicted - reported
    is_certain = certificate.kind == "exact" and usage.cached is not None
    if missing < _LEAST_MISSING[certificate.kind]:
        return None
    if is_certain or reported < _SUSPICIOUS[certificate.kind] * predicted:
        return Shortfall(predicted, reported, is_certain)
    return None
