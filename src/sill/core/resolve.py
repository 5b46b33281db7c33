"""Which file a link means.

In this order: the exact path from the vault's root; for ``./`` and ``../`` the exact path from the
source note and nothing else; a file whose path ends with the target, first in the source note's own
folder, then the one with the shortest path. Letter case and Unicode form make no difference.
"""

import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from .links import Link
from .outline import Outline

_NO_WIKILINK = re.compile(r"[#|^\[\]\n\r]|%%")

Reason = Literal["no such file", "no such heading", "no such block"]


@dataclass(frozen=True, slots=True)
class Resolved:
    """``alias`` is set where a note was found by one of its other names; ``lines`` where a place is named."""

    path: str
    lines: tuple[int, int] | None = None
    alias: str | None = None


@dataclass(frozen=True, slots=True)
class Unresolved:
    """``path`` is the file whose heading or block is missing."""

    reason: Reason
    path: str | None = None


def key(name: str) -> str:
    """Names that Obsidian takes for the same have the same key."""
    if name.isascii():
        return name.lower()
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", name).lower())


def name_key(target: str) -> str:
    """The key of the last part of a path or target, without ``.md``."""
    return _without_md(key(target.rsplit("/", 1)[-1]))


class Files:
    """The vault's paths, ready to be asked for."""

    def __init__(self, paths: Iterable[str]) -> None:
        self._by_name: dict[str, list[str]] = {}
        self.paths: set[str] = set()
        for path in paths:
            self.add(path)

    def add(self, path: str) -> None:
        if path not in self.paths:
            self.paths.add(path)
            self._by_name.setdefault(name_key(path), []).append(path)

    def remove(self, path: str) -> None:
        if path in self.paths:
            self.paths.remove(path)
            self._by_name[name_key(path)].remove(path)

    def find(self, target: str, source: str) -> str | None:
        """The path that a link to ``target``, written in ``source``, means."""
        if not target:
            return source
        if "\0" in target:
            return None
        folder = source.rpartition("/")[0]
        if target.startswith(("./", "../")) or target in (".", ".."):
            wanted = _joined(folder, target)
            return None if wanted is None else self._exact(key(wanted))
        wanted = key(target.lstrip("/"))
        candidates = self._candidates(wanted)
        if not candidates:
            return None
        if len(candidates) == 1:
            # As nearly always: wherever the link stands, it means this file or none.
            endings = tuple("/" + spelling for spelling in _spellings(wanted))
            return candidates[0] if ("/" + key(candidates[0])).endswith(endings) else None
        return self._exact(wanted) or self._by_suffix(wanted, key(folder))

    def is_unique(self, path: str) -> bool:
        """Its file name alone is enough to link to it from anywhere."""
        return len(self._by_name.get(name_key(path), ())) == 1

    def _exact(self, wanted: str) -> str | None:
        return _first_spelling(
            wanted, [path for path in self._candidates(wanted) if key(path) in _spellings(wanted)]
        )

    def _by_suffix(self, wanted: str, folder: str) -> str | None:
        candidates = self._candidates(wanted)
        endings = tuple("/" + spelling for spelling in _spellings(wanted))
        matching = [path for path in candidates if ("/" + key(path)).endswith(endings)]
        beside = {f"{folder}/{spelling}" if folder else spelling for spelling in _spellings(wanted)}
        own = [path for path in matching if key(path) in beside]
        return _first_spelling(wanted, own or matching)

    def _candidates(self, wanted: str) -> Sequence[str]:
        return self._by_name.get(name_key(wanted), ())


def resolve(
    link: Link,
    source: str,
    files: Files,
    outlines: Mapping[str, Outline],
    aliases: Mapping[str, str] | None = None,
) -> Resolved | Unresolved:
    """The file and lines a link means.

    ``aliases`` (key of an alias to path) is for what people type; links in files never resolve by alias.
    """
    path, alias = files.find(link.target, source), None
    if path is None and aliases is not None and (path := aliases.get(key(link.target))):
        alias = link.target
    if path is None:
        return Unresolved("no such file")
    outline = outlines.get(path)
    if outline is None or not (link.headings or link.block):
        return Resolved(path, None, alias)
    if link.block is not None:
        block = outline.block(link.block)
        return Resolved(path, block, alias) if block else Unresolved("no such block", path)
    section = outline.section(link.headings)
    return Resolved(path, section, alias) if section else Unresolved("no such heading", path)


def link_target(path: str, files: Files) -> str | None:
    """What stands in a wikilink that means this file wherever it is written: its name if that is enough.

    None where no wikilink means it: a name may hold what ends one, or be another file's in a different case.
    """
    if _NO_WIKILINK.search(path):
        return None
    shown = path[:-3] if path.lower().endswith(".md") else path
    is_unique = files.is_unique(path)
    for one in (shown.rsplit("/", 1)[-1],) if is_unique else (shown, path):
        if one.strip() == one != "" and (is_unique or files.find(one, "") == path):
            return one
    return None


def _spellings(wanted: str) -> tuple[str, ...]:
    """``.md`` may be left out; a file of another type needs its extension."""
    return (wanted,) if wanted.endswith(".md") else (wanted, wanted + ".md")


def _first_spelling(wanted: str, paths: Sequence[str]) -> str | None:
    """Among files that fit equally: the type the target's spelling asks for, then the shortest path."""
    if len(paths) <= 1:
        return paths[0] if paths else None
    names_type = "." in wanted.rsplit("/", 1)[-1]
    return min(
        paths, key=lambda path: (key(path).endswith(wanted) is not names_type, len(path), path)
    )


def _without_md(name: str) -> str:
    return name[:-3] if name.endswith(".md") else name


def _joined(folder: str, target: str) -> str | None:
    """The path from the root, or None if it leaves the vault."""
    parts = folder.split("/") if folder else []
    for part in target.split("/"):
        if part == "..":
            if not parts:
                return None
            parts.pop()
        elif part not in ("", "."):
            parts.append(part)
    return "/".join(parts)
