"""The HTTP server: a guard in front, an API behind it, streams that outlive their readers."""

import sys

# httpx brings a command of its own, with everything that colours a terminal: four megabytes that no server needs.
sys.modules.setdefault("httpx._main", None)  # type: ignore[arg-type]
