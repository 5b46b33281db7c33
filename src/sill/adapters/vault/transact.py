"""All files of a transaction change, or none does, whenever the power goes.

begin     write down what will be done, with every byte needed to do or undo it
stage     write the new files beside the old ones
decide    rename the record to "prepared": from here on the transaction will be finished
finish    swap file after file; if one is not what it should be, put all others back
settle    drop what was displaced, once nobody can write into it any more
"""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path, PurePosixPath
from typing import Literal

from ...errors import VaultError
from .files import Dir, DiskFs, Fs, NotAFile, Walker
from .journal import Entry, Journal, Transaction
from .swap import Place, content, finish_trade, restage, stage, swap_in, swap_out

LATE_MS = 2_000  # where the system cannot say who has a file open, it is left alone this long


@dataclass(frozen=True, slots=True)
class Workspace:
    """A folder people edit, and where its journal lives: outside of it.

    ``record`` is told of every transaction that was committed, at least once, so it must not mind hearing
    of the same id again.
    """

    root: Path
    state: Path
    record: Callable[[Transaction], None] | None = None
    fs: Fs = field(default_factory=DiskFs)


@dataclass(frozen=True, slots=True)
class Kept:
    """Somebody's save that would have been lost lies under ``copy`` now."""

    path: str
    copy: str


@dataclass(frozen=True, slots=True)
class Settled:
    kept: tuple[Kept, ...] = ()
    is_done: bool = True  # nothing is left to be cleaned up later
    is_recorded: bool = True


@dataclass(frozen=True, slots=True)
class Desk:
    """A workspace while we hold its lock."""

    fs: Fs
    walker: Walker
    journal: Journal
    record: Callable[[Transaction], None] | None

    def place(self, entry: Entry) -> Place | None:
        """None if the directory is gone, or something else has taken its name."""
        directory = self.directory(entry.parents)
        return None if directory is None else Place(directory, entry)

    def directory(self, parts: tuple[str, ...]) -> Dir | None:
        with suppress(NotAFile):
            return self.walker.directory(parts)
        return None


@contextmanager
def at_work(workspace: Workspace) -> Iterator[Desk]:
    """Hold the workspace; nobody else transacts in it meanwhile. A disk that fails is a ``VaultError``."""
    fs = workspace.fs
    try:
        with (
            Journal(fs, workspace.state) as journal,
            fs.lock(journal.home),
            Walker(fs, workspace.root) as walker,
        ):
            yield Desk(fs, walker, journal, workspace.record)
    except OSError as error:
        hint = "what was begun is finished, or taken back, the next time"
        raise VaultError(f"cannot write: {error.strerror or error}", hint=hint) from error


def transact(
    desk: Desk, transaction: Transaction, images: Mapping[str, bytes], *, is_stored: bool = False
) -> tuple[str, ...]:
    """Do it. Returns the files that were not in their base state; nothing is changed then.

    ``is_stored`` means that an earlier record holds the images already.
    """
    try:
        desk.journal.begin(transaction, None if is_stored else images)
        _make_dirs(desk, transaction)
        for entry in transaction.entries:
            place = desk.place(entry)
            if place is None:
                abandon(desk, transaction)
                return (entry.path,)
            stage(desk.fs, place, images)
    except OSError as error:
        with suppress(OSError):
            abandon(desk, transaction)
        raise VaultError(f"cannot write: {error.strerror}", hint="nothing was changed") from error
    desk.journal.move(transaction.id, "prepared")
    try:
        return finish(desk, transaction, images)
    except OSError:
        # The decision stands. What failed once may pass now; if not, recovery tries again later.
        return finish(desk, transaction, images)


def finish(desk: Desk, transaction: Transaction, images: Mapping[str, bytes]) -> tuple[str, ...]:
    """Take a prepared transaction to one of its ends; the files in the way, if it had to be taken back."""
    _make_dirs(desk, transaction)
    places = {entry.path: desk.place(entry) for entry in transaction.entries}
    for place in places.values():
        if place:
            finish_trade(desk.fs, place)
    found = {path: _found(desk.fs, place) for path, place in places.items()}
    foreign = [
        entry.path for entry in transaction.entries if not _is_ours(entry, found[entry.path])
    ]
    for entry in transaction.entries if not foreign else ():
        place, now = places[entry.path], found[entry.path]
        if place and now and not _moved(desk.fs, place, now, images):
            foreign.append(entry.path)
            break
    if foreign:
        for place in reversed(places.values()):
            if place and not swap_out(desk.fs, place, images) and place.entry.path not in foreign:
                foreign.append(place.entry.path)
    _sync_dirs(desk, transaction)
    desk.journal.move(transaction.id, "aborted" if foreign else "committed")
    return tuple(foreign)


@dataclass(frozen=True, slots=True)
class _Found:
    """What has the file's name and what has its temporary name."""

    name: str | None
    temp: str | None


def _found(fs: Fs, place: Place | None) -> _Found | None:
    if place is None:
        return None
    return _Found(
        content(fs, place.directory, place.name), content(fs, place.directory, place.temp)
    )


