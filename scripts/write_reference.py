"""Write the reference pages that follow from the code. `make test` fails where they are out of date."""

import sys
from pathlib import Path

import click

from sill.settings import FALLBACK, MCP_SERVER, PRICE, PROFILES, TABLE, Spec

SCRIPTS = Path(__file__).resolve().parent
REFERENCE = SCRIPTS.parent / "docs" / "reference"
sys.path.insert(0, str(SCRIPTS))

from reference_events import events_page  # noqa: E402
from reference_formats import formats_page  # noqa: E402
from reference_http import routes_page  # noqa: E402
from reference_library import library_page  # noqa: E402

SETTINGS = """\
# Settings

Later wins: the default, the user's file (`$XDG_CONFIG_HOME/sill/sill.toml`, usually `~/.config/sill/sill.toml`), the
project's file (`sill.toml` in the folder or above it), environment variables, flags. `sill doctor` shows each value
that is set and where it came from. Unknown names are errors, so that a slip of the pen does not go unnoticed.

```toml
# sill.toml
base_url = "http://127.0.0.1:8080/v1"
model = "qwen3-8b"

[profile.chat]
reply = 2000
temperature = 0.3
```

A project's file may name a remote `base_url`, an `api_key`, a `database` or a `local_model`, allow a remote fallback,
name servers of tools, or touch limits and prices only after one `sill trust` in that folder: such a file can come with
somebody else's notes, and it decides where your text goes and what may be spent. The trust holds for the file exactly
as it was; a change asks again. Loopback addresses need no trust.

## General

{general}

`base_url = "local"` chooses the bundled model. Without any `base_url`, Sill looks for a model server on the standard
ports of this machine (8080, 11434, 1234, 8000) and takes the bundled model if there is none.

## Profiles

One profile for each thing a model is used for: {profiles}. A profile's own value goes before the general one of the
same name. In a file they stand under `[profile.NAME]`; in the environment they are `LLM_NAME_SETTING`, for example
`LLM_CHAT_OPS_MODEL`.

{profile}

## Fallbacks

Endpoints that are asked, in their order, when a profile's own does not answer; see [Costs](../costs.md). In a file
only, any number of them; a project's list replaces the user's.

```toml
[[profile.chat.fallback]]
base_url = "https://openrouter.ai/api/v1"
model = "qwen/qwen3-8b"
api_key_env = "OPENROUTER_API_KEY"
```

{fallback}

## Prices

In dollars per million tokens, by the model's name at its endpoint; they go before the prices Sill knows.

```toml
[prices."qwen/qwen3-8b"]
prompt = 0.05
completion = 0.4
```

{price}

## Servers of tools

Programs that speak the Model Context Protocol, by a name that you choose; see
[Tools of other programs](../mcp-tools.md). In a file only; a project's file needs `sill trust` for them.

```toml
[mcpServers.tickets]
command = "tickets-mcp"
args = ["--read-only"]
env = {{ TICKETS_TOKEN = "${{TICKETS_TOKEN}}" }}
```

{server}
"""


def settings_page() -> str:
    general = {key: spec for key, spec in TABLE.items() if not key.startswith("profile.")}
    chat = "profile.chat."
    profile = {k.removeprefix(chat): s for k, s in TABLE.items() if k.startswith(chat)}
    return SETTINGS.format(
        general=table(general, with_env=True),
        profiles=", ".join(f"`{name}`" for name in PROFILES),
        profile=table(profile, with_env=False),
        fallback=table(FALLBACK, with_env=False),
        price=table(PRICE, with_env=False),
        server=table(MCP_SERVER, with_env=False),
    )


def table(specs: dict[str, Spec], *, with_env: bool) -> str:
    names = {str: "text", int: "whole number", float: "number", bool: "true or false"}
    head = "| setting | value | what it is |" + (" environment |" if with_env else "")
    lines = [head, "|---|---|---|" + ("---|" if with_env else "")]
    for key, spec in specs.items():
        kind = " or ".join(f"`{c}`" for c in spec.choices) or names[spec.kind]
        if spec.default is not None:
            kind += f", default `{str(spec.default).lower()}`"
        env = " " + ", ".join(f"`{name}`" for name in spec.env) + " |" if with_env else ""
        lines.append(f"| `{key}` | {kind} | {spec.help} |{env}")
    return "\n".join(lines)


BAR = r"\|"  # within a cell of a table
CLI = """\
# Commands

What `sill COMMAND --help` prints. See [The terminal](../terminal.md) for the chat, [JSON output](json.md) for the
shapes behind `--json`, and [Settings](settings.md) for what can be set.

Everywhere: exit code 0 is success, 1 a failure (no whole answer, a conflict, nothing found), 2 a mistake in how the
command was called, 130 an interruption by Ctrl-C. Answers and results go to standard output, everything else to
standard error. `NO_COLOR` switches colours off, and nothing is styled where standard output is not a terminal.

## In the chat

Commands of `sill chat` begin with `:` or `/`. A beginning is enough where it is the only one; a name that does not
exist suggests the nearest.

| command | what it does |
|---|---|
{chat}

## sill

```text
{sill}
```

{commands}
"""


def cli_page() -> str:
    from sill.cli.main import COMMANDS, cli
    from sill.cli.manual import ManualContext
    from sill.cli.repl.table import commands

    settings = {**cli.context_settings, "terminal_width": 88}
    root = ManualContext(cli, info_name="sill", **settings)
    pages = []
    for name in COMMANDS:
        command = cli.get_command(root, name)
        assert command is not None
        pages += manual_pages(command, f"sill {name}", root)
    rows = ((f"{each.name} {each.usage}".strip(), each.help) for each in commands().values())
    chat = "\n".join(f"| `:{shown.replace('|', BAR)}` | {text} |" for shown, text in rows)
    return CLI.format(chat=chat, sill=manual(cli, "sill", None), commands="\n\n".join(pages))


def manual_pages(command: click.Command, name: str, parent: click.Context) -> list[str]:
    """One section for the command, one for each of its subcommands."""
    pages = [f"## {name}\n\n```text\n{manual(command, name, parent)}\n```"]
    for each in getattr(command, "commands", {}).values():
        pages += manual_pages(each, f"{name} {each.name}", parent)
    return pages


def manual(command: click.Command, name: str, parent: click.Context | None) -> str:
    short = name if parent is None else name.removeprefix("sill ")
    # As the program itself sets them; without them the result would depend on who asked for help before.
    given = {"terminal_width": 88, "max_content_width": 100, "help_option_names": ["-h", "--help"]}
    context = command.context_class(command, info_name=short, parent=parent, **given)
    command._help_option = None  # remembered from whoever called the command first
    return "\n".join(line.rstrip() for line in command.get_help(context).splitlines())


PAGES = {
    "settings.md": settings_page,
    "cli.md": cli_page,
    "events.md": events_page,
    "formats.md": formats_page,
    "library.md": library_page,
    "routes.md": routes_page,
}

if __name__ == "__main__":
    for name, page in PAGES.items():
        (REFERENCE / name).write_text(page())
