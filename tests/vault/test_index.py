"""The index on disk: fresh after every change, nothing embedded twice, repaired after anything."""

import asyncio
import os
import threading

import pytest

from sill.adapters.index.search import Signals
from sill.adapters.vault.index import DiskVault
from sill.core.rank import fit
from sill.testing import BagEmbedder
from tests.vault.conftest import HOMES


def run(work):
    return asyncio.run(work)


@pytest.fixture(autouse=True)
def at(databases):
    """Every test here holds wherever the index is kept."""
    PLACES["of"] = databases


PLACES = {}


@pytest.fixture
def folder(tmp_path):
    root = tmp_path / "vault"
    root.mkdir()
    (root / "a.md").write_text("# A\n\nalpha words\n")
    (root / "b.md").write_text("# B\n\nbeta words, see [[a]]\n")
    return root


def opened(folder, embedder=None, database="index"):
    return DiskVault(folder, PLACES["of"](database), embedder=embedder)


def found(vault, question, mode="text"):
    return [hit.path for hit in run(vault.search(question, 10, mode))]


@pytest.mark.parametrize(
    "change, question, before, after",
    [
        pytest.param(
            lambda root: (root / "a.md").write_text("# A\n\ngamma\n"), "gamma", [], ["a.md"], id="edited"
        ),
        pytest.param(
            lambda root: (root / "a.md").write_text("# A\n\ngamma\n"), "alpha", ["a.md"], [], id="the old text is gone"
        ),
        pytest.param(lambda root: (root / "c.md").write_text("gamma"), "gamma", [], ["c.md"], id="added"),
        pytest.param(lambda root: (root / "a.md").unlink(), "alpha", ["a.md"], [], id="removed"),
        pytest.param(
            lambda root: (root / "a.md").rename(root / "z.md"), "alpha", ["a.md"], ["z.md"], id="renamed"
        ),
        pytest.param(
            lambda root: (root / ".gitignore").write_text("a.md\n"), "alpha", ["a.md"], [], id="ignored from now on"
        ),
    ],
)  # fmt: skip
def test_every_change_is_seen_at_the_next_look(folder, change, question, before, after):
    vault = opened(folder)
    run(vault.refresh())
    assert found(vault, question) == before

    change(folder)
    run(vault.refresh())

    assert found(vault, question) == after
    run(vault.close())


def test_an_edit_that_keeps_size_and_time_is_seen_by_its_new_file(folder):
    # Editors write a new file and rename it: the inode changes even if nothing else does.
    vault = opened(folder)
    run(vault.refresh())
    old = (folder / "a.md").stat()
    (folder / "new").write_text("# A\n\nomega words\n")
    os.utime(folder / "new", ns=(old.st_atime_ns, old.st_mtime_ns))
    (folder / "new").rename(folder / "a.md")
    run(vault.refresh())

    assert found(vault, "omega") == ["a.md"]
    run(vault.close())


def test_two_processes_can_share_an_index(folder):
    first, second = opened(folder), opened(folder)
    run(first.refresh())
    (folder / "c.md").write_text("gamma [[b]]")
    run(second.refresh())

    assert found(first, "gamma") == ["c.md"]
    assert [edge.source for edge in run(first.links("b.md")).backward] == ["c.md"]
    run(first.close())
    run(second.close())


@pytest.mark.parametrize("databases", HOMES[:1], indirect=True)
@pytest.mark.parametrize(
    "damage",
    [
        pytest.param(
            lambda path: path.write_bytes(b"not a database at all" * 100), id="other bytes"
        ),
        pytest.param(lambda path: path.write_bytes(b""), id="empty"),
        pytest.param(lambda path: path.write_bytes(path.read_bytes()[:5000]), id="cut off"),
        pytest.param(lambda path: path.unlink(), id="gone"),
    ],
)
def test_a_damaged_index_is_made_again(folder, damage):
    vault = opened(folder)
    run(vault.refresh())
    run(vault.close())

    damage(folder.parent / "index.sqlite")
    again = opened(folder)
    run(again.refresh())

    assert found(again, "alpha") == ["a.md"]
    run(again.close())


