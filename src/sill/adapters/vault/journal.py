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
    def __init__(self, fs: Fs, state: Path) -> None:
        self._fs = fs
        self.home = fs.home(state)
        self._dir = self._folder("tx")

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
        numbers = (name.partition("-")[0] for name in self._fs.names(self._dir))
        last = max((int(number) for number in numbers if number.isdecimal()), default=0)
        return f"{last + 1:08d}-{token}"

    def begin(self, transaction: Transaction, images: Mapping[str, bytes] | None) -> None:
        """Write down what is going to be done, and the bytes, unless an earlier record holds them."""
        if images is not None:
            packed = _pack(images)
            self._fs.write(self._dir, f"{transaction.id}.images", packed, _PRIVATE)
        record = json.dumps(_body(transaction), ensure_ascii=False).encode()
        self._fs.write(self._dir, f"{transaction.id}.open", record, _PRIVATE)
        self._fs.sync(self._dir)

    def move(self, id: str, old: State, new: State) -> None:
        self._fs.rename(self._dir, f"{id}.{old}", f"{id}.{new}")
        # History is not worth waiting for: a record that is found committed again is settled again.
        if new != "done":
            self._fs.sync(self._dir)

    def drop(self, id: str, state: State) -> None:
        """Forget a transaction that changed nothing."""
        self._fs.unlink(self._dir, f"{id}.{state}")
        self._drop_images(id)

    def _drop_images(self, id: str) -> None:
        with suppress(FileNotFoundError):
            self._fs.unlink(self._dir, f"{id}.images")

    def states(self) -> dict[str, State]:
        """Every record by its id, oldest first."""
        found = (name.rpartition(".") for name in self._fs.names(self._dir))
        return {id: state for id, _, state in found if state in get_args(State)}  # type: ignore[misc]

    def drop_orphans(self) -> None:
        """Images whose record was never written."""
        names = self._fs.names(self._dir)
        records = {name.rpartition(".")[0] for name in names if not name.endswith(".images")}
        for name in names:
            id, _, suffix = name.rpartition(".")
            if suffix == "images" and id not in records:
                self._drop_images(id)

    def read(self, id: str, state: State) -> Transaction | None:
        """None if the record cannot be read: cut off while it was being written."""
        held = self._fs.read(self._dir, f"{id}.{state}")
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
        return {
            name.removesuffix(".images"): self._fs.size(self._dir, name)
            for name in self._fs.names(self._dir)
            if name.endswith(".images")
        }

    def forget_images(self, ids: Iterable[str]) -> None:
        """These can no longer be undone."""
        for id in ids:
            self._drop_images(id)


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
