"""The prompt: several lines, history, completion, and the line at the bottom."""

import shutil
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from prompt_toolkit import PromptSession
from prompt_toolkit.application import get_app_or_none, run_in_terminal
from prompt_toolkit.buffer import Buffer, CompletionState
from prompt_toolkit.completion import CompleteEvent, Completer, Completion
from prompt_toolkit.document import Document
from prompt_toolkit.filters import Condition
from prompt_toolkit.formatted_text import StyleAndTextTuples
from prompt_toolkit.history import FileHistory
from prompt_toolkit.key_binding import KeyBindings
from prompt_toolkit.key_binding.key_processor import KeyPressEvent
from prompt_toolkit.keys import Keys
from prompt_toolkit.layout.processors import Processor, Transformation, TransformationInput
from prompt_toolkit.styles import Style

from ...paths import state_dir
from ..screen import plain, tell
from .complete import candidates, typing
from .lines import is_open, unquoted
from .meter import bottom_line
from .pasting import Pastes

if TYPE_CHECKING:
    from .session import Session

MARK = "› "
_LONGEST_KEPT = 10_000  # characters of an entry of the history file
_STYLE = Style.from_dict({"bottom-toolbar": "noreverse", "prompt": "bold ansicyan"})


class Prompt:
    """Reads messages. ``read`` gives None when the user leaves."""

    def __init__(self, session: "Session") -> None:
        self._session = session
        self._pastes = Pastes()
        self._armed = False  # the last thing the user did was Ctrl-C
        self._prompt: PromptSession[str] = PromptSession(
            [("class:prompt", MARK)],
            multiline=True,
            prompt_continuation=_continuation,
            history=_History(history_file(), self._pastes),
            completer=_Completer(session),
            complete_in_thread=True,
            complete_while_typing=Condition(self._completes),
            bottom_toolbar=self._bottom,
            key_bindings=_bindings(self._pastes),
            input_processors=[_Visible()],
            enable_open_in_editor=True,
            tempfile_suffix=".md",
            style=_STYLE,
            reserve_space_for_menu=6,
        )

    def when_shown(self, act: Callable[[], None]) -> None:
        """Call ``act`` once, when the prompt is there for the first time."""

        def shown(_: object) -> None:
            self._prompt.app.after_render -= shown
            act()

        self._prompt.app.after_render += shown

    def arm(self) -> None:
        """An answer was stopped by Ctrl-C: the next one leaves."""
        self._armed = True

    async def read(self) -> str | None:
        default, self._session.unsent = self._session.unsent, ""
        while True:
            try:
                typed = await self._prompt.prompt_async(default=default)
            except EOFError:
                return None
            except KeyboardInterrupt:
                if self._armed:
                    return None
                self._armed, default = True, ""
                self.tell("Ctrl-C once more, or Ctrl-D, leaves")
                continue
            self._armed = False
            return self._pastes.whole(unquoted(typed))

    def redraw(self) -> None:
        self._prompt.app.invalidate()

    def tell(self, text: str) -> None:
        """One line above the prompt if it is there, else where the cursor is."""
        line = text.removeprefix("sill: ")
        if get_app_or_none() is None:
            tell(line)
        else:
            run_in_terminal(lambda: tell(line))

    def _completes(self) -> bool:
        return typing(self._prompt.default_buffer.document.text_before_cursor) is not None

    def _bottom(self) -> StyleAndTextTuples:
        session = self._session
        columns = shutil.get_terminal_size().columns
        state = f"no model: {plain(session.desk.problem)}" if session.desk.problem else ""
        line = bottom_line(session.meter, len(session.files), state, columns - 1)
        return [("class:bottom-toolbar.text", line)]


def _continuation(width: int, line: int, wraps: int) -> StyleAndTextTuples:
    """Before a further line; one that is only too long for the screen goes on below its beginning."""
    return [("class:prompt", "  " if wraps else "… ")]


def history_file() -> Path:
    """What was typed, for its owner alone."""
    path = state_dir() / "history"
    path.touch(mode=0o600, exist_ok=True)
    return path


