"""Patches as models write them, each with what becomes of it.

A case is a JSON file: the document and the patch as lines, then either the document afterwards with the
report, or the problem.
"""

import json
from pathlib import Path

import pytest

from sill.core.edits import Edited, Placement, Rejected, Scope, edit
from sill.core.ops import Patch

CASES = sorted((Path(__file__).parent / "ladder").glob("*.json"))
PATH = "notes/a.md"


@pytest.mark.parametrize("case", [pytest.param(case, id=case.stem) for case in CASES])
def test_ladder(case: Path):
    told = json.loads(case.read_text())
    base = "".join(told["base"])

    result = edit(Scope({PATH: base}), [Patch(PATH, tuple(told["patch_lines"]))])

    assert _told(base, result) == {
        k: v for k, v in told.items() if k not in ("base", "patch_lines")
    }


def _told(base: str, result: Edited | Rejected) -> dict[str, object]:
    if isinstance(result, Rejected):
        (problem,) = result.problems
        return {"problem": {"reason": problem.reason, "detail": problem.detail}}
    (placement,) = result.placements
    after = result.changes[PATH].after
    return {"after": _split(after or ""), "report": _report(placement)}


def _split(text: str) -> list[str]:
    pieces = text.replace("\r\n", "\r\n\0").replace("\n", "\n\0").replace("\n\0\0", "\n\0")
    return [piece for piece in pieces.split("\0") if piece]


def _report(placement: Placement) -> dict[str, object]:
    return {
        "fuzz": placement.fuzz,
        "offset": placement.offset,
        "normalizations": list(placement.normalizations),
        "requires_confirmation": placement.requires_confirmation,
    }
