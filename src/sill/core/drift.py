"""Predicted against billed, kept per endpoint and tokenizer."""

import json
from dataclasses import asdict, dataclass, replace

LOWEST, HIGHEST = 0.5, 2.0
"""No lesson moves an estimate further than this."""

_TOO_LOW, _TOO_HIGH = (
    0.5,
    0.1,
)  # how much of a miss is believed: falling short costs more than reserving too much


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


def learn(drift: Drift, predicted: int, billed: int) -> Drift:
    """The drift after one more call. A call nobody billed or predicted teaches nothing."""
    if predicted <= 0 or billed <= 0:
        return drift
    miss = billed / predicted - 1
    believed = _TOO_LOW if miss > 0 else _TOO_HIGH
    ratio = min(HIGHEST, max(LOWEST, drift.ratio * (1 + believed * miss)))
    return replace(
        drift,
        calls=drift.calls + 1,
        equal=drift.equal + (predicted == billed),
        predicted=drift.predicted + predicted,
        billed=drift.billed + billed,
        most_short=max(drift.most_short, billed - predicted),
        most_over=max(drift.most_over, predicted - billed),
        ratio=ratio,
    )


def to_json(drift: Drift) -> str:
    return json.dumps(asdict(drift))


def from_json(text: str | None) -> Drift:
    """A stored drift; one that cannot be read is one that has not begun."""
    try:
        values = json.loads(text or "{}")
        drift = Drift(**values)
        return replace(drift, ratio=min(HIGHEST, max(LOWEST, float(drift.ratio))))
    except (TypeError, ValueError):
        return Drift()
