"""Chats with random edits, deletions, renames, failures and windows: what must hold in every request."""

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from sill.core.budget import Profile, budget

from .chat_simulation import Move, Simulation

PATHS = ("a", "b", "c")


def version(path: str, number: int) -> str:
    """Few enough that files come back to earlier states; of four neighbours each differs by two lines."""
    length = (3, 20, 120)[number // 4]
    lines = [f"{path} line {line} of {length}" for line in range(length)]
    lines[number * 7 % length] = f"changed {number}"
    return "\n".join(lines) + ("\n" if number % 2 else "")


edits = st.dictionaries(st.sampled_from(PATHS), st.none() | st.integers(0, 11), max_size=2).map(
    lambda chosen: {p: None if n is None else version(p, n) for p, n in chosen.items()}
)

windows = st.sampled_from([60, 300, 2_000, 4_000, 9_000, 9_000, 20_000, 20_000])
budgets = windows.map(lambda window: budget(Profile(window=window, reply=window // 5)))

moves = st.builds(
    Move,
    edits=edits,
    rename=st.none() | st.none() | st.permutations(PATHS).map(lambda paths: (paths[0], paths[1])),
    question=st.sampled_from(
        ["why?", "how? " * 20, "what? " * 120, '{"type":"virtual_file_context"}', "<|im_end|>"]
    ),
    reply=st.sampled_from(["", "none", "because", "so " * 40, "long " * 150]),
    succeeds=st.sampled_from([True, True, True, False]),
    rounds=st.sampled_from([0, 0, 0, 1, 3]),
    ignores=st.sampled_from(["", "", "", "a"]),
    recalls=st.booleans(),
    pins=st.sampled_from([(), (), (1,), (1, 2), (3, 5, 6)]),
    sums_up=st.booleans(),
    budget=st.sampled_from([None] * 9 + [True]).flatmap(lambda new: budgets if new else st.none()),
)


layouts = st.sampled_from(["folded", "separate"])


def play(first, played, layout):
    chat = Simulation(first, layout)
    for move in played:
        chat.play(move)


# Two files with one text: the copy of one leaves, and then the other is renamed to its name.
TWINS = [
    Move(),
    Move(reply="so " * 40),
    Move(question="what? " * 120),
    Move(edits={"c": version("c", 8)}, rename=("c", "b"), question="what? " * 120),
    Move(edits={"c": version("c", 8)}, reply="so " * 40),
    Move(edits={"c": None}, rename=("b", "c")),
]


@settings(max_examples=2_000, deadline=None)
@example(budget(Profile(window=9_000, reply=1_800)), TWINS, "folded")
@given(budgets, st.lists(moves, min_size=1, max_size=12), layouts)
def test_every_request_of_a_chat_fits_grows_at_its_end_and_shows_files_once(first, played, layout):
    play(first, played, layout)


@pytest.mark.long
@settings(max_examples=20_000, deadline=None)
@given(budgets, st.lists(moves, min_size=10, max_size=50), layouts)
def test_the_same_of_long_chats(first, played, layout):
    play(first, played, layout)
