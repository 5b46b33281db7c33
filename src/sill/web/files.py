"""Files of the folder: listing, reading, saving; links, search and completion of names."""

import asyncio
import re
from pathlib import Path
from typing import Annotated

from fastapi import APIRouter, Query
from starlette.responses import Response

from ..adapters.vault.apply import NotApproved, Outcome, Refused
from ..adapters.vault.job import Applied, Conflict
from ..adapters.vault.lines import decode
from ..adapters.vault.paths import RefusedPath, check_path
from ..adapters.vault.scan import Scan, read_inside, scan
from ..app.service import Desk
from ..app.vault import wanted_of
from ..core.documents import language_of
from ..core.edits import Rejected as OpsRejected
from ..core.messages import fingerprint
from .answers import Rejected, not_found
from .depend import TheDesk, contributor
from .schemas.files import FileEntry, Files, FileText, SaveConflict, Saved, SaveFile

router = APIRouter(prefix="/api/v1", tags=["files"])
MOST_LISTED = 2_000
MOST_RAW = 64_000_000

# Shown in the page as they are. SVG is a program, not a picture, and is never shown.
_IMAGES = {
    "avif": "image/avif",
    "bmp": "image/bmp",
    "gif": "image/gif",
    "ico": "image/x-icon",
    "jpeg": "image/jpeg",
    "jpg": "image/jpeg",
    "png": "image/png",
    "webp": "image/webp",
}


@router.get("/files")
async def files(
    desk: TheDesk,
    after: Annotated[str, Query(max_length=1024)] = "",
    limit: Annotated[int, Query(ge=1, le=MOST_LISTED)] = MOST_LISTED,
) -> Files:
    """The folder's files as they are now, sorted by path, without hidden and ignored ones."""
    found: Scan = await asyncio.to_thread(scan, desk.folder, wanted_of(desk.settings))
    entries = [one for one in found.entries if one.path > after]
    page = entries[:limit]
    return Files(
        files=[
            FileEntry(
                path=one.path, kind=one.kind, size=one.size, modified_ms=one.mtime // 1_000_000
            )
            for one in page
        ],
        next=page[-1].path if len(entries) > limit else None,
        total=len(found.entries),
        folder=desk.folder.name,
    )


@router.get("/files/{path:path}")
async def read_file(desk: TheDesk, path: str) -> FileText:
    """A text file, with the fingerprint that saving it asks for."""
    text, size = await _text(desk, path)
    may_write = not isinstance(check_path(path), RefusedPath)
    return FileText(
        path=path,
        text=text,
        fingerprint=fingerprint(text),
        language=language_of(path),
        size=size,
        read_only=not may_write,
    )


@router.put(
    "/files/{path:path}",
    dependencies=[contributor],
    responses={409: {"model": SaveConflict}, 201: {"model": Saved}},
)
async def save_file(desk: TheDesk, path: str, body: SaveFile, response: Response) -> Saved:
    """Save, if the file is still in the state ``base_fingerprint`` names; an edit like any other."""
    checked = check_path(path)
    if isinstance(checked, RefusedPath):
        raise Rejected(422, "file_refused", f"{path} {checked.reason}")
    if checked.is_sensitive:
        raise Rejected(422, "file_refused", f"{path} is hidden: Sill's page does not write it")
    now = await _present(desk, path)
    if (None if now is None else fingerprint(now)) != body.base_fingerprint:
        raise _conflict(path, now)
    text = with_endings_of(now or "", body.text)
    saved = fingerprint(text)
    if now == text:
        return Saved(path=path, fingerprint=saved)
    outcome = await desk.edits.save(path, now, text)
    if isinstance(outcome, Conflict):
        raise _conflict(path, await _present(desk, path))
    response.status_code = 201 if now is None else 200
    applied = _applied(path, outcome)
    return Saved(path=path, fingerprint=saved, edit=applied.id, warning=applied.warning)


def with_endings_of(before: str, after: str) -> str:
    """A browser's text field knows one kind of line end; a file that has only the other kind keeps it."""
    has_only_crlf = "\r\n" in before and not re.search(r"(?<!\r)\n|\r(?!\n)", before)
    return after.replace("\n", "\r\n") if has_only_crlf and "\r" not in after else after


def _applied(path: str, outcome: Outcome) -> Applied:
    match outcome:
        case Applied():
            return outcome
        case Refused(paths=paths):
            words = "; ".join(f"{one.path} {one.reason}" for one in paths)
            raise Rejected(422, "file_refused", words)
        case NotApproved() | OpsRejected() | Conflict():
            raise Rejected(409, "conflict", f"{path} cannot be saved as it is")


def _conflict(path: str, now: str | None) -> Rejected:
    if now is None:
        words = f"{path} is no longer there"
        return Rejected(409, "conflict", words, fingerprint=None, text=None)
    words = f"{path} was changed by somebody else meanwhile"
    return Rejected(409, "conflict", words, fingerprint=fingerprint(now), text=now)


async def _present(desk: Desk, path: str) -> str | None:
    """The file's text; None if there is no such file. One that is not text is refused."""
    data = await _bytes(desk, path)
    if data is None:
        return None
    decoded = decode(data)
    if decoded is None:
        raise Rejected(422, "file_refused", f"{path}: neither UTF-8 nor UTF-16 text")
    return decoded.text


async def _text(desk: Desk, path: str) -> tuple[str, int]:
    data = await _bytes(desk, path)
    if data is None:
        raise not_found("file")
    most = desk.settings.get("max_file_bytes", int) or 0
    if len(data) > most:
        raise Rejected(422, "file_refused", f"{path}: larger than {most:,} bytes")
    decoded = decode(data)
    if decoded is None or "\0" in decoded.text[:8192]:
        raise Rejected(422, "file_refused", f"{path}: not a text file")
    return decoded.text, len(data)


async def _bytes(desk: Desk, path: str, most: int = MOST_RAW) -> bytes | None:
    """The bytes of a file of the folder, never by way of a link."""
    if "\0" in path or _leads_away(path):
        return None
    try:
        return await asyncio.to_thread(read_inside, desk.folder, path, most)
    except (OSError, ValueError):
        return None


def _leads_away(path: str) -> bool:
    """Hidden files and what leads out of the folder are not for the page."""
    return any(not part or part.startswith(".") for part in path.split("/"))


@router.get(
    "/raw/{path:path}",
    response_class=Response,
    responses={200: {"content": {"application/octet-stream": {}, "image/*": {}}}},
)
async def raw(desk: TheDesk, path: str) -> Response:
    """A file's bytes, in a sandbox: pictures are shown, everything else is downloaded."""
    data = await _bytes(desk, path)
    if data is None:
        raise not_found("file")
    suffix = Path(path).suffix.lower().removeprefix(".")
    kind = _IMAGES.get(suffix)
    headers = {} if kind else {"content-disposition": "attachment"}
    return Response(data, 200, headers, kind or "application/octet-stream")
