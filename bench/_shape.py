"""The one shape of every benchmark: a table for people, and with ``--json`` one object as the last line."""

import json
import sys
from collections.abc import Mapping, Sequence
from typing import Any


def show(title: str, columns: Sequence[str], rows: Sequence[Sequence[object]]) -> None:
    """Print a table; numbers stand to the right."""
    cells = [[f"{cell:,}" if isinstance(cell, int) else str(cell) for cell in row] for row in rows]
    widths = [max(map(len, column)) for column in zip(columns, *cells, strict=True)]
    print(f"\n{title}\n")
    print(
        "  ".join(name.ljust(width) for name, width in zip(columns, widths, strict=True)).rstrip()
    )
    for row in cells:
        first, *others = row
        line = [first.ljust(widths[0])]
        line += [cell.rjust(width) for cell, width in zip(others, widths[1:], strict=True)]
        print("  ".join(line))
    print()


def finish(report: Mapping[str, Any]) -> None:
    """Print the report as the last line if it was asked for."""
    if "--json" in sys.argv:
        print(json.dumps(report))
