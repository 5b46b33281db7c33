"""Working fakes, public so that plugins can test against them too."""

from ._accounts import MemoryAccounts
from ._counter import WordCounter
from ._model import ScriptedModel
from ._store import MemoryStore
from ._tools import ScriptedTools
from ._vault import BagEmbedder, MemoryVault

__all__ = [
    "BagEmbedder",
    "MemoryAccounts",
    "MemoryStore",
    "MemoryVault",
    "ScriptedModel",
    "ScriptedTools",
    "WordCounter",
]
