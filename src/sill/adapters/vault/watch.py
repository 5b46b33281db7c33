"""Noticing that a folder has changed, by the system's own notices where it has them."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

_QUIET_MS = 50  # a save is often several events; after this pause they count as one
_LONGEST_MS = 400
_LOOK_EVERY = 2.0  # seconds, where the system gives no notices


async def changes(root: Path) -> AsyncIterator[None]:
    """Yield at once, and after every change below ``root`` that may matter, within half a second.

    It only says that something happened; what it was, the scan finds out.
    """
    yield
    try:
        from watchfiles import Change, awatch
    except ImportError:
        while True:
            await asyncio.sleep(_LOOK_EVERY)
            yield

    base = len(root.as_posix()) + 1

    def matters(_: Change, path: str) -> bool:
        below = Path(path).as_posix()[base:].split("/")
        return not any(part.startswith(".") and part != ".gitignore" for part in below)

    events = awatch(
        root, watch_filter=matters, debounce=_LONGEST_MS, step=_QUIET_MS, recursive=True, rust_timeout=1_000,
        yield_on_timeout=False,
    )  # fmt: skip
    async for _ in events:
        yield
