"""What is being done to the workspace, written down before it is done, outside the workspace.

    tx/ID.images       the bytes of every file before and after
    tx/ID.open         files are being staged: the temporary names in here may exist
    tx/ID.prepared     everything is staged: it will be finished, whatever happens (the decision point)
    tx/ID.committed    every file is in its new state; displaced files may still have to go
    tx/ID.aborted      every file of ours is back; temporary files may still have to go
    tx/ID.done         history, for undo

One record goes from state to state by renaming it, so it is always in exactly one.
"""

import base64
import json
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, get_args

from .files import Dir, Fs, Meta, sha

State = Literal["open", "prepared", "committed", "aborted", "done"]
Kind = Literal["apply", "undo", "redo"]
_STATES = frozenset(get_args(State))
_PRIVATE = Meta(0o600)


@dataclass(frozen=True, slots=True)
class Entry:
    """One file. ``base`` and ``new`` are the SHA-256 of its bytes; None where it does not exist.

    ``meta`` dresses the file when it has to be made: as it was, or as a new file is.
    """

    path: str
    temp: str
    base: str | None
    new: str | None
    meta: Meta

    @property
    def parents(self) -> tuple[str, ...]:
        return tuple(self.path.split("/")[:-1])

    @property
    def name(self) -> str:
        return self.path.rsplit("/", 1)[-1]


@dataclass(frozen=True, slots=True)
class Transaction:
    """``of`` is the apply that an undo or redo belongs to; ``images`` names the record that holds the bytes."""

    id: str
    kind: Kind
    entries: tuple[Entry, ...]
    images: str
    of: str | None = None
    made_dirs: tuple[str, ...] = ()  # outermost first
    spare_dirs: tuple[str, ...] = ()  # to be removed afterwards if nothing is left in them
    explanation: str = ""
    by: str = ""
    when_ms: int = 0
    patch_id: str = ""

    @property
    def root(self) -> str:
        """The apply all this began with."""
        return self.of or self.id


class Journal:
    """Read once and kept in step: whoever uses it holds the workspace's lock."""

    def __init__(self, fs: Fs, state: Path) -> None:
        self._fs = fs
        self.home = fs.home(state)
        self._dir = self._folder("tx")
        self._states: dict[str, State] | None = None
        self._with_images: set[str] = set()

    def __enter__(self) -> "Journal":
        return self

    def __exit__(self, *_: object) -> None:
        self._fs.leave(self._dir)
        self._fs.leave(self.home)

    def _folder(self, name: str) -> Dir:
        found = self._fs.enter(self.home, name)
        if found is None:
            with suppress(FileExistsError):
                self._fs.make_dir(self.home, name)
            self._fs.sync(self.home)
            found = self._fs.enter(self.home, name)
        assert found is not None
        return found

    def new_id(self, token: str) -> str:
        """Later than every other one."""
        # Names sort by their numbers, which have leading zeros.
        last = max((*self.states(), *self._with_images), default="0")
        return f"{int(last.partition('-')[0]) + 1:08d}-{token}"

    def states(self) -> dict[str, State]:
        """Every record by its id, oldest first."""
        if self._states is None:
            self._states = {}
            for name in self._fs.names(self._dir):
                id, _, suffix = name.rpartition(".")
                if suffix == "images":
                    self._with_images.add(id)
                elif suffix in _STATES:
                    self._states[id] = suffix  # type: ignore[assignment]
        return self._states

    def begin(self, transaction: Transaction, images: Mapping[str, bytes] | None) -> None:
        """Write down what is going to be done, and the bytes, unless an earlier record holds them."""
        id = transaction.id
        if images is not None:
            self._fs.write(self._dir, f"{id}.images", _pack(images), _PRIVATE)
            self._with_images.add(id)
        record = json.dumps(_body(transaction), ensure_ascii=False).encode()
        self._fs.write(self._dir, f"{id}.open", record, _PRIVATE)
        self.states()[id] = "open"
        self._fs.sync(self._dir)

    def move(self, id: str, new: State) -> None:
        old = self.states()[id]
        self._fs.rename(self._dir, f"{id}.{old}", f"{id}.{new}")
        self.states()[id] = new
        # History is not worth waiting for: a record that is found committed again is settled again.
        if new != "done":
            self._fs.sync(self._dir)

    def drop(self, id: str) -> None:
        """Forget a transaction that changed nothing."""
        state = self.states().pop(id, None)
        if state is not None:
            self._fs.unlink(self._dir, f"{id}.{state}")
        self.forget_images([id])

    def drop_orphans(self) -> None:
        """Images whose record was never written."""
        records = self.states()
        self.forget_images([id for id in self._with_images if id not in records])

    def forget_images(self, ids: Iterable[str]) -> None:
        """These can no longer be undone."""
        for id in ids:
            self._with_images.discard(id)
            with suppress(FileNotFoundError):
                self._fs.unlink(self._dir, f"{id}.images")

    def read(self, id: str) -> Transaction | None:
        """None if the record cannot be read: cut off while it was being written."""
        held = self._fs.read(self._dir, f"{id}.{self.states()[id]}")
        if held is None:
            return None
        try:
            return _transaction(json.loads(held.data))
        except (ValueError, KeyError, TypeError):
            return None

    def images(self, id: str) -> dict[str, bytes]:
        """The bytes by their SHA-256; empty if they are no longer kept."""
        held = self._fs.read(self._dir, f"{id}.images")
        return {} if held is None else _unpack(held.data)

    def image_sizes(self) -> dict[str, int]:
        """How many bytes each record keeps, oldest first."""
        self.states()
        return {id: self._fs.size(self._dir, f"{id}.images") for id in sorted(self._with_images)}


