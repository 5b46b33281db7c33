"""No file makes the reader hang: time grows with size and no faster, whatever stands in it.

Each pattern was once compared at doubled sizes; those that grew faster have been mended and stay here. The
limit is of processor time, and many times what a slow machine needs: a busy one cannot reach it.
"""

import resource
import subprocess
import sys

import pytest

SIZE = 1_000_000
MOST_SECONDS = 240  # of processor time, for all

READ = """
import sys
from sill.adapters.index.parse import parse_file
from sill.adapters.vault.scan import Entry
from sill.core.outline import outline
from sill.core.quotes import check_quotations
from sill.core.references import typed_links
from sill.core.resolve import Files

for name in sys.argv[1:]:
    data = open(name, "rb").read()
    text = data.decode(errors="replace")
    parse_file(Entry("hostile.md", "markdown", len(data), 0, 0), data)
    outline(text)
    typed_links(text, Files(["a.md", "b/a.md"]), {}, {})
    check_quotations(text, {"hostile.md": text})
    print(name, flush=True)
"""

PATTERNS = {
    "one line": "word ",
    "one word": "x",
    "open brackets": "[",
    "open links": "[[a|",
    "closed brackets": "](",
    "links": "[[a|b]] ",
    "Markdown links": "[x](a.md) ",
    "embeds of itself": "![[hostile]]",
    "backslashes": "\\",
    "escaped links": "\\[[a]]",
    "backticks": "`",
    "fences": "```\n",
    "fences of two kinds": "~~~\n```\n",
    "hashes": "#",
    "headings": "# a\n",
    "underlined headings": "a\n---\n",
    "tags": "#a ",
    "nested tags": "#a/",
    "blocks with ids": "x ^a\n",
    "lines of list items": "- a\n",
    "quotations": '"a b c d e" ',
    "opened quotations": "“a b c d ",
    "block quotes": "> a b c d e\n",
    "empty lines": "\n",
    "spaces": " ",
    "table": "|a|b|\n",
    "comments": "%%",
    "HTML comments": "<!--",
    "combining characters": "e\u0301",
    "a script without spaces": "漢字。",
}
WHOLE = {
    "brackets, then ends": "[" * (SIZE // 2) + "](y)" * (SIZE // 8),
    "backticks of every length": " ".join("`" * n for n in range(1, 1_400)),
    "blocks with ids of their own": "".join(f"x ^a{n}\n" for n in range(SIZE // 9)),
    "front matter without an end": "---\n" + "a: b\n" * (SIZE // 5),
    "a list in front matter": "---\naliases:\n" + "  - x\n" * (SIZE // 6) + "---\n",
    "brackets in front matter": "---\n" + "a: [" * (SIZE // 4) + "\n---\n",
    "YAML that multiplies": "---\na: &a [x, x]\n"
    + "".join(f"b{n}: &b{n} [*a, *a, *a]\n" for n in range(SIZE // 24))
    + "---\n",
    "invalid UTF-8": "",
}


@pytest.mark.slow
def test_every_hostile_file_is_read_to_its_end(tmp_path):
    texts = {name: (piece * SIZE)[:SIZE].encode() for name, piece in PATTERNS.items()}
    texts |= {name: text.encode() for name, text in WHOLE.items()}
    texts["invalid UTF-8"] = b"\xff\xed\xa0" * (SIZE // 3)
    for name, data in texts.items():
        (tmp_path / name).write_bytes(data)

    done = subprocess.run(
        [sys.executable, "-c", READ, *texts],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU, (MOST_SECONDS, MOST_SECONDS)),
    )

    assert (done.stdout.splitlines(), done.stderr) == (list(texts), "")


@pytest.mark.parametrize("ids", [pytest.param(10, id="ten"), pytest.param(5_000, id="thousands")])
def test_a_paragraph_of_ids_names_the_same_lines_however_long_it_is(ids):
    from sill.core.outline import outline

    blocks = outline("".join(f"x ^a{number}\n" for number in range(ids))).blocks

    assert blocks == {f"a{number}": (1, number + 1) for number in range(ids)}
