"""A stored turn as it can be asked again: the same question, about the files as they were."""

from ..core import ledger
from ..core.documents import Document
from ..ports import History, StoredTurn
from .prepare import Question
from .sizing import Sizer


async def question_of(turn: StoredTurn, history: History, sizer: Sizer) -> Question:
    """``history`` is what the turn was planned from; files the model could not see are not in it."""
    turns = await sizer.turns(history.turns)
    hidden = await sizer.messages(message for message in turn.messages if message.hidden)
    book = ledger.read(ledger.window(turns, turn.epoch), turn.epoch).after(hidden)
    documents = [
        Document(path, text)
        for path, holding in book.held.items()
        if (text := holding.text) is not None
    ]
    asked = next(m.text for m in turn.messages if m.role == "user" and m.carries is None)
    return Question(asked, tuple(documents))
