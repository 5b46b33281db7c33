"""One file changes hands with its staged successor: compare and swap, never look and then overwrite.

The new file and the old one trade names in one step; only then is it decided, by looking at what came out,
whether it was the file the proposal was made from. If not, they trade back.
"""

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass

from .files import Dir, Fs, NotAFile
from .journal import Entry

STRANGE = "?"  # something is there that is not a regular file


@dataclass(frozen=True, slots=True)
class Place:
    """Where an entry's file stands."""

    directory: Dir
    entry: Entry

    @property
    def name(self) -> str:
        return self.entry.name

    @property
    def temp(self) -> str:
        return self.entry.temp

    @property
    def aside(self) -> str:
        """A third name, for disks that cannot exchange two."""
        return self.entry.temp + ".old"


def content(fs: Fs, directory: Dir, name: str) -> str | None:
    """The SHA-256 of a file, None if there is nothing, ``STRANGE`` for anything else."""
    try:
        held = fs.read(directory, name)
    except NotAFile:
        return STRANGE
    return None if held is None else held.sha


def swap_in(fs: Fs, place: Place) -> bool:
    """Whether the file was in its base state and is in its new one now; if not, it is as it was found."""
    entry = place.entry
    if entry.base is None:
        try:
            fs.rename_new(place.directory, place.temp, place.name)
        except FileExistsError:
            return False
        return True
    if entry.new is None:
        return _take_away(fs, place, entry.base)
    if not _trade(fs, place):
        return False
    if content(fs, place.directory, place.temp) == entry.base:
        return True
    _trade_back(fs, place)
    return False


def _take_away(fs: Fs, place: Place, expected: str) -> bool:
    try:
        fs.rename_new(place.directory, place.name, place.temp)
    except FileNotFoundError:
        return False
    if content(fs, place.directory, place.temp) == expected:
        return True
    # Somebody may have made the file anew meanwhile; then both are kept.
    with suppress(FileExistsError):
        fs.rename_new(place.directory, place.temp, place.name)
    return False


def _trade_back(fs: Fs, place: Place) -> None:
    """Undo a trade. If somebody saved since, that save is the newest: it gets the name, and what it displaced
    stays under the temporary name, to be kept beside it."""
    if _trade(fs, place) and content(fs, place.directory, place.temp) != place.entry.new:
        _trade(fs, place)


def swap_out(fs: Fs, place: Place, images: Mapping[str, bytes]) -> bool:
    """Put the base state back where the file is still ours; whether it was, or needed nothing."""
    entry = place.entry
    now = content(fs, place.directory, place.name)
    there = content(fs, place.directory, place.temp)
    if now == entry.base:
        return True
    if now != entry.new:
        return False
    if entry.new is None:
        if there is None:
            return False
        with suppress(FileExistsError):
            fs.rename_new(place.directory, place.temp, place.name)
        return True
    if entry.base is None:
        if there not in (None, entry.new):
            return False
        if there is not None:
            fs.unlink(place.directory, place.temp)
        return _take_away(fs, place, entry.new)
    if there is None and entry.base in images:
        fs.write(place.directory, place.temp, images[entry.base], entry.meta)
    _trade_back(fs, place)
    return True


def restage(fs: Fs, place: Place, images: Mapping[str, bytes]) -> bool:
    """Write the new state again, where it does not lie ready any more; False if its bytes are lost."""
    entry = place.entry
    if entry.new is None or entry.new not in images:
        return False
    with suppress(FileNotFoundError):
        fs.unlink(place.directory, place.temp)
    fs.write(place.directory, place.temp, images[entry.new], entry.meta)
    return True


def _trade(fs: Fs, place: Place) -> bool:
    """The two files exchange names; False if one of them is not there."""
    try:
        fs.exchange(place.directory, place.temp, place.name)
    except FileNotFoundError:
        return False
    except NotImplementedError:
        return _trade_slowly(fs, place)
    return True


def _trade_slowly(fs: Fs, place: Place) -> bool:
    """The same in three steps. A save by renaming that falls between them cannot be seen."""
    try:
        fs.link(place.directory, place.name, place.aside)
    except FileNotFoundError:
        return False
    except NotImplementedError:
        return _trade_by_moving(fs, place)
    fs.rename(place.directory, place.temp, place.name)
    fs.rename(place.directory, place.aside, place.temp)
    return True


def _trade_by_moving(fs: Fs, place: Place) -> bool:
    """For disks without links: for a moment nothing has the name."""
    try:
        fs.rename_new(place.directory, place.name, place.aside)
    except FileNotFoundError:
        return False
    try:
        fs.rename_new(place.directory, place.temp, place.name)
    except FileExistsError:
        # A new file took the name: ours gives way, and the old one is looked at later.
        fs.unlink(place.directory, place.temp)
        fs.rename_new(place.directory, place.aside, place.temp)
        return False
    fs.rename_new(place.directory, place.aside, place.temp)
    return True


def finish_trade(fs: Fs, place: Place) -> None:
    """Bring a trade that was stopped between its steps to one of its ends."""
    if content(fs, place.directory, place.aside) is None:
        return
    if content(fs, place.directory, place.temp) is None:
        fs.rename_new(place.directory, place.aside, place.temp)
    elif content(fs, place.directory, place.name) is None:
        fs.rename_new(place.directory, place.aside, place.name)
    elif content(fs, place.directory, place.aside) in (place.entry.base, place.entry.new):
        fs.unlink(place.directory, place.aside)


def stage(fs: Fs, place: Place, images: Mapping[str, bytes]) -> None:
    """Write the new state beside the file."""
    new = place.entry.new
    if new is not None:
        fs.write(place.directory, place.temp, images[new], place.entry.meta)
