"""Which names an edit may touch. Pure: it looks at the name alone; the walk in ``files`` looks at the disk.

Whatever a file system somewhere could take for another name, or hide, is refused, so that an approved
proposal means the same file on every machine the folder is synchronised to.
"""

import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass

PROTECTED = frozenset(
    (".git", ".hg", ".svn", ".obsidian", ".vscode", ".idea", ".cursor", ".claude", ".github", ".gitlab")
) | {".gitmodules", ".sill", "sill.toml"}  # fmt: skip

MAX_PATH = 1024
MAX_NAME = 255
_FORBIDDEN = re.compile(r'[<>:"|?*\\\x00-\x1f\x7f-\x9f]')
_DEVICE = re.compile(
    r"(con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³]|conin\$|conout\$)(\.|\Z)", re.IGNORECASE
)
_SHORT_NAME = re.compile(r"(.{1,8}?)~\d+(\..*)?\Z")
# Characters that are drawn as nothing or turn the text around: zero width, joiners, bidi controls, tags.
_UNSEEN = re.compile(
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202e\u2060-\u206f"
    "\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
)


@dataclass(frozen=True, slots=True)
class SafePath:
    """``is_sensitive`` names (hidden files) want an approval of their own."""

    path: str
    parts: tuple[str, ...]
    is_sensitive: bool


@dataclass(frozen=True, slots=True)
class RefusedPath:
    path: str
    reason: str


def check_path(path: str) -> SafePath | RefusedPath:
    """The parts of a relative path with forward slashes, or why it may not be written."""
    try:
        size = len(path.encode())
    except UnicodeEncodeError:
        return RefusedPath(path.encode(errors="replace").decode(), "is not valid text")
    parts = tuple(path.split("/"))
    reason = "is empty" if not path else "is too long" if size > MAX_PATH else None
    reason = reason or next(filter(None, map(_trouble, parts)), None)
    if reason:
        return RefusedPath(path, reason)
    return SafePath(path, parts, any(part.startswith(".") for part in parts))


def _trouble(name: str) -> str | None:
    if not name:
        return "is absolute or has an empty part"
    if name in (".", ".."):
        return "has a part that leads elsewhere"
    if len(name.encode()) > MAX_NAME:
        return "has a name that is too long"
    if _FORBIDDEN.search(name):
        return "has a character that not every file system takes"
    if _UNSEEN.search(name):
        return "has characters that cannot be seen"
    if name[-1] in ". " or name[0] == " ":
        return "has a name that begins or ends with a space, or ends with a dot"
    folded = fold(name)
    if _DEVICE.match(folded):
        return "is the name of a device"
    if "/" in folded or "\\" in folded or folded.strip(". ") == "":
        return "has a part that leads elsewhere"
    if is_protected(name):
        return "is protected: it can change what programs do"
    return None


def is_protected(name: str) -> bool:
    """Whether some file system could take the name for one that Sill never writes."""
    folded = fold(name)
    short = _SHORT_NAME.match(folded)
    if short:
        return short[1].lstrip(".")[:6] in {_without_dots(one)[:6] for one in PROTECTED}
    return folded.rstrip(". ") in PROTECTED


def _without_dots(name: str) -> str:
    """As a Windows short name begins: no dots, and only the first letters count."""
    return name.lstrip(".").replace(".", "")


def fold(path: str) -> str:
    """Equal for paths that some file system holds for the same one."""
    return unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", path).casefold())


def check_paths(paths: Iterable[str]) -> tuple[SafePath, ...] | tuple[RefusedPath, ...]:
    """Every path, or every refusal; two paths that some file system would mix up are both refused."""
    checked = [check_path(path) for path in paths]
    refused = [one for one in checked if isinstance(one, RefusedPath)]
    safe = [one for one in checked if isinstance(one, SafePath)]
    seen: dict[str, str] = {}
    for one in safe:
        twin = seen.setdefault(fold(one.path), one.path)
        if twin != one.path:
            refused.append(RefusedPath(one.path, f"could be the same file as {twin}"))
    return tuple(refused) if refused else tuple(safe)
