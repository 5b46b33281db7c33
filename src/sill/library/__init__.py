"""Sill for programs: ``sill.open(folder)`` and what it gives back."""

from ..core.certificate import Certificate
from ..core.plan import Item
from ..core.rank import Hit
from ..core.references import Reference
from ..engine.events import Delta, Event, Finished, Notice, Refused, Started, ToolUsed
from ..errors import SillError
from ..ports import Overhead, TokenCounter
from .proposals import Change, Proposal
from .values import Answer, Spent, Window
from .workspace import Chat, Workspace, open

__all__ = [
    "Answer",
    "Certificate",
    "Change",
    "Chat",
    "Delta",
    "Event",
    "Finished",
    "Hit",
    "Item",
    "Notice",
    "Overhead",
    "Proposal",
    "Reference",
    "Refused",
    "SillError",
    "Spent",
    "Started",
    "TokenCounter",
    "ToolUsed",
    "Window",
    "Workspace",
    "open",
]
