"""Proposals: looked at, taken in part, refused, merged on conflict, undone."""

from pathlib import Path
from typing import Any

import pytest

from .acts import ask
from .model import ScriptedServer
from .site import Site

pytestmark = pytest.mark.slow

LIST = "# List\n\nmilk\n\n" + "".join(f"line {n}\n" for n in range(12)) + "\nbread\n"
BETTER = LIST.replace("milk", "oat milk").replace("bread", "rye bread")


def replaces(path: str, anchor: str, content: str) -> dict[str, str]:
    return {
        "op": "replace",
        "target_file": path,
        "target": "anchor",
        "anchor": anchor,
        "content": content,
    }


def propose(page, site: Site, model: ScriptedServer, name: str) -> None:
    (site.vault / f"{name}.md").write_text(LIST)
    model.proposes(
        f"better {name}",
        "Two better things.",
        replaces(f"{name}.md", "milk", "oat milk"),
        replaces(f"{name}.md", "bread", "rye bread"),
    )
    ask(page, f"/edit make a better {name}: [[{name}]]")
    page.locator(".hunk").first.wait_for()


def test_one_hunk_is_taken_and_the_other_left(page, site: Site, model: ScriptedServer):
    propose(page, site, model, "Partial")
    assert page.locator(".hunk").count() == 2
    assert page.locator(".hunk mark").all_text_contents() == ["oat ", "rye "]

    page.get_by_role("checkbox", name="Take change 2 of Partial.md").uncheck()
    page.get_by_role("link", name="Partial.md").click()  # a look at the file forgets nothing
    page.get_by_role("tab", name="Changes").click()
    page.get_by_role("link", name="Partial.md").click()
    page.go_back()  # from the file, to the same proposal
    page.get_by_role("button", name="Apply 1 of 2").click()
    page.get_by_text("Applied to 1 file.").wait_for()

    assert (site.vault / "Partial.md").read_text() == LIST.replace("milk", "oat milk")


def test_side_by_side_shows_the_same_lines(page, site: Site, model: ScriptedServer):
    propose(page, site, model, "Beside")
    page.get_by_role("button", name="Side by side").click()
    page.locator("table.beside").first.wait_for()

    assert page.locator("table.beside td.removed").all_text_contents() == ["milk", "bread"]
    assert page.locator("table.beside td.added").all_text_contents() == ["oat milk", "rye bread"]
    page.get_by_role("button", name="Below each other").click()


def test_a_refused_proposal_writes_nothing(page, site: Site, model: ScriptedServer):
    propose(page, site, model, "Refused")
    page.get_by_role("button", name="Refuse", exact=True).click()
    page.get_by_text("Refused: nothing of it was written.").wait_for()

    assert (site.vault / "Refused.md").read_text() == LIST


def test_a_change_that_fits_the_file_as_it_is_now_is_offered_merged(
    page, site: Site, model: ScriptedServer
):
    propose(page, site, model, "Moved")
    note = site.vault / "Moved.md"
    note.write_text(f"above\n\n{LIST}")

    page.get_by_role("button", name="Apply", exact=True).click()
    page.get_by_role("button", name="Look at the merged change").click()
    page.get_by_role("button", name="Apply", exact=True).click()
    page.get_by_text("Applied to 1 file.").wait_for()

    assert note.read_text() == f"above\n\n{BETTER}"


def conflict(page, site: Site, model: ScriptedServer, name: str, now: str) -> Path:
    """A proposal that was applied after its file had changed to ``now``."""
    propose(page, site, model, name)
    note = site.vault / f"{name}.md"
    note.write_text(now)
    page.get_by_role("button", name="Apply", exact=True).click()
    page.get_by_text("Nothing was written").wait_for()
    clash(page).wait_for()
    assert note.read_text() == now
    return note


def clash(page, number: int = 0) -> Any:
    return page.get_by_role("region", name="Merge", exact=True).locator("fieldset").nth(number)


def result(page) -> Any:
    return page.get_by_role("region", name="Result").and_(page.locator("[aria-busy=false]"))


WHITE = LIST.replace("bread", "white bread")


@pytest.mark.parametrize(
    "choice, bread",
    [
        pytest.param("Keep the file", "white bread\n", id="the file"),
        pytest.param("Take the proposal", "rye bread\n", id="the proposal"),
        pytest.param("Both, one after the other", "white bread\nrye bread\n", id="both"),
    ],
)
def test_a_clash_becomes_what_was_chosen_and_the_rest_is_merged(
    page, site: Site, model: ScriptedServer, choice: str, bread: str
):
    name = f"Clash{choice.split()[0]}"
    note = conflict(page, site, model, name, WHITE)
    sides = clash(page).locator(".side")
    assert [side.strip() for side in sides.locator("pre").all_text_contents()] == [
        "bread",
        "white bread",
        "rye bread",
    ]
    applies = page.get_by_role("button", name="Apply the result")
    assert applies.is_disabled()

    clash(page).get_by_role("radio", name=choice).check()
    page.get_by_text("All decided.").wait_for()
    result(page).locator(".hunk", has_text="oat milk").wait_for()
    assert note.read_text() == WHITE
    applies.click()
    page.get_by_text("Applied to 1 file.").wait_for()

    assert note.read_text() == LIST.replace("milk", "oat milk").replace("bread\n", bread)


