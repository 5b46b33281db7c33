"""``sill completions``: what a shell needs to complete Sill's commands and options."""

import click

WHERE = {
    "bash": "~/.local/share/bash-completion/completions/sill",
    "zsh": "a directory of $fpath, as _sill",
    "fish": "~/.config/fish/completions/sill.fish",
}


@click.command("completions")
@click.argument("shell", type=click.Choice(list(WHERE)))
def command(shell: str) -> int:
    """Print the completion script for SHELL.

    bash: `sill completions bash > ~/.local/share/bash-completion/completions/sill`.
    zsh: write it to a directory of $fpath as `_sill`.
    fish: `sill completions fish > ~/.config/fish/completions/sill.fish`.
    """
    from click.shell_completion import get_completion_class

    from .main import cli

    made = get_completion_class(shell)
    assert made is not None
    click.echo(made(cli, {}, "sill", "_SILL_COMPLETE").source())
    return 0