def _pack(images: Mapping[str, bytes]) -> bytes:
    header = json.dumps({name: len(data) for name, data in images.items()}).encode()
    return b"\n".join([header, b"".join(images.values())])


def _unpack(packed: bytes) -> dict[str, bytes]:
    header, _, rest = packed.partition(b"\n")
    images: dict[str, bytes] = {}
    at = 0
    for name, length in json.loads(header).items():
        data = rest[at : at + length]
        at += length
        # Bytes that are not what they are called are as good as lost.
        if sha(data) == name:
            images[name] = data
    return images


def _body(transaction: Transaction) -> dict[str, Any]:
    return {
        "version": 1,
        "id": transaction.id,
        "kind": transaction.kind,
        "of": transaction.of,
        "images": transaction.images,
        "made_dirs": transaction.made_dirs,
        "spare_dirs": transaction.spare_dirs,
        "explanation": transaction.explanation,
        "by": transaction.by,
        "when_ms": transaction.when_ms,
        "patch_id": transaction.patch_id,
        "entries": [
            {
                "path": entry.path,
                "temp": entry.temp,
                "base": entry.base,
                "new": entry.new,
                "mode": entry.meta.mode,
                "owner": entry.meta.owner,
                "attributes": {
                    name: base64.b64encode(value).decode()
                    for name, value in entry.meta.attributes.items()
                },
            }
            for entry in transaction.entries
        ],
    }


def _transaction(body: Mapping[str, Any]) -> Transaction:
    return Transaction(
        body["id"],
        body["kind"],
        tuple(_entry(entry) for entry in body["entries"]),
        body["images"],
        body["of"],
        tuple(body["made_dirs"]),
        tuple(body["spare_dirs"]),
        body["explanation"],
        body["by"],
        body["when_ms"],
        body["patch_id"],
    )


def _entry(body: Mapping[str, Any]) -> Entry:
    attributes = {name: base64.b64decode(value) for name, value in body["attributes"].items()}
    owner = None if body["owner"] is None else (body["owner"][0], body["owner"][1])
    meta = Meta(body["mode"], owner, attributes)
    return Entry(body["path"], body["temp"], body["base"], body["new"], meta)
