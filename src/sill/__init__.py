"""Sill keeps what matters at a model's context window.

``sill.open(folder)`` opens a workspace for a program; the names of ``__all__`` are the public ones.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    __version__: str

    from .library import Answer as Answer
    from .library import Certificate as Certificate
    from .library import Change as Change
    from .library import Chat as Chat
    from .library import Delta as Delta
    from .library import Event as Event
    from .library import Finished as Finished
    from .library import Hit as Hit
    from .library import Item as Item
    from .library import Notice as Notice
    from .library import Overhead as Overhead
    from .library import Proposal as Proposal
    from .library import Reference as Reference
    from .library import Refused as Refused
    from .library import SillError as SillError
    from .library import Spent as Spent
    from .library import Started as Started
    from .library import TokenCounter as TokenCounter
    from .library import ToolUsed as ToolUsed
    from .library import Window as Window
    from .library import Workspace as Workspace
    from .library import open as open

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
    "__version__",
    "open",
]

# Loaded when they are used, the version too: importing sill must cost next to nothing.
_LIBRARY = frozenset(__all__) - {"__version__"}


def __getattr__(name: str) -> object:
    if name == "__version__":
        from .version import version

        return version()
    if name in _LIBRARY:
        from . import library

        return getattr(library, name)
    raise AttributeError(f"module 'sill' has no attribute '{name}'")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
