import pytest
from hypothesis import given
from hypothesis import strategies as st

from sill.core.edits import Change, Edited, Rejected, Scope
from sill.core.merge import Clash
from sill.core.messages import fingerprint
from sill.core.ops import Anchor, Delete, Insert, Patch, Problem, Replace, Selected, Span, Whole
from sill.core.proposal import (
    Proposal,
    accept,
    base_fingerprints,
    from_json,
    patch_id,
    preview,
    propose,
    rebase,
    tell_model,
    to_json,
)

TEXT = "".join(f"{n}\n" for n in range(40))
SCOPE = Scope({"a.md": TEXT, "b.md": "b\n", "new.md": None, "rest.md": ""}, "a.md", Span(0, 2))
OPS = (
    Replace("a.md", Selected(), "zero"),
    Replace("a.md", Anchor("30\n"), "thirty\n"),
    Delete("b.md", Whole()),
    Insert("new.md", Whole(), "new\n"),
)


@pytest.fixture
def proposal():
    return propose("why", OPS, SCOPE)


def test_a_proposal_keeps_the_documents_it_touches(proposal):
    assert proposal == Proposal(
        "why", OPS, {"a.md": TEXT, "b.md": "b\n", "new.md": None}, "a.md", Span(0, 2)
    )
    assert proposal.base_fingerprints == {
        "a.md": fingerprint(TEXT),
        "b.md": fingerprint("b\n"),
        "new.md": None,
    }


def test_a_fingerprint_is_over_the_exact_text_and_none_where_there_is_no_file():
    assert base_fingerprints({"x": "", "y": None}) == {
        "x": "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
        "y": None,
    }


def test_ops_that_cannot_be_applied_make_no_proposal():
    assert propose("", [Delete("new.md", Whole())], SCOPE) == Rejected(
        (Problem(0, "new.md", "no such document"),)
    )


def test_a_preview_shows_each_file_in_hunks(proposal):
    shown = preview(proposal)

    assert [(file.path, [hunk.header for hunk in file.hunks]) for file in shown.files] == [
        ("a.md", ["@@ -1,4 +1,4 @@", "@@ -28,7 +28,7 @@"]),
        ("b.md", ["@@ -1,1 +0,0 @@"]),
        ("new.md", ["@@ -0,0 +1,1 @@"]),
    ]


def test_chosen_hunks_are_a_new_proposal(proposal):
    shown = preview(proposal)
    chosen = accept(shown, {"a.md": {1}, "new.md": {0}})

    assert chosen == Proposal(
        "why",
        (Replace("a.md", Span(80, 83), "thirty\n"), Replace("new.md", Whole(), "new\n")),
        {"a.md": TEXT, "new.md": None},
    )
    assert {file.path: file.change for file in preview(chosen).files} == {
        "a.md": Change(TEXT, TEXT.replace("30\n", "thirty\n")),
        "new.md": Change(None, "new\n"),
    }
    assert preview(chosen).patch_id != shown.patch_id


def test_accepting_everything_gives_the_same_files(proposal):
    shown = preview(proposal)
    everything = {file.path: {hunk.number for hunk in file.hunks} for file in shown.files}

    assert [f.change for f in preview(accept(shown, everything)).files] == [
        f.change for f in shown.files
    ]


def test_the_model_is_told_what_became_of_its_edits(proposal):
    shown = preview(proposal)

    assert tell_model(shown, {"a.md": [1], "b.md": [0]}) == (
        "Of your proposed edits. Applied: a.md lines 28-34; b.md (file deleted). "
        "Refused by the user: a.md lines 1-4; new.md (new file)."
    )


@pytest.mark.parametrize(
    "other",
    [
        pytest.param(Proposal("why", OPS[1:2], {"a.md": TEXT}), id="other ops"),
        pytest.param(Proposal("why", OPS[3:4], {"new.md": ""}), id="other base"),
    ],
)
def test_another_proposal_has_another_id(other):
    one = preview(Proposal("why", OPS[3:4], {"new.md": None}))
    two = preview(other)

    assert (one.base_hash, one.patch_id) != (two.base_hash, two.patch_id)