class TestVectors:
    def embedded(self, folder, embedder):
        vault = opened(folder, embedder)
        run(vault.refresh())
        run(vault.embed_pending())
        return vault

    def test_meaning_finds_what_is_close(self, folder):
        vault = self.embedded(folder, BagEmbedder())

        assert found(vault, "# B beta", "semantic")[0] == "b.md"
        run(vault.close())

    def test_renaming_and_touching_embeds_nothing(self, folder):
        embedder = BagEmbedder()
        vault = self.embedded(folder, embedder)
        before = embedder.texts
        (folder / "a.md").rename(folder / "moved.md")
        os.utime(folder / "b.md")
        run(vault.refresh())

        assert run(vault.embed_pending()) == 0
        assert embedder.texts == before
        assert "moved.md" in found(vault, "alpha words", "semantic")
        run(vault.close())

    def test_only_what_changed_is_embedded(self, folder):
        vault = self.embedded(folder, BagEmbedder())
        (folder / "a.md").write_text("# A\n\nalpha words\n\n# New\n\nsection\n")
        run(vault.refresh())

        assert run(vault.embed_pending()) == 1
        run(vault.close())

    def test_another_embedder_starts_anew_and_the_first_is_not_forgotten(self, folder):
        run(self.embedded(folder, BagEmbedder()).close())
        other = opened(folder, BagEmbedder("other", 32))
        run(other.refresh())
        assert run(other.embed_pending()) == 2
        run(other.close())

        back = opened(folder, BagEmbedder())
        assert run(back.embed_pending()) == 0
        run(back.close())

    def test_removed_text_is_not_found_though_its_vector_is_kept(self, folder):
        vault = self.embedded(folder, BagEmbedder())
        (folder / "a.md").unlink()
        run(vault.refresh())

        assert found(vault, "alpha words", "semantic") == ["b.md"]
        run(vault.close())


@pytest.mark.parametrize(
    "question, expected",
    [
        pytest.param("words path:sub", ["sub/c.md"], id="by folder"),
        pytest.param("words file:a", ["a.md"], id="by name"),
        pytest.param("words tag:plant", ["sub/c.md"], id="by tag"),
        pytest.param("words tag:#plant/fern", ["sub/c.md"], id="by nested tag"),
        pytest.param("words tag:fern", [], id="not by the end of a tag"),
        pytest.param("words path:100%", [], id="a percent sign is a percent sign"),
    ],
)
def test_a_search_can_be_narrowed(folder, question, expected):
    (folder / "sub").mkdir()
    (folder / "sub/c.md").write_text("words about ferns #plant/fern\n")
    vault = opened(folder)
    run(vault.refresh())

    assert found(vault, question, "hybrid") == expected
    run(vault.close())


def test_links_bring_up_what_the_words_do_not(folder):
    (folder / "ship.md").write_text("The Marenko was repaired by [[Tolvik]].\n")
    (folder / "Tolvik.md").write_text("Its foreman is Anna.\n")
    vault = opened(folder)
    run(vault.refresh())

    with_links = [hit.path for hit in vault.index.search("who repaired the marenko", 9, Signals())]
    without = [
        hit.path for hit in vault.index.search("who repaired the marenko", 9, Signals(links=False))
    ]

    assert (with_links, without) == (["ship.md", "Tolvik.md"], ["ship.md"])
    run(vault.close())


def test_a_rare_word_is_a_condition_beside_a_very_common_one(folder):
    rows = [f"# n{n}\n\ncommonword" + (" rareword" if n < 12 else "") for n in range(3_100)]
    (folder / "many.md").write_text("\n\n".join(rows) + "\n\n# last\n\ncommonword onceword")
    vault = opened(folder)
    run(vault.refresh())

    def texts(question):
        return [hit.text for hit in run(vault.search(question, 100, "text"))]

    assert [len(texts(words)) for words in ("rareword", "commonword rareword", "commonword")] == [
        12,
        12,
        100,
    ]
    # One text is too little to stop at.
    assert (len(texts("commonword onceword")), "onceword" in texts("commonword onceword")[0]) == (
        100,
        True,
    )
    run(vault.close())


