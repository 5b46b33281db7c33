"""Nothing that is done with a vault keeps the processor busy for two seconds, whatever its files hold or are.

What is measured is the processor time of a process of its own, its readers included; a machine that is busy makes it
wait but not work more. (It works a little slower beside others on one core: the least of three runs counts.) The
system ends a process that would never end.
"""

import json
import os
import resource
import stat
import subprocess
import sys
from contextlib import suppress

import pytest

MOST_SECONDS = 2.0
WATCHDOG = 60  # seconds of processor time

USE = """
import asyncio, json, os, sys
from pathlib import Path
from sill.adapters.vault.index import DiskVault

def busy():
    user, system, others_user, others_system, _ = os.times()
    return user + system + others_user + others_system

took = {}

async def timed(name, work):
    start = busy()
    result = await work
    took[name] = round(max(took.get(name, 0), busy() - start), 2)
    return result

async def use():
    vault = DiskVault(Path(sys.argv[1]), Path(sys.argv[2]))
    await timed("taking in", vault.refresh())
    asked = 'word "a phrase" note -none', "[[hostile]] and [[../../etc/passwd]]", "' OR 1=1; -- path:d"
    found = [hit.path for question in asked for hit in await timed("search", vault.search(question, 20))]
    paths = await vault.paths()
    for path in paths[:3]:
        await timed("links", vault.links(path))
        await timed("related", vault.related(path))
        await timed("read", vault.read(path))
    references = await timed("references", vault.references("[[hostile]], [[passwd]] and ![[hostile#x#^y]]"))
    await timed("check", vault.check_links())
    await timed("another look", vault.refresh())
    await vault.close()
    return [*found, *(one.path for one in references)]

found = asyncio.run(use())
print(json.dumps({"outside": [path for path in found if path and "passwd" in path], "took": took}))
"""

MEGABYTE = 1_000_000


def one_file(text: str | bytes, name: str = "hostile.md"):
    def make(root):
        (root / name).write_bytes(text.encode() if isinstance(text, str) else text)

    return make


def cycle(root):
    for number in range(300):
        following = f"![[{(number + 1) % 300}]] ![[{number}]] ![[hostile]]"
        (root / f"{number}.md").write_text(following)
    (root / "hostile.md").write_text("![[hostile]] ![[0#^a]] ^a")


def deep(root):
    inner = os.open(root, os.O_RDONLY)
    for _ in range(1_000):  # deeper than a path may be long
        os.mkdir("d", dir_fd=inner)
        below = os.open("d", os.O_RDONLY, dir_fd=inner)
        os.close(inner)
        inner = below
    os.close(inner)
    (root / "d" / "hostile.md").write_text("word")


def names(root):
    for name in (
        "quo'te\"s",
        "new\nline",
        "-rf",
        "$(touch x)",
        "`id`",
        "%s%n",
        "a" * 250,
        "\u202egnp",
        "[[x]]#^|",
    ):
        (root / f"{name}.md").write_text("word [[hostile]] " + name)
    (root / os.fsdecode(b"\xff\xfe.md")).write_text("word")


def special(root):
    os.mkfifo(root / "fifo.md")
    os.mkfifo(root / ".gitignore")
    with suppress(PermissionError):  # only root may make one
        os.mknod(root / "zero.md", stat.S_IFCHR | 0o666, os.makedev(1, 5))
    (root / "random.md").symlink_to("/dev/urandom")
    (root / "tty.md").symlink_to("/dev/tty")


def outside(root):
    (root / "passwd.md").symlink_to("/etc/passwd")
    (root / "etc").symlink_to("/etc")
    (root / "self").symlink_to(root)
    (root / "hostile.md").write_text(
        "[[../../etc/passwd]] ![[/etc/passwd]] [x](../../../etc/passwd) [[etc/passwd]]"
    )


CASES = {
    "one line of ten megabytes": one_file("word " * (2 * MEGABYTE)),
    "one word of ten megabytes": one_file("x" * (10 * MEGABYTE)),
    "a hundred thousand links": one_file("".join(f"[[note {n}|{n}]] " for n in range(100_000))),
    "a hundred thousand links to itself": one_file("[[hostile]] " * 100_000),
    "a hundred thousand Markdown links": one_file("[x](hostile.md) " * 100_000),
    "embeds in a circle": cycle,
    "folders in folders": deep,
    "YAML that opens and never closes": one_file("---\n" + "a: [" * 100_000 + "\n---\nword"),
    "YAML that multiplies": one_file(
        "---\na: &a [x]\n" + "".join(f"b{n}: &b{n} [*a, *a]\n" for n in range(40_000)) + "---\nword"
    ),
    "front matter without an end": one_file("---\n" + "a: b\n" * 200_000),
    "invalid UTF-8": one_file(b"\xff\xed\xa0word " * (MEGABYTE // 8)),
    "UTF-16": one_file("word ".encode("utf-16") * 100_000),
    "names that are commands": names,
    "pipes and devices": special,
    "links that lead outside": outside,
    "brackets": one_file("[" * MEGABYTE + "](" * (MEGABYTE // 2)),
    "backticks": one_file(" ".join("`" * n for n in range(1, 1_400))),
    "headings": one_file("# a\n" * (MEGABYTE // 4)),
    "a rule file of a megabyte": one_file("**/a*b*c*/\n" * (MEGABYTE // 11), ".gitignore"),
    "thousands of tiny files": lambda root: [
        (root / f"{number}.md").write_text("word [[hostile]]") for number in range(3_000)
    ],
}  # fmt: skip


@pytest.mark.bare
@pytest.mark.slow
@pytest.mark.parametrize("case", [pytest.param(make, id=name) for name, make in CASES.items()])
def test_a_hostile_vault_keeps_nobody_waiting(tmp_path, case, request):
    root = tmp_path / "vault"
    root.mkdir()
    # Whoever tidies up later may not get to the bottom of it.
    request.addfinalizer(lambda: subprocess.run(["rm", "-rf", root], check=True))
    case(root)

    for run in range(3):
        done = subprocess.run(
            [sys.executable, "-c", USE, str(root), str(tmp_path / f"{run}.sqlite")],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU, (WATCHDOG, WATCHDOG)),
        )
        assert (done.returncode, done.stderr) == (0, "")
        told = json.loads(done.stdout)
        slow = {name: seconds for name, seconds in told["took"].items() if seconds >= MOST_SECONDS}
        if not slow:
            break

    assert (told["outside"], slow) == ([], {})
