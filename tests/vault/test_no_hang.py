"""No file makes the reader hang: time grows with size and no faster, whatever stands in it.

Each pattern was once compared at doubled sizes; those that grew faster have been mended and stay here. The
deadline is a guard against hanging, many times what a slow machine needs.
"""

import subprocess
import sys

import pytest

SIZE = 1_000_000
DEADLINE = 120  # seconds for all

READ = """
import sys
from sill.adapters.index.parse import parse_file
from sill.adapters.vault.scan import Entry
from sill.core.outline import outline
from sill.core.quotes import check_quotations
from sill.core.references import typed_links
from sill.core.resolve import Files

data = sys.stdin.buffer.read()
text = data.decode(errors="replace")
parsed = parse_file(Entry("hostile.md", "markdown", len(data), 0, 0), data)
outline(text)
typed_links(text, Files(["a.md", "b/a.md"]), {}, {})
check_quotations(text, {"hostile.md": text})
print(len(parsed.passages), len(parsed.links))
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
def test_every_hostile_file_is_read_to_its_end():
    texts = {name: (piece * SIZE)[:SIZE].encode() for name, piece in PATTERNS.items()}
    texts |= {name: text.encode() for name, text in WHOLE.items()}
    texts["invalid UTF-8"] = b"\xff\xed\xa0" * (SIZE // 3)

    left = {}
    for name, data in texts.items():
        done = subprocess.run(
            [sys.executable, "-c", READ],
            input=data,
            capture_output=True,
            timeout=DEADLINE,
        )
        if done.returncode != 0:
            left[name] = done.stderr.decode()[-300:]

    assert left == {}


@pytest.mark.parametrize("ids", [pytest.param(10, id="ten"), pytest.param(5_000, id="thousands")])
def test_a_paragraph_of_ids_names_the_same_lines_however_long_it_is(ids):
    from sill.core.outline import outline

    blocks = outline("".join(f"x ^a{number}\n" for number in range(ids))).blocks

    assert blocks == {f"a{number}": (1, number + 1) for number in range(ids)}
