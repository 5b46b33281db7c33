"""What Sill says it is: by the tag in a checkout, by its wheel where it was installed."""

import os
import subprocess
from pathlib import Path

import pytest

import sill
from sill.version import built, from_description, of_checkout


@pytest.mark.parametrize(
    ("described", "version"),
    [
        pytest.param("v0.1.0-0-gf2f08cc", "0.1.0", id="the commit of a release"),
        pytest.param("0.1.0-0-gf2f08cc", "0.1.0", id="a tag without its letter"),
        pytest.param("v0.1.0-12-gf2f08cc", "0.1.1.dev12+gf2f08cc", id="between releases"),
        pytest.param("v1.9.9-1-gabc", "1.9.10.dev1+gabc", id="more than one digit"),
        pytest.param("v0.1.0-0-gf2f08cc-dirty", "0.1.1.dev0+gf2f08cc.dirty", id="a release that was changed"),
        pytest.param("v0.1.0-3-gabc-dirty", "0.1.1.dev3+gabc.dirty", id="unsaved changes"),
        pytest.param("nightly-3-gabc", None, id="not the name of a release"),
        pytest.param("", None, id="nothing"),
    ],
)  # fmt: skip
def test_what_git_describes_is_a_version(described, version):
    assert from_description(described) == version


class Checkout:
    """A real repository."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.git("init", "-q", "-b", "main")

    def git(self, *arguments: str) -> str:
        who = ("-c", "user.name=A", "-c", "user.email=a@b.c", "-c", "commit.gpgsign=false")
        environment = {"PATH": os.environ["PATH"], "HOME": str(self.folder)}
        command = ["git", "-C", str(self.folder), *who, *arguments]
        done = subprocess.run(command, check=True, capture_output=True, text=True, env=environment)
        return done.stdout.strip()

    def commit(self, text: str) -> str:
        (self.folder / "a.txt").write_text(text)
        self.git("add", "a.txt")
        self.git("commit", "-q", "-m", text)
        return self.git("rev-parse", "--short", "HEAD")


def test_a_checkout_is_what_its_newest_tag_makes_it(tmp_path):
    here = Checkout(tmp_path)
    empty = of_checkout(tmp_path)
    here.commit("one")
    second = here.commit("two")
    before_any = of_checkout(tmp_path)
    here.git("tag", "v0.2.0")
    here.git("tag", "unrelated")
    released = of_checkout(tmp_path)
    third = here.commit("three")
    after = of_checkout(tmp_path)
    (tmp_path / "a.txt").write_text("not saved")
    changed = of_checkout(tmp_path)

    assert (empty, before_any, released, after, changed) == (
        None,
        f"0.1.0.dev2+g{second}",
        "0.2.0",
        f"0.2.1.dev1+g{third}",
        f"0.2.1.dev1+g{third}.dirty",
    )


def test_a_folder_without_git_has_no_version_of_its_own(tmp_path):
    assert of_checkout(tmp_path) is None


def test_here_nothing_was_built_and_the_package_still_knows_its_version():
    assert built() is None
    assert sill.__version__.split(".")[0].isdecimal()
