"""Imports point inward: web, cli -> app -> adapters, engine -> ports -> core; and the core is pure."""

import ast
import sys
from pathlib import Path

import pytest

SOURCE = Path(__file__).resolve().parent.parent / "src" / "sill"
FILES = sorted(p for p in SOURCE.rglob("*.py") if "sample" not in p.relative_to(SOURCE).parts)

# A layer may import itself and what stands here beside it.
MAY_IMPORT = {
    "core": set(),
    "errors": set(),
    "version": set(),
    "paths": {"errors"},
    "records": {"core"},
    "prompts": {"core", "errors"},
    "lexicon": {"core"},
    "ports": {"core", "records"},
    "engine": {"core", "records", "ports", "errors", "lexicon"},
    "adapters": {"core", "records", "ports", "errors", "paths", "version"},
    "testing": {"core", "records", "ports", "errors"},
    "settings": {"core", "errors", "paths"},
    "trust": {"settings", "errors", "paths"},
    "app": {
        "core",
        "records",
        "prompts",
        "ports",
        "errors",
        "paths",
        "engine",
        "adapters",
        "settings",
        "trust",
    },
    "cli": {
        "core",
        "records",
        "prompts",
        "ports",
        "errors",
        "paths",
        "engine",
        "adapters",
        "settings",
        "trust",
        "app",
        "web",
    },
    "library": {
        "core",
        "ports",
        "errors",
        "engine",
        "adapters",
        "settings",
        "app",
    },
    "web": {
        "core",
        "records",
        "prompts",
        "ports",
        "errors",
        "paths",
        "engine",
        "adapters",
        "settings",
        "trust",
        "app",
    },
}
NOT_IN_CORE = {
    "os",
    "pathlib",
    "sqlite3",
    "asyncio",
    "time",
    "random",
    "logging",
    "socket",
    "subprocess",
}


def layer_of(path: Path) -> str:
    return path.relative_to(SOURCE).parts[0].removesuffix(".py")


def imports(path: Path) -> list[str]:
    """Absolute names of everything the file imports, wherever in the file it does so."""
    package = ("sill", *path.relative_to(SOURCE).parent.parts)
    found = []
    for node in ast.walk(ast.parse(path.read_text())):
        match node:
            case ast.Import(names=names):
                found += [name.name for name in names]
            case ast.ImportFrom(module=module, level=0):
                found.append(module or "")
            case ast.ImportFrom(module=module, level=level, names=names):
                base = [
                    *package[: len(package) - level + 1],
                    *(module.split(".") if module else []),
                ]
                # `from . import x` may name a module of the package or a value of it.
                found += (
                    [".".join([*base, n.name]) for n in names]
                    if len(base) == 1
                    else [".".join(base)]
                )
    return found


@pytest.mark.parametrize("path", FILES, ids=lambda p: str(p.relative_to(SOURCE)))
def test_imports_point_inward(path: Path) -> None:
    layer = layer_of(path)
    if layer in ("__init__", "__main__"):
        return
    inner = {name.split(".")[1] for name in imports(path) if name.startswith("sill.")}

    assert inner - {layer, "__version__", "_built"} <= MAY_IMPORT[layer]


@pytest.mark.parametrize("path", [p for p in FILES if layer_of(p) == "core"], ids=lambda p: p.name)
def test_core_is_pure(path: Path) -> None:
    outer = {name.split(".")[0] for name in imports(path)} - {"sill"}
    waits = [
        n
        for n in ast.walk(ast.parse(path.read_text()))
        if isinstance(n, ast.Await | ast.AsyncFunctionDef)
    ]

    assert outer <= set(sys.stdlib_module_names) - NOT_IN_CORE
    assert waits == []