def test_a_clash_is_settled_by_hand_and_undone(page, site: Site, model: ScriptedServer):
    note = conflict(page, site, model, "ByHand", WHITE)
    clash(page).get_by_role("radio", name="Keep the file").check()
    clash(page).get_by_role("radio", name="By hand").check()
    written = clash(page).get_by_role("textbox")
    assert written.input_value() == "white bread"

    written.fill("white bread\nand rye bread")
    result(page).locator("tr.added", has_text="and rye bread").wait_for()
    page.get_by_role("button", name="Apply the result").click()
    page.get_by_text("Applied to 1 file.").wait_for()
    settled = LIST.replace("milk", "oat milk").replace("bread", "white bread\nand rye bread")
    assert note.read_text() == settled

    page.get_by_role("button", name="Undo", exact=True).click()
    page.get_by_text("Undone.", exact=True).wait_for()
    assert note.read_text() == WHITE


def test_a_file_that_changes_again_is_not_overwritten_and_what_was_decided_stays(
    page, site: Site, model: ScriptedServer
):
    note = conflict(page, site, model, "Again", LIST.replace("bread", "white bread"))
    clash(page).get_by_role("radio", name="Take the proposal").check()
    page.get_by_text("All decided.").wait_for()
    result(page).wait_for()
    again = WHITE.replace("line 3", "line three")
    note.write_text(again)

    page.get_by_role("button", name="Apply the result").click()
    page.get_by_text("a file changed again").wait_for()
    assert note.read_text() == again
    result(page).wait_for()
    assert clash(page).get_by_role("radio", name="Take the proposal").is_checked()
    page.get_by_role("button", name="Apply the result").click()
    page.get_by_text("Applied to 1 file.").wait_for()

    assert note.read_text() == BETTER.replace("line 3", "line three")


def test_several_clashes_outlive_a_reload_and_are_decided_at_once(
    page, site: Site, model: ScriptedServer
):
    both = WHITE.replace("milk", "cream")
    note = conflict(page, site, model, "Several", both)
    page.reload()
    page.get_by_text("0 of 2 decided").wait_for()

    page.get_by_role("button", name="Keep the file everywhere").click()
    page.get_by_text("Nothing changes: the file stays as it is.").wait_for()
    assert page.get_by_role("button", name="Apply the result").is_disabled()
    page.get_by_role("button", name="Take the proposal everywhere").click()
    result(page).locator(".hunk").nth(1).wait_for()
    page.get_by_role("button", name="Apply the result").click()
    page.get_by_text("Applied to 1 file.").wait_for()

    assert note.read_text() == BETTER


def test_a_part_that_clashes_is_decided_as_that_part(page, site: Site, model: ScriptedServer):
    propose(page, site, model, "PartClash")
    note = site.vault / "PartClash.md"
    note.write_text(WHITE)
    page.get_by_role("checkbox", name="Take change 1 of PartClash.md").uncheck()
    page.get_by_role("button", name="Apply 1 of 2").click()
    page.get_by_text("0 of 1 decided").wait_for()
    clash(page).get_by_role("radio", name="Take the proposal").check()
    result(page).locator(".hunk").wait_for()
    page.get_by_role("button", name="Apply the result").click()
    page.get_by_text("Applied to 1 file.").wait_for()

    assert note.read_text() == LIST.replace("bread", "rye bread")


def test_a_file_that_is_gone_is_made_again_only_if_that_is_chosen(
    page, site: Site, model: ScriptedServer
):
    propose(page, site, model, "Gone")
    note = site.vault / "Gone.md"
    note.unlink()
    page.get_by_role("button", name="Apply", exact=True).click()
    clash(page).get_by_text("There is no such file.").wait_for()
    assert clash(page).get_by_role("radio").count() == 3
    clash(page).get_by_role("radio", name="Take the proposal").check()
    result(page).locator(".hunk").wait_for()
    page.get_by_role("button", name="Apply the result").click()
    page.get_by_text("Applied to 1 file.").wait_for()

    assert note.read_text() == BETTER


def test_an_applied_change_is_undone_and_done_again(page, site: Site, model: ScriptedServer):
    propose(page, site, model, "Undone")
    note = site.vault / "Undone.md"
    page.get_by_role("button", name="Apply", exact=True).click()
    page.get_by_text("Applied to 1 file.").wait_for()
    assert note.read_text() == BETTER

    page.get_by_role("button", name="All changes").click()
    history = page.get_by_role("region", name="History")
    row = history.get_by_role("listitem").filter(has_text="Undone.md")
    row.get_by_role("button", name="Undo: Two better things.").click()
    page.get_by_text("Undone.", exact=True).wait_for()
    assert note.read_text() == LIST

    row.get_by_role("button", name="Redo: Two better things.").click()
    page.get_by_text("Done again.").wait_for()
    assert note.read_text() == BETTER


