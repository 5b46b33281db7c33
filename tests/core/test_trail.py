"""The file trail: read off messages and references, fitted into a room."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sill.core.messages import FileDelta, FileNotice, FileStamp, FileState, Message, fingerprint
from sill.core.trail import Step, Touch, by_folder, fitted, touches, trail

ONE, TWO = fingerprint("one"), fingerprint("two")


def hidden(carries) -> Message:
    return Message("assistant", "…", carries)


@pytest.mark.parametrize(
    "messages, references, expected",
    [
        pytest.param([hidden(FileState(FileStamp("a", ONE)))], "", [Touch("a", "sent", 7, ONE)], id="sent"),
        pytest.param(
            [hidden(FileDelta(FileStamp("a", TWO), ONE))], "", [Touch("a", "sent", 7, TWO)], id="a delta"
        ),
        pytest.param(
            [hidden(FileNotice("a", "renamed", None, "b"))],
            "",
            [Touch("a", "renamed", 7), Touch("b", "named", 7, was="a")],
            id="renamed",
        ),
        pytest.param([hidden(FileNotice("a", "deleted"))], "", [Touch("a", "deleted", 7)], id="deleted"),
        pytest.param(
            [hidden(FileNotice("a", "omitted", ONE))], "", [Touch("a", "named", 7, ONE)], id="named only"
        ),
        pytest.param(
            [Message("user", "?")],
            f'[{{"path": "a", "origin": "read", "fingerprint": "{ONE}"}}, {{"path": "b", "origin": "file"}}]',
            [Touch("a", "read", 7, ONE)],
            id="read by a tool",
        ),
        pytest.param([], '["old form"]', [], id="references of another form say nothing"),
        pytest.param([], '{"path": "a", "origin": "read"}', [], id="nor does what is no list"),
        pytest.param(
            [], '[3, {"path": "a", "origin": "read", "fingerprint": 5}]', [Touch("a", "read", 7)], id="a state nobody knows"
        ),
        pytest.param(
            [hidden(FileNotice("a", "restored", ONE))], "", [Touch("a", "sent", 7, ONE)], id="back in an earlier state"
        ),
        pytest.param(
            [hidden(FileState(FileStamp("c", ONE))), Message("user", "?"), hidden(FileNotice("a", "renamed", None, "b"))],
            "",
            [Touch("c", "sent", 7, ONE), Touch("a", "renamed", 7), Touch("b", "named", 7, was="a")],
            id="several",
        ),
    ],
)  # fmt: skip
def test_what_a_turn_did_with_files(messages, references, expected):
    assert touches(7, messages, references) == expected
    assert references or touches(7, messages) == expected


def test_each_file_is_one_step_with_its_last_state_and_changed_ones_come_first():
    found = [
        Touch("a", "sent", 1, ONE),
        Touch("b", "changed", 2, ONE),
        Touch("a", "read", 5),
        Touch("a", "sent", 4, TWO),
        Touch("c", "deleted", 9),
    ]

    assert trail(found) == (
        Step("b", (("changed", 2),), ONE),
        Step("c", (("deleted", 9),), None),
        Step("a", (("sent", 4), ("read", 5)), TWO),
    )
    assert trail(found)[2].line == f"a {TWO[7:19]} sent 4, read 5"


def test_a_renamed_file_takes_its_state_along_in_the_order_of_turns():
    found = [
        Touch("a", "sent", 1, ONE),
        Touch("a", "renamed", 5),
        Touch("b", "named", 5, was="a"),
        Touch("a", "changed", 3, TWO),
    ]

    assert [step.line for step in trail(found)] == [
        f"a {TWO[7:19]} sent 1, changed 3, renamed 5",
        f"b {TWO[7:19]} named 5, was a",
    ]


@pytest.mark.parametrize(
    "room, expected",
    [
        pytest.param(
            100, f"d/a {ONE[7:19]} sent 3\nd/b {ONE[7:19]} sent 2\nc {ONE[7:19]} sent 1", id="all"
        ),
        pytest.param(20, f"d/a {ONE[7:19]} sent 3\nd/: b\nc", id="names where lines do not fit"),
        pytest.param(2, "d/: a\nand 2 more", id="a number where names do not fit"),
        pytest.param(0, "and 3 more", id="nothing fits"),
    ],
)
def test_a_trail_is_fitted_by_saying_less_of_the_older_files(room, expected):
    steps = trail(
        [Touch("d/a", "sent", 3, ONE), Touch("d/b", "sent", 2, ONE), Touch("c", "sent", 1, ONE)]
    )

    assert fitted(steps, [12, 12, 12], room) == expected


@pytest.mark.parametrize(
    "room, expected",
    [
        pytest.param(29, [2, 0], id="two lines"),
        pytest.param(28, [1, 1], id="one line, one name"),
        pytest.param(19, [1, 1], id="just so"),
        pytest.param(18, [0, 2], id="names alone"),
        pytest.param(15, [0, 2], id="just both"),
        pytest.param(14, [0, 1], id="one name"),
        pytest.param(4, [0, 1], id="just that"),
        pytest.param(3, [0, 0], id="nothing"),
    ],
)
def test_a_line_is_written_only_if_the_other_names_still_fit(room, expected):
    # The path is 10 of a line's 21 characters: of 8 and 21 tokens the names take 4 and 11.
    paths = ("f/" + "a" * 8, "f/" + "b" * 8)
    steps = [Step(path, (("read", 123),)) for path in paths]
    assert [len(step.line) for step in steps] == [21, 21]

    text = fitted(steps, [8, 21], room)

    names = text.split("f/: ")[-1] if "f/: " in text else ""
    assert [text.count("read"), names.count("aaaa") // 2 + names.count("bbbb") // 2] == expected


def test_names_stand_by_folder():
    assert by_folder(["a", "x/b", "c", "x/d e", "y/z/f"]) == ["a, c", "x/: b, d e", "y/z/: f"]


def test_a_deed_of_the_first_turn_is_of_the_first_turn():
    found = [Touch("a", "read", 0), Touch("a", "sent", 3), Touch("a", "sent", 2)]

    assert trail(found) == (Step("a", (("sent", 3), ("read", 0))),)


@given(
    st.lists(st.sampled_from(["a", "x/b", "x/c", "y/d", "e f"]), unique=True), st.integers(0, 200)
)
def test_no_file_is_forgotten_without_being_counted(paths, room):
    steps = trail([Touch(path, "read", n, ONE) for n, path in enumerate(paths, 1)])
    text = fitted(steps, [15] * len(steps), room)
    over = int(text.rpartition("and ")[2].partition(" ")[0]) if " more" in text else 0
    named = [
        path
        for path in paths
        if path.rpartition("/")[2] in text.replace("and ", "").replace(" read ", " ")
    ]

    assert len(named) + over >= len(paths)
