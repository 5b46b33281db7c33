"""Predicted against billed, by endpoint and tokenizer."""

from dataclasses import dataclass, replace

LOWEST, HIGHEST = 0.5, 2.0
"""No lesson moves an estimate further than this."""

# How much of a miss is believed: falling short costs more than reserving too much.
_TOO_LOW, _TOO_HIGH = 0.5, 0.1


@dataclass(frozen=True, slots=True)
class Drift:
    """What the bills of one endpoint say about one tokenizer. ``ratio`` is the lesson for estimates."""

    calls: int = 0
    equal: int = 0  # billed to the token as predicted
    predicted: int = 0
    billed: int = 0
    most_short: int = 0  # the largest bill above its prediction, in tokens
    most_over: int = 0  # the largest prediction above its bill
    ratio: float = 1.0

    @property
    def share(self) -> float | None:
        """Billed over predicted, over all calls; None before the first."""
        return self.billed / self.predicted if self.predicted else None

    @property
    def mean(self) -> float:
        """By how many tokens bills were above their predictions, on the average."""
        return (self.billed - self.predicted) / self.calls if self.calls else 0.0

    @property
    def words(self) -> str:
        if not self.calls:
            return "no bill to compare with yet"
        calls = f"{self.calls:,} call{'s' * (self.calls != 1)}, {self.equal:,} billed to the token"
        if not (self.most_short or self.most_over):
            return calls
        return (
            f"{calls}; mean difference {self.mean:+,.1f} tokens,"
            f" at worst {self.most_short:,} too few and {self.most_over:,} too many"
        )

    def row(self) -> dict[str, float]:
        """For programs: ``mean`` and the worst are in tokens, bills above predictions are ``short``."""
        return {
            "calls": self.calls,
            "equal": self.equal,
            "mean": round(self.mean, 2),
            "most_short": self.most_short,
            "most_over": self.most_over,
        }


def learn(drift: Drift, predicted: int, billed: int, ratio: float = 1.0) -> Drift:
    """The drift after one more call, predicted by an estimate that was scaled by ``ratio``.

    A call nobody billed or predicted teaches nothing.
    """
    if predicted <= 0 or billed <= 0:
        return drift
    # What the scale should have been: many calls predicted with the same one teach the same.
    miss = ratio * billed / predicted - drift.ratio
    believed = _TOO_LOW if miss > 0 else _TOO_HIGH
    learned = min(HIGHEST, max(LOWEST, drift.ratio + believed * miss))
    return replace(
        drift,
        calls=drift.calls + 1,
        equal=drift.equal + (predicted == billed),
        predicted=drift.predicted + predicted,
        billed=drift.billed + billed,
        most_short=max(drift.most_short, billed - predicted),
        most_over=max(drift.most_over, predicted - billed),
        ratio=learned,
    )