def applied(page, site: Site, model: ScriptedServer, name: str) -> Path:
    propose(page, site, model, name)
    page.get_by_role("button", name="Apply", exact=True).click()
    page.get_by_text("Applied to 1 file.").wait_for()
    return site.vault / f"{name}.md"


def in_history(page, name: str) -> Any:
    page.get_by_role("button", name="All changes").click()
    history = page.get_by_role("region", name="History")
    return history.get_by_role("listitem").filter(has_text=f"{name}.md")


LATER = BETTER.replace("rye bread", "rye bread with seeds")  # written after the change


@pytest.mark.parametrize(
    "choice, bread",
    [
        pytest.param("Keep the file", "rye bread with seeds\n", id="the file"),
        pytest.param("Undo it here", "bread\n", id="the undo"),
        pytest.param("Both, one after the other", "rye bread with seeds\nbread\n", id="both"),
    ],
)
def test_an_undo_that_clashes_is_decided_and_done_again_exactly(
    page, site: Site, model: ScriptedServer, choice: str, bread: str
):
    name = f"Back{choice.split()[0]}"
    note = applied(page, site, model, name)
    note.write_text(LATER)
    in_history(page, name).get_by_role("button", name="Undo: Two better things.").click()
    page.get_by_text("Nothing was written").wait_for()
    sides = clash(page).locator(".side")
    assert [side.strip() for side in sides.locator("pre").all_text_contents()] == [
        "rye bread",
        "rye bread with seeds",
        "bread",
    ]

    clash(page).get_by_role("radio", name=choice).check()
    page.get_by_text("All decided.").wait_for()
    result(page).locator(".hunk", has_text="oat milk").wait_for()
    assert note.read_text() == LATER
    page.get_by_role("button", name="Apply the result").click()
    page.get_by_text("Undone.", exact=True).wait_for()
    assert note.read_text() == LIST.removesuffix("bread\n") + bread

    page.get_by_role("region", name="History").get_by_role("listitem").filter(
        has_text=f"{name}.md"
    ).get_by_role("button", name="Redo: Two better things.").click()
    page.get_by_text("Done again.").wait_for()
    assert note.read_text() == LATER


def test_an_undo_right_after_the_change_is_decided_in_the_same_place(
    page, site: Site, model: ScriptedServer
):
    note = applied(page, site, model, "AtOnce")
    note.write_text(LATER)
    page.get_by_role("button", name="Undo", exact=True).click()
    clash(page).get_by_role("radio", name="By hand").check()
    clash(page).get_by_role("textbox").fill("bread with seeds")
    result(page).locator(".hunk", has_text="bread with seeds").nth(0).wait_for()
    page.get_by_role("button", name="Apply the result").click()
    page.get_by_text("Undone.", exact=True).wait_for()

    assert note.read_text() == LIST.replace("bread", "bread with seeds")


def test_a_redo_that_clashes_can_be_left_and_decided_later(page, site: Site, model: ScriptedServer):
    note = applied(page, site, model, "Later")
    row = in_history(page, "Later")
    row.get_by_role("button", name="Undo: Two better things.").click()
    page.get_by_text("Undone.", exact=True).wait_for()
    note.write_text(WHITE)

    row.get_by_role("button", name="Redo: Two better things.").click()
    clash(page).wait_for()
    page.get_by_role("button", name="Cancel").click()
    page.get_by_text("Nothing was written.").wait_for()
    assert note.read_text() == WHITE

    row.get_by_role("button", name="Redo: Two better things.").click()
    clash(page).get_by_role("radio", name="Redo it here").check()
    page.get_by_text("All decided.").wait_for()
    page.get_by_role("button", name="Apply the result").click()
    page.get_by_text("Done again.").wait_for()
    assert note.read_text() == BETTER


def test_an_undo_beside_another_change_keeps_that(page, site: Site, model: ScriptedServer):
    note = applied(page, site, model, "Apart")
    note.write_text(BETTER.replace("line 5", "line five"))
    in_history(page, "Apart").get_by_role("button", name="Undo: Two better things.").click()
    page.get_by_text("Everything fits it as it is now.").wait_for()
    page.get_by_role("button", name="Apply the result").click()
    page.get_by_text("Undone.", exact=True).wait_for()

    assert note.read_text() == LIST.replace("line 5", "line five")


def test_what_was_decided_of_a_clash_outlives_a_look_at_the_file(
    page, site: Site, model: ScriptedServer
):
    note = conflict(page, site, model, "Looked", WHITE)
    clash(page).get_by_role("radio", name="By hand").check()
    clash(page).get_by_role("textbox").fill("black bread, as I like it")
    clash(page).get_by_role("button", name="Looked.md, line").click()
    page.get_by_role("tab", name="Changes").click()
    assert clash(page).get_by_role("textbox").input_value() == "black bread, as I like it"

    page.get_by_text("All decided.").wait_for()
    page.get_by_role("button", name="Apply the result").click()
    page.get_by_text("Applied to 1 file.").wait_for()
    assert note.read_text() == BETTER.replace("rye bread", "black bread, as I like it")
