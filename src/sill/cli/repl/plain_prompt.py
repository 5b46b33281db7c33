"""The prompt for terminals that cannot move their cursor: a mark, and a line."""

import sys
from collections.abc import Callable

from ..hunks import read_line
from ..screen import tell
from .lines import is_open, unquoted
from .session import Session

MARK = "› "


class PlainPrompt:
    """As ``Prompt``, without completion, history and bottom line."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._armed = False

    def when_shown(self, act: Callable[[], None]) -> None:
        """Nothing happens behind a line that is being read: the model is opened by the first message."""

    def redraw(self) -> None:
        pass

    def tell(self, text: str) -> None:
        tell(text.removeprefix("sill: "))

    def arm(self) -> None:
        self._armed = True

    async def read(self) -> str | None:
        typed, mark = "", MARK
        while True:
            try:
                line = read_line(mark, err=False)
            except KeyboardInterrupt:
                sys.stdout.write("\n")
                if self._armed:
                    return None
                self._armed, typed, mark = True, "", MARK
                self.tell("Ctrl-C once more, or Ctrl-D, leaves")
                continue
            if not line and not typed:
                return None
            typed += line
            self._armed = False
            if not line or not is_open(typed):
                return unquoted(typed.rstrip("\n"))
            mark = "… "