class _History(FileHistory):
    """Long pastes are remembered whole while the program runs; the file keeps what people type."""

    def __init__(self, path: Path, pastes: Pastes) -> None:
        super().__init__(str(path))
        self._pastes = pastes

    def store_string(self, string: str) -> None:
        whole = self._pastes.whole(string)
        if len(whole) <= _LONGEST_KEPT:
            super().store_string(whole)


class _Completer(Completer):
    def __init__(self, session: "Session") -> None:
        self._session = session

    def get_completions(self, document: Document, event: CompleteEvent) -> Iterable[Completion]:
        for one in candidates(self._session, document.text_before_cursor):
            yield Completion(
                one.text, -one.replaces, display=plain(one.shown), display_meta=plain(one.about)
            )


class _Visible(Processor):
    """Characters that hide or turn text are shown by name in the prompt too."""

    def apply_transformation(self, given: TransformationInput) -> Transformation:
        fragments: list[Any] = []
        starts: list[int] = []
        shown = 0
        for fragment in given.fragments:
            for character in fragment[1]:
                text = character if ord(character) < 0x80 else plain(character)
                starts.append(shown)
                shown += len(text)
                fragments.append((fragment[0], text, *fragment[2:]))
        starts.append(shown)
        if shown == len(starts) - 1:
            return Transformation(given.fragments)
        end = len(starts) - 1
        return Transformation(
            fragments,
            source_to_display=lambda at: starts[min(at, end)] + max(0, at - end),
            display_to_source=lambda at: max(n for n, start in enumerate(starts) if start <= at),
        )


def _bindings(pastes: Pastes) -> KeyBindings:
    keys = KeyBindings()

    @keys.add("enter")
    def _(event: KeyPressEvent) -> None:
        buffer = event.current_buffer
        if buffer.complete_state and buffer.complete_state.current_completion:
            buffer.complete_state = None
        elif is_open(buffer.text):
            buffer.newline(copy_margin=False)
        elif buffer.text.strip():
            buffer.validate_and_handle()

    @keys.add("escape", "enter")
    def _(event: KeyPressEvent) -> None:
        event.current_buffer.newline(copy_margin=False)

    @keys.add("tab")
    def _(event: KeyPressEvent) -> None:
        _complete(event.current_buffer)

    @keys.add("c-c")
    def _(event: KeyPressEvent) -> None:
        buffer = event.current_buffer
        if not buffer.text:
            event.app.exit(exception=KeyboardInterrupt)
            return
        buffer.append_to_history()  # the arrow up brings it back
        buffer.reset()

    @keys.add(Keys.BracketedPaste)
    def _(event: KeyPressEvent) -> None:
        event.current_buffer.insert_text(pastes.shown(event.data))

    @keys.add("#")
    def _(event: KeyPressEvent) -> None:
        _name_a_place(event.current_buffer)

    return keys


def _complete(buffer: Buffer) -> None:
    """Take the only completion, or the first of the menu and then the next one.

    At once: a key that comes before the menu must not be lost.
    """
    if buffer.complete_state and buffer.complete_state.completions:
        buffer.complete_next()
        return
    asked = CompleteEvent(completion_requested=True)
    found = list(buffer.completer.get_completions(buffer.document, asked))
    if len(found) == 1:
        buffer.apply_completion(found[0])
    elif found:
        buffer.complete_state = CompletionState(buffer.document, found)
        buffer.complete_next()


def _name_a_place(buffer: Buffer) -> None:
    """``#`` right behind a link that was completed goes into it: ``[[Note]]`` becomes ``[[Note#``."""
    before = buffer.document.text_before_cursor
    link = typing(before.removesuffix("]]"))
    if before.endswith("]]") and link is not None and link.kind == "note" and link.typed:
        buffer.delete_before_cursor(2)
    buffer.insert_text("#")
    if typing(buffer.document.text_before_cursor) is not None:
        buffer.start_completion(select_first=False)
