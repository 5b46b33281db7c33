"""Working fakes, public so that plugins can test against them too."""

from ._counter import WordCounter
from ._model import ScriptedModel

__all__ = ["ScriptedModel", "WordCounter"]
