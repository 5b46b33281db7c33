"""A chat as a tree of turns: which way leads to a turn, and which turns stand beside each other."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Node:
    """One turn in the tree.

    ``siblings`` are the turns that continue the same one, itself among them, oldest first. ``on_path``: the
    chat, as it stands now, leads through it.
    """

    id: str
    parent: str | None
    siblings: tuple[str, ...]
    depth: int
    on_path: bool


def tree(parents: Mapping[str, str | None], head: str | None) -> tuple[Node, ...]:
    """The nodes in the order of ``parents``, which is the order in which the turns were begun."""
    beside: dict[str | None, list[str]] = {}
    depths: dict[str | None, int] = {None: -1}
    for id, parent in parents.items():
        beside.setdefault(parent, []).append(id)
        depths[id] = depths.get(parent, -1) + 1
    path = set(way_to(parents, head))
    return tuple(
        Node(id, parent, tuple(beside[parent]), depths[id], id in path)
        for id, parent in parents.items()
    )


def way_to(parents: Mapping[str, str | None], turn: str | None) -> list[str]:
    """The turns that lead to this one, itself last."""
    way: list[str] = []
    while turn is not None and turn in parents:
        way.append(turn)
        turn = parents[turn]
    return way[::-1]


def latest_after(parents: Mapping[str, str | None], turn: str, usable: Sequence[str]) -> str:
    """Where the branch through ``turn`` ends: of its usable descendants without usable ones after them the
    one begun last, or the turn itself."""
    may = set(usable)
    through = {turn}
    for id, parent in parents.items():  # parents come before their children
        if parent in through and id in may:
            through.add(id)
    return [id for id in parents if id in through][-1]
