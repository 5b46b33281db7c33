"""Three states of a text into one: what they changed, put onto what I changed, where the two do not touch."""

from collections.abc import Sequence
from dataclasses import dataclass

from .diff import Cut, Region, regions
from .lines import whole_lines


@dataclass(frozen=True, slots=True)
class Clash:
    """Both sides changed the same lines, differently. ``line`` counts from 1 in my text."""

    line: int
    base: str
    mine: str
    theirs: str


@dataclass(frozen=True, slots=True)
class Merged:
    """``cuts`` of my text bring in what does not clash; without clashes the merge is whole."""

    cuts: tuple[Cut, ...]
    clashes: tuple[Clash, ...]


def merge(base: str, mine: str, theirs: str) -> Merged:
    """Their changes to ``base`` as changes to ``mine``. Changes that touch clash unless they are the same."""
    base_lines, my_lines, their_lines = map(whole_lines, (base, mine, theirs))
    my_regions = regions(base_lines, my_lines)
    cuts: list[Cut] = []
    clashes: list[Clash] = []
    for mixed in _groups(my_regions, regions(base_lines, their_lines)):
        first, last = mixed.base
        my_start, my_end = _mapped(my_regions, first, last)
        base_text = "".join(base_lines[first:last])
        my_text = "".join(my_lines[my_start:my_end])
        their_text = "".join(_side(their_lines, base_lines, mixed.theirs, first, last))
        if their_text == my_text:
            continue
        if mixed.mine:
            clashes.append(Clash(my_start + 1, base_text, my_text, their_text))
            continue
        start = sum(map(len, my_lines[:my_start]))
        cuts.append(Cut(start, start + len(my_text), their_text))
    return Merged(tuple(cuts), tuple(clashes))


@dataclass(slots=True)
class _Group:
    """Regions of either side that touch in the base."""

    base: tuple[int, int]
    mine: list[Region]
    theirs: list[Region]


def _groups(mine: Sequence[Region], theirs: Sequence[Region]) -> list[_Group]:
    """Their regions, each with those of mine it touches, grown until nothing more touches."""
    marked = [(region, True) for region in mine] + [(region, False) for region in theirs]
    marked.sort(key=lambda one: (one[0].old_start, one[0].old_end))
    groups: list[_Group] = []
    for region, is_mine in marked:
        if not groups or region.old_start > groups[-1].base[1]:
            groups.append(_Group((region.old_start, region.old_end), [], []))
        group = groups[-1]
        group.base = (group.base[0], max(group.base[1], region.old_end))
        (group.mine if is_mine else group.theirs).append(region)
    return [group for group in groups if group.theirs]


def _mapped(mine: Sequence[Region], first: int, last: int) -> tuple[int, int]:
    """Where base lines ``first`` to ``last``, which cut no region of mine in two, stand in my text."""
    before = sum(_growth(region) for region in mine if region.old_end < first)
    inside = sum(
        _growth(region) for region in mine if region.old_start >= first and region.old_end <= last
    )
    # A region of mine that ends just where this one starts is in the same group, hence inside.
    return first + before, last + before + inside


def _growth(region: Region) -> int:
    return (region.new_end - region.new_start) - (region.old_end - region.old_start)


def _side(
    lines: Sequence[str], base: Sequence[str], changed: Sequence[Region], first: int, last: int
) -> list[str]:
    """Base lines ``first`` to ``last`` as this side has them."""
    result: list[str] = []
    at = first
    for region in changed:
        result += base[at : region.old_start]
        result += lines[region.new_start : region.new_end]
        at = region.old_end
    return result + list(base[at:last])
