"""The few places where the engine meets the world."""

from .accounts import Accounts
from .counter import Overhead, TokenCounter
from .model import Ended, Model, ModelEvent, ReasoningDelta, TextDelta, ToolCallDelta
from .store import ChatCopy, Closing, History, Opening, SoFar, Store, StoredTurn
from .tools import Caller, ToolBox, ToolOutcome
from .vault import Embedder, SearchMode, Vault

__all__ = [
    "Accounts",
    "Caller",
    "ChatCopy",
    "Closing",
    "Embedder",
    "Ended",
    "History",
    "Model",
    "ModelEvent",
    "Opening",
    "Overhead",
    "ReasoningDelta",
    "SearchMode",
    "SoFar",
    "Store",
    "StoredTurn",
    "TextDelta",
    "TokenCounter",
    "ToolBox",
    "ToolCallDelta",
    "ToolOutcome",
    "Vault",
]
