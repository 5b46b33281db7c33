"""A document that does not say what it is about is summed up by the model, once, and in the ledger."""

import asyncio

from sill.adapters.vault.index import DiskVault
from sill.app.summaries import write_summaries
from tests.models.fault_provider import FaultProvider

from .workspace import endpoint, says


def test_the_model_sums_up_only_what_does_not_speak_for_itself(workspace, tmp_path):
    root = tmp_path / "vault"
    root.mkdir()
    (root / "front.md").write_text("---\nsummary: from the front matter\n---\ntext\n")
    (root / "prose.md").write_text("# Title\n\nThe first paragraph.\n")
    (root / "code.py").write_text("def bake(): ...\n")

    async def summaries(vault):
        return [await vault.summary(name) for name in ("front.md", "prose.md", "code.py")]

    async def run(provider):
        vault = DiskVault(root, tmp_path / "index.sqlite")
        await vault.refresh()
        before = await summaries(vault)
        async with workspace.open(endpoint(provider)) as app:
            counts = [await write_summaries(app, vault)]
            (root / "code.py").rename(root / "moved.py")
            (root / "copy.py").write_text("def bake(): ...\n")
            await vault.refresh()
            counts.append(await write_summaries(app, vault))  # the same text is not summed up again
            booked = [one.attempt.category for one in await app.store.attempts()]
        after = [await vault.summary(name) for name in ("front.md", "moved.py", "copy.py")]
        await vault.close()
        return before, counts, after, booked

    with FaultProvider(says("It *bakes* ", "bread.", prompt=20)) as provider:
        before, counts, after, booked = asyncio.run(run(provider))

        assert before == ["from the front matter", "The first paragraph.", ""]
        assert counts == [1, 0]
        assert after == ["from the front matter", "It bakes bread.", "It bakes bread."]
        assert booked == ["summarize"]
        assert len(provider.seen) == 1
