"""Making room before there is need for it."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

from .build import App

LEAST = 0.05  # of the room; less would not hold a system prompt


@contextmanager
def making_room(app: App, part: float) -> Iterator[None]:
    """What is asked meanwhile starts a new epoch if the window is fuller than this part of its room.

    Old turns leave until it is not. As always, they are summed up, stay stored, and come back when a
    question needs them.
    """
    chat, before = app.chat, app.chat.call.profile
    mark = max(LEAST, min(part, before.high))
    lower = replace(before, high=mark, low=min(mark, before.low))
    chat.call = replace(chat.call, profile=lower)
    try:
        yield
    finally:
        # The window may have been learned anew meanwhile: only the marks go back.
        chat.call = replace(chat.call, profile=before)
