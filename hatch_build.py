"""Puts the built page into the wheel, so that nobody who installs Sill needs Node."""

import sys
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class PageHook(BuildHookInterface[Any]):
    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Build, unless it is built already. An editable install makes do without."""
        if version == "editable" or not (Path(self.root) / "ui").is_dir():
            return
        sys.path.insert(0, str(Path(self.root) / "scripts"))
        try:
            from build_page import BUILT, CannotBuild, build

            try:
                build()
            except CannotBuild:
                # A page that was built elsewhere and put here is as good.
                if not (BUILT / "index.html").is_file():
                    raise
        finally:
            sys.path.pop(0)