def _is_ours(entry: Entry, found: _Found | None) -> bool:
    """Whether the file is in its base or its new state, and no unknown save was displaced by us."""
    if found is None:
        return entry.new is None
    known = (entry.base, entry.new)
    return found.name in known and found.temp in (*known, None)


def _moved(fs: Fs, place: Place, found: _Found, images: Mapping[str, bytes]) -> bool:
    entry = place.entry
    if found.name == entry.new:
        return True
    if entry.new is not None and found.temp != entry.new and not restage(fs, place, images):
        return False
    return swap_in(fs, place)


def _make_dirs(desk: Desk, transaction: Transaction) -> None:
    for path in transaction.made_dirs:
        parts = tuple(path.split("/"))
        parent = desk.directory(parts[:-1])
        if parent is not None and desk.directory(parts) is None:
            with suppress(FileExistsError):
                desk.fs.make_dir(parent, parts[-1])


def _remove_dirs(desk: Desk, paths: tuple[str, ...]) -> None:
    """Those in which nothing is left."""
    for path in reversed(paths):
        parts = tuple(path.split("/"))
        parent = desk.directory(parts[:-1])
        if parent is not None and desk.directory(parts) is not None:
            desk.walker.forget(parts)
            with suppress(OSError):
                desk.fs.remove_dir(parent, parts[-1])


def _sync_dirs(desk: Desk, transaction: Transaction) -> None:
    made = (tuple(path.split("/")) for path in transaction.made_dirs)
    touched = {entry.parents for entry in transaction.entries} | {parts[:-1] for parts in made}
    for parts in sorted(touched):
        directory = desk.directory(parts)
        if directory is not None:
            desk.fs.sync(directory)


def abandon(desk: Desk, transaction: Transaction) -> None:
    """Forget a transaction that was never prepared: its temporary files go, nothing else was touched."""
    for entry in transaction.entries:
        place = desk.place(entry)
        if place:
            with suppress(FileNotFoundError):
                desk.fs.unlink(place.directory, place.temp)
    _remove_dirs(desk, transaction.made_dirs)
    desk.journal.drop(transaction.id)


def settle(desk: Desk, transaction: Transaction, now_ms: int) -> Settled:
    """Clean up after a transaction that has ended; what cannot be done yet is left for the next time."""
    state = desk.journal.states().get(transaction.id)
    if state is None:
        return Settled()  # it was abandoned before it was prepared
    is_committed = state == "committed"
    is_recorded = not is_committed or _record(desk, transaction)
    try:
        return _settle(desk, transaction, now_ms, is_recorded)
    except OSError:
        return Settled((), False, is_recorded)


def _settle(desk: Desk, transaction: Transaction, now_ms: int, is_recorded: bool) -> Settled:
    kept: list[Kept] = []
    is_clean = True
    is_late = now_ms - transaction.when_ms >= LATE_MS
    for entry in transaction.entries:
        place = desk.place(entry)
        if place is None:
            continue
        for name in (place.temp, place.aside):
            found = _dropped(desk, place, name, now_ms, is_late)
            is_clean &= found != "waits"
            if isinstance(found, Kept):
                kept.append(found)
    if not is_clean or not is_recorded:
        return Settled(tuple(kept), False, is_recorded)
    if desk.journal.states()[transaction.id] == "committed":
        _remove_dirs(desk, transaction.spare_dirs)
        desk.journal.move(transaction.id, "done")
    else:
        _remove_dirs(desk, transaction.made_dirs)
        desk.journal.drop(transaction.id)
    return Settled(tuple(kept), True, is_recorded)


def _record(desk: Desk, transaction: Transaction) -> bool:
    if desk.record is None:
        return True
    try:
        desk.record(transaction)
    except Exception:
        # The files are committed, whatever the database says; it is told again at the next start.
        return False
    return True


def _dropped(
    desk: Desk, place: Place, name: str, now_ms: int, is_late: bool
) -> Kept | Literal["gone", "waits"]:
    """Remove a displaced file whose bytes are known, or keep it for its owner."""
    # Asked before its bytes are read: if nobody had it open then, nobody can change them unseen.
    is_free = desk.fs.is_free(place.directory, name)
    found = content(desk.fs, place.directory, name)
    if found is None:
        return "gone"
    if is_free is False or (is_free is None and not is_late):
        return "waits"
    if found in (place.entry.base, place.entry.new):
        desk.fs.unlink(place.directory, name)
        return "gone"
    return _keep(desk, place, name, now_ms)


def _keep(desk: Desk, place: Place, name: str, now_ms: int) -> Kept:
    """Give a displaced save a name people can find."""
    old = PurePosixPath(place.name)
    when = datetime.fromtimestamp(now_ms / 1000).strftime("%Y-%m-%d %H%M")
    for number in range(1, 1000):
        again = f" {number}" if number > 1 else ""
        copy = f"{old.stem} (conflict {when}{again}){old.suffix}"
        try:
            desk.fs.rename_new(place.directory, name, copy)
        except FileExistsError:
            continue
        return Kept(place.entry.path, "/".join((*place.entry.parents, copy)))
    raise VaultError(f"{place.entry.path}: too many conflict copies", hint="remove some of them")
