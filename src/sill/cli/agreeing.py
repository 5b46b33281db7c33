"""From a proposal to files: shown hunk by hunk, agreed to, carried out, offered anew where files changed."""

import tempfile
from pathlib import Path

import click

from ..adapters.vault.apply import Outcome
from ..adapters.vault.job import Conflict
from ..app.edits import Edits, Offered
from ..core.clashes import decided
from ..core.proposal import Preview, tell_model
from ..core.rewrite import rewrite
from ..errors import UsageError
from .clashing import PROPOSED, decide
from .editor import open_editor
from .hunks import Choice, choose
from .screen import plain

MERGES = 3  # how often a change may be offered anew because files changed meanwhile
REWROTE = " The user rewrote some of them; the files say how."


async def agree(edits: Edits, offered: Offered) -> Outcome | None:
    """Ask for each hunk and carry out what is agreed to; None if nothing was to be written."""
    conflict: Conflict | None = None
    for _ in range(MERGES):
        click.echo(plain(offered.shown.proposal.explanation))
        outcome = await carry_out(edits, offered, choose(offered.shown, in_editor))
        if not isinstance(outcome, Conflict):
            return outcome or conflict
        conflict = outcome
        if outcome.merge is None:
            break
        changed = ", ".join(outcome.files)
        click.echo(f"sill: {plain(changed)} changed meanwhile; nothing was written", err=True)
        merged = decided(outcome.merge, decide(outcome.merge, PROPOSED, in_editor))
        if not merged.ops:
            break
        click.echo("sill: the same change to the files as they are now:", err=True)
        offered = await edits.offer(merged, of=offered.id)
    return conflict


async def carry_out(edits: Edits, offered: Offered, choice: Choice) -> Outcome | None:
    """Write what was chosen, in the user's words where there are any."""
    if not choice.rewritten:
        return await edits.apply(offered, choice.chosen)
    proposal = rewrite(offered.shown, choice.chosen, choice.rewritten)
    told = tell_model(offered.shown, choice.chosen) + REWROTE
    part = await edits.offer(proposal, of=offered.id, told=told)
    outcome = await edits.apply(part)
    await edits.store.decide_proposal(offered.id, "refused", edits.by)
    return outcome


def in_editor(text: str, name: str) -> str | None:
    """The text as the user left it in their editor; None if there is none, or it failed."""
    with tempfile.TemporaryDirectory(prefix="sill-") as folder:
        path = Path(folder) / Path(name).name
        path.write_bytes(text.encode())
        try:
            code = open_editor(path)
        except UsageError as error:
            click.echo(f"sill: {plain(str(error))}", err=True)
            return None
        return path.read_bytes().decode(errors="replace") if code == 0 else None


def warn_if_bent(shown: Preview) -> None:
    if shown.requires_confirmation:
        bent = ", ".join(filter(None, [f"fuzz {shown.fuzz}", f"moved by {shown.offset} lines"]))
        click.echo(f"sill: the patch did not fit exactly ({bent}); look twice", err=True)
