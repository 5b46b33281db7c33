"""Every command, setting and program in the pages is run, or at least exists."""

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from contextlib import ExitStack
from pathlib import Path

import click
import pytest

import sill
from sill.adapters.local.supervise import LocalServer
from sill.cli.main import cli
from sill.cli.serve import PORT
from sill.paths import data_dir
from sill.settings import load
from tests.models.fault_provider import FaultProvider, ok

from .snippets import ALL, Snippet, of_sill

VAULT = Path(sill.__file__).parent / "sample" / "vault"


def named(snippet: Snippet) -> str:
    return f"{snippet.page}:{snippet.line}"


def of(*languages: str) -> list[Snippet]:
    return [snippet for snippet in ALL if snippet.language in languages]


@pytest.mark.parametrize("snippet", of("console"), ids=named)
def test_commands_and_options_in_the_pages_exist(snippet: Snippet):
    lines = snippet.commands
    wrong = [problem for line in lines for call in of_sill(line) for problem in problems(call)]

    assert wrong == []


def test_what_is_typed_stands_in_blocks_that_are_run_or_say_why_not():
    elsewhere = [s for s in ALL if s.language != "console" and s.commands]
    silent = [s for s in ALL if not s.is_run and len(s.reason) < 10]

    assert [named(s) for s in (*elsewhere, *of("sh", "bash", "shell", "zsh"))] == []
    assert [named(s) for s in silent] == []


def problems(call: list[str]) -> list[str]:
    """What this call names that the program does not have."""
    command: click.Command = cli
    words = iter(call)
    context = click.Context(cli, **cli.context_settings)
    rest: list[str] = []
    for word in words:
        if isinstance(command, click.Group) and not word.startswith("-"):
            found = command.get_command(context, word)
            if found is None:
                return [f"there is no command {word}"]
            command = found
            continue
        rest.append(word)
    known = {
        name
        for p in command.params
        if isinstance(p, click.Option)
        for name in (*p.opts, *p.secondary_opts)
    }
    known |= {"-h", "--help", "--version"}
    flags = [
        word.split("=")[0] for word in rest if word.startswith("-") and word not in ("-", "--")
    ]
    return [
        f"{command.name} has no {flag}"
        for flag in flags
        if flag not in known and not flag[1:].isdecimal()
    ]


@pytest.mark.parametrize("snippet", of("toml"), ids=named)
def test_settings_in_the_pages_are_ones_that_exist(snippet: Snippet, tmp_path: Path):
    file = tmp_path / "sill.toml"
    file.write_text(snippet.body)
    variables = {"OPENROUTER_API_KEY": "k", "OPENAI_API_KEY": "k"}

    settings = load(user_file=file, project_file=None, environment=variables)

    assert settings is not None


@pytest.mark.parametrize("snippet", of("json", "jsonl"), ids=named)
def test_objects_in_the_pages_are_json(snippet: Snippet):
    texts = snippet.body.splitlines() if snippet.language == "jsonl" else [snippet.body]

    assert all(isinstance(json.loads(text), dict | list) for text in texts)


@pytest.mark.parametrize("snippet", of("yaml"), ids=named)
def test_settings_of_other_programs_are_yaml(snippet: Snippet):
    import yaml

    assert isinstance(yaml.safe_load(snippet.body), dict | list)


# --- Run ------------------------------------------------------------------------------------------


@pytest.fixture
def sandbox(tmp_path: Path, tiny_server: LocalServer) -> tuple[Path, dict[str, str]]:
    """A copy of the sample vault in a home of its own, with the real two-layer server behind it."""
    folder = tmp_path / "vault"
    shutil.copytree(VAULT, folder)
    (folder / "notes").mkdir(exist_ok=True)
    for name in ("plan", "glossary"):
        (folder / "notes" / f"{name}.md").write_text(
            f"# {name.title()}\n\n" + "A line of text.\n" * 40
        )
    data = tmp_path / "home" / ".local" / "share" / "sill"
    data.mkdir(parents=True)
    (data / "models").symlink_to(data_dir() / "models")
    (tmp_path / "run").mkdir(mode=0o700)
    environment = {
        "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
        "LANG": "C.UTF-8",
        "HOME": str(tmp_path / "home"),
        "XDG_RUNTIME_DIR": str(tmp_path / "run"),
        "OPENAI_BASE_URL": tiny_server.base_url,
        "OPENAI_API_KEY": tiny_server.api_key,
        "LLM_CHAT_REPLY": "24",
        "LLM_CHAT_OPS_REPLY": "64",
        "OMP_WAIT_POLICY": "passive",
    }
    return folder, environment


