"""What a conversation is made of.

Values only: no timestamps, no storage keys. Two messages with the same content
are equal, so tests compare them with ``==``.
"""

import hashlib
from dataclasses import dataclass, field
from typing import Literal, NewType

Fingerprint = NewType("Fingerprint", str)
Role = Literal["system", "user", "assistant", "tool"]
Status = Literal["open", "complete", "partial", "failed", "cancelled", "interrupted"]


def fingerprint(text: str) -> Fingerprint:
    """``sha256:`` and the hash of the exact UTF-8 text. Lone surrogates raise ``UnicodeEncodeError``."""
    return Fingerprint("sha256:" + hashlib.sha256(text.encode()).hexdigest())


@dataclass(frozen=True, slots=True)
class FileStamp:
    """Which document, in which state."""

    path: str
    fingerprint: Fingerprint


@dataclass(frozen=True, slots=True)
class ToolCall:
    """One call the model asked for; ``arguments`` is the JSON text exactly as it arrived."""

    id: str
    name: str
    arguments: str


# What a message carries beside its text. ``None`` means plain talk.


@dataclass(frozen=True, slots=True)
class FileState:
    """The message holds the whole document in this state."""

    stamp: FileStamp


@dataclass(frozen=True, slots=True)
class FileDelta:
    """The message turns the document from ``base`` into ``stamp``."""

    stamp: FileStamp
    base: Fingerprint


@dataclass(frozen=True, slots=True)
class FileNotice:
    """The message tells what happened to a document without showing its text."""

    path: str
    event: Literal["deleted", "renamed", "omitted", "restored"]
    fingerprint: Fingerprint | None = None  # the state that was omitted or is back
    new_path: str | None = None


@dataclass(frozen=True, slots=True)
class Recall:
    """The message quotes these earlier turns.

    ``quotes``: what it quotes of each, for whoever made it to show; a message that was read from a store has
    them in its text alone.
    """

    turns: tuple[str, ...]
    quotes: tuple[str, ...] = field(default=(), compare=False)


@dataclass(frozen=True, slots=True)
class Summary:
    """The message stands for the first ``turns`` turns of the chat; ``until`` is the last of them."""

    until: str
    turns: int


@dataclass(frozen=True, slots=True)
class Pinned:
    """The message shows a turn again that the user wants to stay in the window."""

    turn: str


@dataclass(frozen=True, slots=True)
class ToolCalls:
    calls: tuple[ToolCall, ...]


@dataclass(frozen=True, slots=True)
class ToolResult:
    call_id: str
    name: str


@dataclass(frozen=True, slots=True)
class ProposalNews:
    """The message tells what became of edits that the model proposed: each as its id and status."""

    told: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Remembered:
    """The message tells facts that are remembered for the folder, by their ids in its order.

    ``withdrawn`` were told before and hold no more.
    """

    ids: tuple[str, ...]
    withdrawn: tuple[str, ...] = ()


Hidden = FileState | FileDelta | FileNotice | Recall | Summary | Pinned | ProposalNews | Remembered
Carried = Hidden | ToolCalls | ToolResult


@dataclass(frozen=True, slots=True)
class Message:
    role: Role
    text: str
    carries: Carried | None = None

    @property
    def hidden(self) -> bool:
        """Context put in for the model; people see the files and turns themselves."""
        return isinstance(self.carries, Hidden)

    @property
    def is_talk(self) -> bool:
        """Said by a person or by the model; words that the model said before it called a tool are."""
        is_said = self.carries is None or isinstance(self.carries, ToolCalls)
        return is_said and bool(self.text.strip())


@dataclass(frozen=True, slots=True)
class Sized:
    """A message and what it adds to a request, template overhead included."""

    message: Message
    tokens: int


@dataclass(frozen=True, slots=True)
class Turn:
    """Hidden context, question, tool rounds, reply: stored, kept, evicted and retried whole.

    ``stubs`` are what can stand for some of its messages, with their positions (see ``masks``).
    """

    id: str
    messages: tuple[Sized, ...]
    stubs: tuple[tuple[int, Sized], ...] = ()

    @property
    def tokens(self) -> int:
        return sum(sized.tokens for sized in self.messages)


@dataclass(frozen=True, slots=True)
class Epoch:
    """Between two evictions requests only grow.

    ``first`` is the first turn still in the window (None: all of them); ``dropped`` names hidden messages
    of kept turns, as (turn, position), that are left out because something newer replaced them. If not even
    the latest turn could stay, it is ``first`` and all its messages are dropped. ``masked`` names messages
    that one-line stubs stand for.
    """

    number: int = 0
    first: str | None = None
    dropped: frozenset[tuple[str, int]] = frozenset()
    masked: frozenset[tuple[str, int]] = frozenset()