def test_another_outcome_of_the_same_ops_has_another_id(proposal):
    """Should the ladder ever place a patch differently, an old approval is not for that."""
    one, two = (Edited({"new.md": Change(None, text)}) for text in ("new\n", "other\n"))

    assert patch_id(proposal, one) != patch_id(proposal, two)


def test_the_explanation_does_not_change_what_is_approved():
    one, two = (preview(Proposal(why, OPS[3:4], {"new.md": None})) for why in ("one", "two"))

    assert (one.base_hash, one.patch_id) == (two.base_hash, two.patch_id)


def test_a_patch_that_had_to_be_bent_wants_a_second_look():
    scope = Scope({"a.md": TEXT})
    bent = preview(propose("", [Patch("a.md", ("@@ -1,1 +1,1 @@", "-30", "+x"))], scope))

    assert (bent.fuzz, bent.offset, bent.normalizations, bent.requires_confirmation) == (
        0,
        30,
        (),
        True,
    )


def test_a_proposal_survives_storage(proposal):
    assert from_json(to_json(proposal)) == proposal


@pytest.mark.parametrize(
    "change, message",
    [
        pytest.param(("40", "41"), None, id="nothing changed"),
        pytest.param(('"version":1', '"version":9'), "version", id="another version"),
        pytest.param(("b\\n", "c\\n"), "fingerprints", id="another base"),
        pytest.param(('"delete"', '"destroy"'), "unknown op", id="another op"),
    ],
)
def test_a_stored_proposal_that_was_changed_is_refused(proposal, change, message):
    stored = to_json(proposal).replace(*change)
    if message is None:
        assert from_json(stored) == proposal
    else:
        with pytest.raises(ValueError, match=message):
            from_json(stored)


def test_a_proposal_is_made_anew_for_files_that_changed():
    changes = {
        "a.md": Change("1\n2\n3\n4\n5\n", "1\n2\n3\n4\nfive\n"),
        "clash.md": Change("1\n", "one\n"),
        "done.md": Change("x", "y"),
        "gone.md": Change("x", "y"),
        "new.md": Change(None, "mine"),
        "same.md": Change("x\n", None),
    }
    current = {
        "a.md": "0\n1\n2\n3\n4\n5\n",
        "clash.md": "uno\n",
        "done.md": "y",
        "gone.md": None,
        "new.md": "theirs",
        "same.md": "x\n",
    }
    offer = rebase("again", changes, current)

    assert offer.proposal == Proposal(
        "again",
        (Replace("a.md", Span(10, 12), "five\n"), Delete("same.md", Whole())),
        {"a.md": current["a.md"], "same.md": "x\n"},
    )
    assert offer.clashes == {
        "clash.md": (Clash(1, "1\n", "uno\n", "one\n"),),
        "gone.md": (Clash(1, "x", "", "y"),),
        "new.md": (Clash(1, "", "theirs", "mine"),),
    }


lines = st.lists(st.sampled_from(["a\n", "b\r\n", "\n", "c"]), max_size=30).map("".join)


@given(lines, lines, st.data())
def test_any_choice_of_hunks_can_be_taken(before, after, data):
    shown = preview(Proposal("", (Replace("x", Span(0, len(before)), after),), {"x": before}))
    numbers = [hunk.number for file in shown.files for hunk in file.hunks]
    taken = data.draw(st.sets(st.sampled_from(numbers)) if numbers else st.just(set()))
    rest = set(numbers) - taken
    half = preview(accept(shown, {"x": taken}))
    middle = half.files[0].change.after if half.files else before
    offer = rebase("", {"x": shown.files[0].change} if shown.files else {}, {"x": middle})

    assert all(hunk.number in taken or hunk.number in rest for f in half.files for hunk in f.hunks)
    whole = preview(offer.proposal)
    # Taking the rest afterwards, by merging, ends at the same text.
    if not offer.clashes:
        assert (whole.files[0].change.after if whole.files else middle) == after