LETTUCE = {
    "op": "replace",
    "target_file": "Lettuce.md",
    "target": "anchor",
    "anchor": "every two weeks",
    "content": "every ten days",
}
# What the endpoint answers where a page needs the model's words to make sense.
SCRIPTS = {
    "answer": ok("Lettuce."),
    "done": ok("I looked at every recipe.\n\nDONE: each has its list."),
    "nothing": ok(json.dumps({"assistant_message": "It is fine as it is.", "ops": []})),
    "lettuce": ok(json.dumps({"assistant_message": "Ten days.", "ops": [LETTUCE]})),
}
RUNNABLE = [s for s in of("console", "python") if s.is_run]
BY_PAGE = {
    page: [s for s in RUNNABLE if s.page == page]
    for page in dict.fromkeys(s.page for s in RUNNABLE)
}


@pytest.mark.slow
@pytest.mark.parametrize("found", BY_PAGE.values(), ids=BY_PAGE.keys())
def test_what_a_page_says_to_type_works_from_top_to_bottom(
    found: list[Snippet], sandbox: tuple[Path, dict[str, str]], request: pytest.FixtureRequest
):
    folder, environment = sandbox
    if any(snippet.on_postgres for snippet in found):
        environment["REAL_DATABASE"] = request.getfixturevalue("new_postgres")()
    with ExitStack() as until_the_end:
        for snippet in found:
            if snippet.serves:
                serving = Serving(snippet, folder, environment)
                environment = {**environment, **until_the_end.enter_context(serving)}
                continue
            done = run(snippet, folder, environment)
            shown = f"{named(snippet)}\n{done.stdout}\n{done.stderr}"
            # The bundled model stops where it likes: what the sandbox's short limit cuts is an answer, too.
            expected = (
                1 if "the reply reached its token limit" in done.stderr else snippet.exit_code
            )
            assert done.returncode == expected, shown


def run(
    snippet: Snippet, folder: Path, environment: dict[str, str]
) -> subprocess.CompletedProcess[str]:
    program = [f"python - <<'PROGRAM'\n{snippet.body}PROGRAM"]
    commands = program if snippet.language == "python" else snippet.commands
    # One shell for the block, so that `cd` and `export` hold; it stops where a command fails.
    script = "\n".join(["set -e", *commands]) + "\n"
    script = script.replace(f":{PORT}/", f":{environment.get('PORT', PORT)}/")
    if snippet.on_postgres:
        script = re.sub(r"postgresql://\S+", shlex.quote(environment["REAL_DATABASE"]), script)
    if not snippet.script:
        return typed(script, folder, environment)
    with FaultProvider(*[SCRIPTS[snippet.script]] * len(commands)) as provider:
        return typed(script, folder, {**environment, **scripted(provider)})


class Serving:
    """`sill serve --token` as a page says to type it, on a port of its own, until the page ends."""

    def __init__(self, snippet: Snippet, folder: Path, environment: dict[str, str]) -> None:
        [command] = snippet.commands
        arguments = [*shlex.split(command), "--port", "0", "--no-open"]
        self.process = subprocess.Popen(
            arguments, cwd=folder, env=environment, stdout=subprocess.PIPE, text=True
        )

    def __enter__(self) -> dict[str, str]:
        """The environment of whoever is a client of it."""
        assert self.process.stdout is not None
        port = re.search(r":(\d+)", self.process.stdout.readline())
        token = self.process.stdout.readline().rsplit(": ", 1)
        assert port and len(token) == 2
        base_url = f"http://127.0.0.1:{port[1]}/v1"
        return {
            "PORT": port[1],
            "OPENAI_BASE_URL": base_url,
            "OPENAI_API_KEY": token[1].strip(),
            "TOKEN": token[1].strip(),
        }

    def __exit__(self, *_: object) -> None:
        self.process.terminate()
        self.process.communicate(timeout=60)


def typed(
    script: str, folder: Path, environment: dict[str, str]
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["bash", "-c", script],
        cwd=folder,
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=300,
    )


def scripted(provider: FaultProvider) -> dict[str, str]:
    return {
        "OPENAI_BASE_URL": f"{provider.url}/v1",
        "SILL_MODEL": "m",
        "SILL_PROBE": "false",
        "SILL_TOKENIZER": "o200k_base",
        "SILL_WINDOW": "8192",
    }
