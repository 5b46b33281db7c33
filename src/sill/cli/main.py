"""The command line: names of commands and where they live, nothing more.

Commands are imported when they are called, so that ``sill --help`` stays quick.
"""

import importlib
import os
import sys
from typing import TYPE_CHECKING, Any

import click

from ..errors import SillError, UsageError
from .manual import ManualContext, with_manual

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

# Name -> (module, one line of help). Only what works is listed.
COMMANDS: dict[str, tuple[str, str]] = {
    "chat": ("chat", "Talk with a model about the files of a folder."),
    "ask": ("ask", "Ask one question and print the answer."),
    "edit": ("edit", "Ask a model to change files, look at the diff, apply what you agree to."),
    "agent": ("agent", "Let a model work on a task in steps; you decide on what it proposes."),
    "serve": ("serve", "Serve the folder as a local web page and an HTTP API."),
    "undo": ("undo", "Take back the edit that was applied last, or a named one."),
    "redo": ("undo", "Do again what was undone."),
    "history": ("undo", "List the edits that were applied in a folder."),
    "explain": ("explain", "Show what a request held, item by item, and why."),
    "replay": ("replay", "Plan a stored turn again, for its model or another."),
    "chats": ("chats", "List, read, search, name, export and delete chats."),
    "search": ("search", "Search the notes of a folder by words and meaning."),
    "links": ("links", "Show a note's links and backlinks, or check the whole folder."),
    "index": ("index", "Bring the search index up to date."),
    "status": ("index", "Show what the search index holds."),
    "memory": ("memory", "List, add, find, change and forget what is remembered of a folder."),
    "references": ("references", "Show which documents chats used most."),
    "tokens": ("tokens", "Count tokens, like wc."),
    "cost": ("cost", "Show what calls to models cost, by day, model and category."),
    "models": ("models", "List the endpoint's models and how their tokens are counted."),
    "model": ("model", "Fetch, list and choose local models."),
    "mcp": ("mcp", "Offer the folder's tools to another program (MCP, standard input and output)."),
    "users": ("users", "Add, list and remove the people who share a server; make their tokens."),
    "backup": ("backup", "Copy the database to a file, consistent while in use."),
    "trust": ("trust", "Allow a folder's settings to choose a remote endpoint."),
    "init": ("init", "Set Sill up for a folder, with at most three questions."),
    "doctor": ("doctor", "Check everything Sill depends on, and say what to do."),
    "completions": ("completions", "Print a completion script for bash, zsh or fish."),
}


class LazyGroup(click.Group):
    """A group that knows its commands' names and help without importing them."""

    context_class = ManualContext

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        module = importlib.import_module(f"{__package__}.{COMMANDS[cmd_name][0]}")
        command = getattr(module, "command", None) or getattr(module, cmd_name)
        assert isinstance(command, click.Command)
        return with_manual(command)

    def shell_complete(self, ctx: click.Context, incomplete: str) -> "list[CompletionItem]":
        """Names and help from the table: a Tab must not wait for imports."""
        from click.shell_completion import CompletionItem

        return [
            CompletionItem(name, help=text)
            for name, (_, text) in COMMANDS.items()
            if name.startswith(incomplete)
        ] or super().shell_complete(ctx, incomplete)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, text) for name, (_, text) in COMMANDS.items()])

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        name = args[0]
        if name not in COMMANDS and not name.startswith("-"):
            from difflib import get_close_matches

            near = get_close_matches(name, COMMANDS, n=1)
            hint = f" Did you mean `{near[0]}`?" if near else ""
            ctx.fail(f"There is no command `{name}`.{hint}")
        return super().resolve_command(ctx, args)


@click.group(
    cls=LazyGroup,
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog="Settings: sill.toml in the folder or above it, then the user's own; `sill doctor` shows "
    "each value and where it came from.",
)
@click.option(
    "--version",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=lambda context, _, wanted: _tell_version(context) if wanted else None,
    help="Show the version and exit.",
)
@click.pass_context
def cli(context: click.Context) -> int:
    """Sill keeps what matters at your model's context window.

    `sill` alone opens a chat in the current folder.

    A chat over a folder of notes and code that knows, to the token and before sending, what the
    model will see. Works with any OpenAI-compatible endpoint, or with a small local model.
    """
    if context.invoked_subcommand is not None:
        return 0
    from .chat import command as chat

    code = context.invoke(chat)
    return code if isinstance(code, int) else 0


def _tell_version(context: click.Context) -> None:
    from .. import __version__

    click.echo(f"sill {__version__}")
    context.exit()


def main(arguments: list[str] | None = None) -> None:
    """Run a command; errors are one line on standard error, never a traceback."""
    sys.exit(run(cli, arguments))


def run(command: click.Command, arguments: list[str] | None = None, **extra: Any) -> int:
    try:
        code = command.main(arguments, prog_name="sill", standalone_mode=False, **extra)
    except click.exceptions.Exit as exit_request:
        return exit_request.exit_code
    except click.Abort:
        return 130
    except click.ClickException as error:
        hint = _help_for(error)
        complain(UsageError(error.format_message(), hint=hint))
        return error.exit_code
    except SillError as error:
        complain(error)
        return error.exit_code
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:
        # The reader has gone (`sill … | head`): nothing to say, and nobody to say it to.
        sys.stderr.close()
        return 141
    except Exception as error:
        if os.environ.get("SILL_DEBUG"):
            raise
        hint = "this is a bug in Sill; SILL_DEBUG=1 shows where"
        complain(SillError(f"unexpected {type(error).__name__}: {error}", hint=hint))
        return 1
    return code if isinstance(code, int) else 0


def _help_for(error: click.ClickException) -> str:
    context = getattr(error, "ctx", None)
    return f"`{context.command_path} --help` says more" if context else ""


def complain(error: SillError) -> None:
    from .screen import plain

    click.echo(f"sill: {plain(error.message)}", err=True)
    if error.hint:
        click.echo(f"      {plain(error.hint)}", err=True)
