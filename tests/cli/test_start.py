"""Starting is quick because little is imported, and the help lists only what is there."""

import subprocess
import sys

import pytest

from sill.cli.main import COMMANDS, cli

HEAVY = [
    "httpx", "sqlite3", "splintr", "tokenizers", "prompt_toolkit", "rich", "jinja2", "asyncio",
    "psycopg", "xllamacpp", "numpy", "pydantic", "fastapi", "uvicorn", "mcp",
]  # fmt: skip


def modules_after(code: str) -> list[str]:
    script = f"import sys, io; sys.stdout = io.StringIO()\n{code}\nprint(*sys.modules, file=sys.__stdout__)"
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    return done.stdout.split()


@pytest.mark.bare
@pytest.mark.parametrize(
    "code",
    [
        pytest.param("import sill", id="import sill"),
        pytest.param("from sill.cli.main import cli, run; run(cli, ['--help'])", id="sill --help"),
        pytest.param(
            "from sill.cli.main import cli, run; run(cli, ['--version'])", id="sill --version"
        ),
    ],
)
def test_nothing_heavy_is_imported(code):
    assert [name for name in modules_after(code) if name in HEAVY] == []


@pytest.mark.bare
def test_the_prompt_waits_for_no_http_database_or_tokenizer():
    loaded = modules_after(
        "from sill.cli.main import cli\ncli.get_command(None, 'chat')\n"
        "import sill.cli.repl.loop, sill.cli.repl.prompt, sill.cli.repl.table\n"
        "sill.cli.repl.table.commands()"
    )

    allowed = {"prompt_toolkit", "asyncio"}
    assert [name for name in loaded if name in set(HEAVY) - allowed] == []


@pytest.mark.parametrize("name", COMMANDS)
def test_help_is_a_page_of_the_manual(name):
    context = cli.make_context("sill", [name], resilient_parsing=True)
    command = cli.get_command(context, name)
    page = command.get_help(command.context_class(command, info_name=name, parent=context))

    headings = [line for line in page.splitlines() if line and not line.startswith(" ")]
    assert headings[:4] in (
        ["NAME", "SYNOPSIS", "DESCRIPTION", "OPTIONS"],
        ["NAME", "SYNOPSIS", "DESCRIPTION", "COMMANDS"],
    )


@pytest.mark.parametrize("name", COMMANDS)
def test_every_listed_command_is_there_and_explains_itself(name):
    command = cli.get_command(None, name)

    assert command is not None
    assert command.name == name
    assert len(command.get_short_help_str(200)) > 10
