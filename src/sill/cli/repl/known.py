"""What the folder holds, for completion: looked at now and then, never waited for twice."""

import time
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

FRESH_S = 3.0
LOOKS_COST = 20  # a look that took a second is good for twenty
_MOST_READ = 2_000_000


@dataclass(frozen=True, slots=True)
class _Listing:
    folder: Path
    names: tuple[str, ...]
    good_until: float


_last: list[_Listing] = []


def file_names(folder: Path) -> tuple[str, ...]:
    """The text files of the folder, sorted; at most a few seconds old, more where looking takes long."""
    from ...adapters.vault.scan import scan

    begun = time.monotonic()
    if _last and _last[0].folder == folder and begun < _last[0].good_until:
        return _last[0].names
    names = tuple(sorted(e.path for e in scan(folder).entries if e.kind != "attachment"))
    ended = time.monotonic()
    _last[:] = [_Listing(folder, names, ended + max(FRESH_S, LOOKS_COST * (ended - begun)))]
    return names


def note_names(folder: Path) -> tuple[str, ...]:
    """How each note is linked to: by its name where that is enough, else by its path; ``@`` names the others."""
    return _linkable(file_names(folder))


@lru_cache(maxsize=2)
def _linkable(paths: tuple[str, ...]) -> tuple[str, ...]:
    from ...core.resolve import Files, link_target

    files = Files(paths)
    notes = (path for path in paths if path.lower().endswith(".md"))
    return tuple(target for path in notes if (target := link_target(path, files)) is not None)


def headings(folder: Path, target: str) -> tuple[str, ...]:
    """The headings of the note that a link to ``target`` means."""
    from ...core.outline import outline
    from ...core.resolve import Files

    path = Files(file_names(folder)).find(target, "")
    if path is None:
        return ()
    try:
        with (folder / path).open(encoding="utf-8", errors="replace") as file:
            text = file.read(_MOST_READ)
    except OSError:
        return ()
    return tuple(dict.fromkeys(heading.text for heading in outline(text).headings))
