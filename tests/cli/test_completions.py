"""Completion scripts are made, parse, and know the commands without importing them."""

import shutil
import subprocess

import pytest


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_script_names_the_program(home, shell):
    done = home.sill("completions", shell)

    assert (done.returncode, "_SILL_COMPLETE" in done.stdout) == (0, True)
    if shutil.which(shell):
        checked = subprocess.run([shell, "-n"], input=done.stdout, text=True, capture_output=True)
        assert (checked.returncode, checked.stderr) == (0, "")


def test_commands_are_completed(home):
    done = home.sill(_SILL_COMPLETE="bash_complete", COMP_WORDS="sill co", COMP_CWORD="1")

    assert done.stdout.split() == ["plain,cost", "plain,completions"]


def test_options_are_completed(home):
    done = home.sill(_SILL_COMPLETE="bash_complete", COMP_WORDS="sill ask --q", COMP_CWORD="2")

    assert done.stdout.split() == ["plain,--quiet"]


def test_another_shell_is_a_mistake(home):
    done = home.sill("completions", "tcsh")

    assert (done.returncode, done.stdout) == (2, "")
