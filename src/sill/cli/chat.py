"""``sill chat``: a plain conversation in the terminal."""

import asyncio
import signal
import sys
from collections.abc import AsyncIterator, Callable
from typing import Any

import click

from ..app import App
from ..engine.events import Delta, Finished, Notice, Refused, Started
from .ask import conclude, tell_unresolved
from .common import endpoint_options, opened, run_async
from .screen import Waiting, plain

HELP = """\
  :files              the files this chat works with
  :add FILE…          add files       :drop FILE…  take files away
  :context            what the last request held, item by item
  :cost               what this chat cost so far    :cost detail  call by call
  :new                start a new chat
  :help               this list       :quit        leave (also Ctrl-D)
  [[Note]] in a question sends that note along. Ctrl-C stops an answer and keeps what came."""


@click.command("chat")
@click.option(
    "--files",
    "with_files",
    is_flag=True,
    help="The FILEs named after the options go into the chat.",
)
@click.option(
    "-c", "--continue", "go_on", is_flag=True, help="Go on with the folder's latest chat."
)
@click.argument("files", nargs=-1, metavar="[FILE]...")
@endpoint_options
def command(with_files: bool, go_on: bool, files: tuple[str, ...], **given: Any) -> int:
    """Talk with a model about the files of a folder.

    FILEs are sent once and again only when they changed; edits made in an editor while chatting are
    noticed at the next message. Without a terminal, each line of standard input is a message.
    """
    return run_async(converse(files, go_on=go_on, given=given))


async def converse(files: tuple[str, ...], *, go_on: bool = False, given: dict[str, Any]) -> int:
    async with opened(given) as app:
        talk = Talk(app, list(files), await app.latest_chat() if go_on else None)
        if sys.stdin.isatty():
            click.echo(f"{plain(app.description)}\n:help lists the commands.\n", err=True)
        code = 0
        async for line in _lines():
            if not line.strip():
                continue
            if line.startswith((":", "/")) and not line.startswith("//"):
                if not await talk.obey(line[1:].split()):
                    break
                continue
            code = await talk.say(line)
        return code


class Talk:
    """One conversation: its chat, its files, and what was said last."""

    def __init__(self, app: App, files: list[str], chat: str | None) -> None:
        self._app = app
        self._files = files
        self._chat = chat
        self._started: Started | None = None

    async def say(self, text: str) -> int:
        # Every file is read as it is now: what was saved since the last message is noticed here.
        gathered = await self._app.gather(text, self._files)
        tell_unresolved(gathered.unresolved)
        for error in gathered.refused:
            click.echo(f"sill: {plain(str(error))}", err=True)
        self._files += [path for path in gathered.linked if path not in self._files]
        outcome: Finished | Refused | None = None
        waiting = Waiting()
        with _Interrupt(self._app.stop):
            async for event in self._app.ask(self._chat, gathered.question):
                if not isinstance(event, Started):
                    waiting.clear()
                match event:
                    case Started(certificate=certificate):
                        self._started = event
                        waiting.show(f"{certificate.predicted:,} tokens sent; Ctrl-C stops …")
                    case Delta(text=piece):
                        click.echo(plain(piece), nl=False)
                        sys.stdout.flush()
                    case Notice(text=notice):
                        click.echo(f"sill: {plain(notice)}", err=True)
                    case Finished(chat=chat):
                        self._chat, outcome = chat, event
                    case Refused():
                        outcome = event
        click.echo()
        return conclude(outcome) if outcome else 1

    async def obey(self, words: list[str]) -> bool:
        """Carry out a command; False ends the conversation."""
        match words:
            case ["quit" | "exit" | "q"]:
                return False
            case ["help" | "h" | "?"]:
                click.echo(HELP)
            case ["files"]:
                click.echo("\n".join(f"  {plain(name)}" for name in self._files) or "  none")
            case ["add", *names] if names:
                self._files += [name for name in names if name not in self._files]
            case ["drop", *names] if names:
                self._files = [name for name in self._files if name not in names]
            case ["context"]:
                self._show_context()
            case ["cost", *rest] if rest in ([], ["detail"]):
                from .cost import of_chat

                click.echo(await of_chat(self._app.store, self._chat, detail=bool(rest)))
            case ["new"]:
                self._chat, self._started = None, None
            case _:
                click.echo(
                    f"there is no command :{plain(' '.join(words))}; :help lists them", err=True
                )
        return True

    def _show_context(self) -> None:
        from .explain import ledger

        if self._started is None:
            click.echo("nothing was sent yet")
        else:
            click.echo(ledger(self._started.plan, self._started.certificate))


class _Interrupt:
    """While an answer streams, the first Ctrl-C stops it; outside, Ctrl-C is the terminal's own."""

    def __init__(self, stop: Callable[[], None]) -> None:
        self._stop = stop

    def __enter__(self) -> None:
        asyncio.get_running_loop().add_signal_handler(signal.SIGINT, self._stop)

    def __exit__(self, *_: object) -> None:
        asyncio.get_running_loop().remove_signal_handler(signal.SIGINT)


async def _lines() -> AsyncIterator[str]:
    """What the user types, or the lines of standard input."""
    if not sys.stdin.isatty():
        for line in sys.stdin:
            yield line.rstrip("\n")
        return
    from prompt_toolkit import PromptSession

    prompt: PromptSession[str] = PromptSession()
    while True:
        try:
            yield await prompt.prompt_async("› ")
        except EOFError:
            return
        except KeyboardInterrupt:
            continue
