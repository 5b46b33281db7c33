"""Working fakes, public so that plugins can test against them too."""

from ._counter import WordCounter
from ._model import ScriptedModel
from ._store import MemoryStore

__all__ = ["MemoryStore", "ScriptedModel", "WordCounter"]