def test_a_hub_with_500_links_stays_within_the_budget(folder):
    (folder / "Hub.md").write_text("# Hub\n\n" + "\n".join(f"- [[n{n}]]" for n in range(500)))
    for number in range(500):
        (folder / f"n{number}.md").write_text(
            f"# n{number}\n\n" + f"Hub talk number {number}. " * 30
        )
    vault = opened(folder)
    run(vault.refresh())

    def tokens(hit):
        return len(hit.text) // 3

    context = run(vault.context("What does [[Hub]] say?", 4_000, tokens))

    assert 0 < sum(map(tokens, context)) <= 4_000
    assert context == fit(run(vault.search("What does [[Hub]] say?", 100)), tokens, 4_000)
    assert context[0].path == "Hub.md"
    run(vault.close())


def test_a_change_is_seen_while_the_vault_is_watched(folder):
    async def scenario():
        vault = opened(folder, BagEmbedder())
        seen = asyncio.Queue()
        vault.watch(seen.put_nowait)
        await asyncio.wait_for(seen.get(), 60)  # the first look
        (folder / "new.md").write_text("freshly written")
        while not await vault.search("freshly", 5, "text"):
            await asyncio.wait_for(seen.get(), 60)
        hits = await vault.search("freshly", 5, "text")
        await vault.close()
        return [hit.path for hit in hits]

    assert run(scenario()) == ["new.md"]


def test_a_look_that_is_given_up_stops_and_the_next_one_goes_on(folder):
    for number in range(1_500):
        (folder / f"{number}.md").write_text(f"note{number}")
    vault = opened(folder)
    seen = []

    async def given_up():
        loop, begun, goes_on = asyncio.get_running_loop(), asyncio.Event(), threading.Event()

        def progress(done, _):
            seen.append(done)
            loop.call_soon_threadsafe(begun.set)
            goes_on.wait()

        look = asyncio.create_task(vault.refresh(progress))
        await begun.wait()
        look.cancel()
        await asyncio.wait([look])
        goes_on.set()

    run(given_up())

    assert len(seen) == 1
    assert run(vault.refresh()) > 0
    assert (run(vault.status()).files, found(vault, "note1499")) == (1_502, ["1499.md"])
    run(vault.close())


@pytest.mark.parametrize(
    "change",
    [
        pytest.param(lambda root: (root / "b.md").write_text("see [[a]], [[c]]"), id="edited"),
        pytest.param(lambda root: (root / "c.md").write_text("see [[b]]"), id="added"),
        pytest.param(lambda root: (root / "a.md").unlink(), id="removed"),
        pytest.param(lambda root: (root / "a.md").rename(root / "c.md"), id="renamed"),
        pytest.param(lambda root: (root / "sub").mkdir() or (root / "a.md").rename(root / "sub/a.md"), id="moved"),
        pytest.param(lambda root: [(root / f"{n}.md").write_text("[[a]]") for n in range(1_200)], id="very many"),
    ],
)  # fmt: skip
def test_links_are_followed_through_every_change(folder, change):
    vault = opened(folder)
    run(vault.refresh())
    run(vault.links("a.md"))  # the names are known from here on

    change(folder)
    run(vault.refresh())

    fresh = opened(folder, database="fresh")
    run(fresh.refresh())
    paths = run(fresh.paths())
    assert run(vault.edges()) == run(fresh.edges())
    assert [run(vault.links(path)) for path in paths[:5]] == [
        run(fresh.links(path)) for path in paths[:5]
    ]
    run(vault.close())
    run(fresh.close())
