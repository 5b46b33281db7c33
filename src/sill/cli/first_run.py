"""``make run``: a first chat over the sample vault with the bundled model; no key, no questions."""

import sys
from pathlib import Path

import click

from .main import run

SAMPLE = Path(__file__).resolve().parent.parent / "sample" / "vault"
START = "Start here.md"

WELCOME = f"""\
This is Sill with its bundled model, on the sample vault. The model is tiny: it shows how everything
works, not what a good model knows. For real work, start a llama.cpp or Ollama server, or set
OPENAI_BASE_URL (and OPENAI_API_KEY), and run `.venv/bin/sill chat` in a folder of yours.

The note “{START.removesuffix(".md")}” is in the window. Ask about it, or name others: [[Bread Oven]]
"""


def main() -> int:
    given = ["--base-url", "local", "--vault", str(SAMPLE)]
    if sys.stdin.isatty():
        click.echo(WELCOME, err=True)
        from .chat import command as chat

        return run(chat, [*given, START])

    from .ask import command as ask

    click.echo(
        "sill: the bundled model answers; it is tiny. OPENAI_BASE_URL chooses a better one.",
        err=True,
    )
    return run(ask, [*given, "-"])


if __name__ == "__main__":
    sys.exit(main())
