"""A vault that means harm: nothing crashes, hangs or reads outside."""

import asyncio
import os
import socket

import pytest

from sill.adapters.vault.index import DiskVault
from sill.adapters.vault.scan import DEEPEST, LARGEST

SECRET = "the-secret-outside"


@pytest.fixture(scope="module")
def vault(tmp_path_factory):
    base = tmp_path_factory.mktemp("hostile")
    root = base / "vault"
    root.mkdir()
    (base / "outside.md").write_text(SECRET)
    (base / "outside").mkdir()
    (base / "outside/inner.md").write_text(SECRET)
    build(root, base)
    made = DiskVault(root, base / "index.sqlite")
    asyncio.run(made.refresh())
    yield made
    asyncio.run(made.close())


def build(root, base):
    (root / "plain.md").write_text("a plain note, see [[links]] and ![[cycle-a]]\n")
    (root / "one-line.md").write_text("word " * 2_000_000)
    (root / "brackets.md").write_text("[" * 1_000_000 + "](" * 500_000 + "`" * 500_000)
    (root / "links.md").write_text("".join(f"[[note {n}|{n}]] " for n in range(100_000)))
    (root / "cycle-a.md").write_text("![[cycle-b]]")
    (root / "cycle-b.md").write_text("![[cycle-a]] ![[cycle-b]]")
    (root / "yaml.md").write_text(
        "---\n" + "a: [" * 10_000 + "\n: : :\n\t- x\naliases: {{\n---\nbody of bad yaml"
    )
    (root / "never-closed.md").write_text("---\ntitle: x\n" + "y: z\n" * 50_000)
    (root / "latin1.md").write_bytes("caf\xe9 in latin-1 \xff\xfe".encode("latin-1"))
    (root / "nul.md").write_bytes(b"looks like text\0but is not")
    (root / "utf16.md").write_bytes("wide".encode("utf-16"))
    (root / "lone.md").write_bytes(b"surrogate \xed\xa0\x80 half")
    (root / "quo'te\"s.md").write_text("quoted name [[plain]]")
    (root / "new\nline.md").write_text("a name of two lines")
    (root / "-rf.md").write_text("a name like an option")
    (root / "$(touch x).md").write_text("a name like a command")
    (root / "escape.md").write_text(
        "[[../outside]] [x](../outside.md) ![[/etc/passwd]] [[../../../../etc/passwd]]"
    )
    (root / "passwd.md").symlink_to("/etc/passwd")
    (root / "outside-link.md").symlink_to(base / "outside.md")
    (root / "outside-folder").symlink_to(base / "outside")
    (root / "loop").symlink_to(root)
    os.mkfifo(root / "fifo.md")
    with socket.socket(socket.AF_UNIX) as made:
        here = os.open(root, os.O_RDONLY)
        made.bind(f"/proc/self/fd/{here}/socket.md")
        os.close(here)
    deep = root
    for _ in range(DEEPEST + 20):
        deep = deep / "d"
    deep.mkdir(parents=True)
    (deep / "deep.md").write_text("very deep")
    (root / "sql.md").write_text("'; DROP TABLE files; -- \" OR 1=1")


def test_every_readable_file_is_found(vault):
    def first(question):
        (hit, *_) = asyncio.run(vault.search(question, 5, "text"))
        return hit.path

    assert [
        first(words) for words in ("plain note", "bad yaml", "two lines", "drop table", "latin")
    ] == [
        "plain.md",
        "yaml.md",
        "new\nline.md",
        "sql.md",
        "latin1.md",
    ]


def test_what_cannot_be_read_is_said(vault):
    problems = {one.path: one.reason for one in asyncio.run(vault.status()).problems}

    assert {
        "fifo.md": "is not a regular file",
        "socket.md": "is not a regular file",
        "passwd.md": "is a link",
        "outside-link.md": "is a link",
        "outside-folder": "is a link",
        "loop": "is a link",
        "nul.md": "is not text",
        "latin1.md": "is not UTF-8 text (byte 3)",
        "one-line.md": f"only its first {LARGEST:,} bytes are searched",
    }.items() <= problems.items()


def test_nothing_outside_was_read(vault):
    for words in (SECRET, "root:x:0", "/bin/bash"):
        hits = asyncio.run(vault.search(f'"{words}"', 50, "text"))
        assert [hit.path for hit in hits] == []
    assert asyncio.run(vault.read("passwd.md")) is None
    assert asyncio.run(vault.read("../outside.md")) is None


def test_a_hundred_thousand_links_are_links(vault):
    assert len(asyncio.run(vault.links("links.md")).forward) == 100_000


def test_embeds_that_go_round_end(vault):
    edges = asyncio.run(vault.links("cycle-b.md"))

    assert [edge.target for edge in edges.forward] == ["cycle-a.md", "cycle-b.md"]
    assert {hit.path for hit in asyncio.run(vault.related("cycle-a.md"))} >= {
        "cycle-b.md",
        "plain.md",
    }


def test_links_that_lead_out_lead_nowhere(vault):
    assert [edge.target for edge in asyncio.run(vault.links("escape.md")).forward] == [None] * 4


@pytest.mark.parametrize(
    "message",
    ["[[../outside]]", "[[/etc/passwd]]", "[[passwd]]", "[[outside-link]]", "[[fifo]]", "[[a\0b]]"],
)
def test_a_typed_link_cannot_reach_outside(vault, message):
    assert [one.path for one in asyncio.run(vault.references(message))] == [None]


def test_the_whole_vault_can_be_checked(vault):
    report = asyncio.run(vault.check_links())

    assert report.total > 100_000
    assert report.total == report.resolved + len(report.broken)
