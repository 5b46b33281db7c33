"""How large a request may be, and who may have how much of it.

A ``Profile`` says what a capability would like; ``budget()`` fits that to the window a model really has.
Reserves that are too large for a small window shrink with it, so 2,048 tokens are enough to chat in.
"""

from dataclasses import dataclass, field, replace
from math import floor
from typing import Self

# No reserve may take more of the window (or of the room for the prompt) than this.
REPLY_AT_MOST = 0.25
SYSTEM_AT_MOST = 0.5
# An answer that may take what the prompt leaves is still promised this part of the window.
REPLY_AT_LEAST = 1 / 16


@dataclass(frozen=True, slots=True)
class Shares:
    """Fractions of the prompt room. They add up to 1.

    ``files`` and ``recall`` decide what goes in; the others are what usage is measured against.
    """

    system: float = 0.15
    tools: float = 0.10
    files: float = 0.40
    history: float = 0.20
    recall: float = 0.15


@dataclass(frozen=True, slots=True)
class Profile:
    """The numbers of one capability, before they meet a window."""

    window: int
    reply: int  # the longest answer
    margin: int = 0  # tokens kept free whatever the counter promises
    # What is kept free for the answer, or a sixteenth of the window where that is more. The rest of ``reply``
    # is for prompts that leave it. None: all of ``reply`` is kept free.
    reply_least: int | None = None
    system_cap: int = 8_192
    high: float = 0.90  # past this part of the room, turns are evicted ...
    low: float = 0.60  # ... until no more than this part is filled
    shares: Shares = field(default_factory=Shares)
    temperature: float = 0.2
    timeout: float = 60.0  # seconds without a sign of life from a model that is not on this machine
    prefix: int = 0  # completion and edit: tokens of text before the cursor, at most
    suffix: int = 0


PROFILES = {
    "completion": Profile(
        window=4_096, reply=256, system_cap=1_024, timeout=30.0, prefix=2_048, suffix=512
    ),
    "edit": Profile(
        window=16_384, reply=2_048, system_cap=2_048, timeout=60.0, prefix=4_096, suffix=1_024
    ),
    "chat": Profile(window=16_384, reply=4_096, reply_least=512, timeout=60.0),
    "chat_ops": Profile(window=16_384, reply=4_096, timeout=120.0),
}


@dataclass(frozen=True, slots=True)
class Budget:
    """One request's limits, all in tokens. ``reply`` is kept free for the answer, whatever the prompt."""

    window: int
    reply: int
    margin: int
    system_cap: int
    high: int
    low: int
    system: int
    tools: int
    files: int
    history: int
    recall: int
    reply_most: int = 0  # the longest answer that a short prompt leaves room for; 0: ``reply``

    @property
    def room(self) -> int:
        """What the whole prompt may take."""
        return max(0, self.window - self.reply - self.margin)

    def reply_beside(self, prompt: int) -> int:
        """How long the answer to a prompt of so many tokens may be: never less than what was kept free for it."""
        left = self.window - self.margin - prompt
        return max(self.reply, min(self.reply_most, left))

    def less(self, tokens: int) -> Self:
        """The same with so much less room, for a request that turned out larger than its parts."""
        smaller = replace(self, margin=self.margin + tokens)
        room = smaller.room
        return replace(smaller, high=min(self.high, room), low=min(self.low, room))


def budget(profile: Profile, window: int | None = None, shortfall: float = 0.0) -> Budget:
    """The profile's wishes inside a real window.

    ``shortfall`` is the fraction by which a count may be too low (``Tokenizer.margin``): a prompt that
    fills the room still fits the window when every count was short by that much.
    """
    real = max(0, profile.window if window is None else window)
    most = min(profile.reply, floor(real * REPLY_AT_MOST))
    reply = most
    if profile.reply_least is not None:
        reply = min(most, max(profile.reply_least, floor(real * REPLY_AT_LEAST)))
    for_prompt = real - reply
    honest = floor(for_prompt / (1.0 + max(0.0, shortfall)))
    margin = min(for_prompt, for_prompt - honest + min(profile.margin, floor(real * 0.05)))
    room = for_prompt - margin
    shares = profile.shares
    return Budget(
        window=real,
        reply=reply,
        margin=margin,
        system_cap=min(profile.system_cap, floor(room * SYSTEM_AT_MOST)),
        high=floor(room * profile.high),
        low=floor(room * min(profile.low, profile.high)),
        system=floor(room * shares.system),
        tools=floor(room * shares.tools),
        files=floor(room * shares.files),
        history=floor(room * shares.history),
        recall=floor(room * shares.recall),
        reply_most=most,
    )
