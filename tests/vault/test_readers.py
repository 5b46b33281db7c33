"""A great many files are read by processes of their own, and become the same rows in the same order."""

import io
import marshal
import struct
import sys
from pathlib import Path

import pytest

from sill.adapters.index import reader, readers
from sill.adapters.index.rows import read_rows
from sill.adapters.vault.scan import Entry, scan

NOTES = 30


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    root = tmp_path_factory.mktemp("readers")
    for number in range(NOTES):
        text = f"---\naliases: [n{number}]\ntags: [x]\n---\n# Ñote {number}\n\nwörds, [[Note {number}|é]]\n"
        (root / f"Note {number}.md").write_text(text)
    (root / "code.py").write_text("def f(): ...\n")
    (root / "half.md").write_bytes(b"\xed\xa0\x80 half, and \xff")
    (root / "picture.png").write_bytes(b"\x89PNG")
    (root / "empty.md").write_text("")
    return root


def batches(root):
    entries = scan(root).entries
    return [entries[start : start + 7] for start in range(0, len(entries), 7)]


@pytest.mark.parametrize(
    "executable",
    [
        pytest.param(sys.executable, id="processes that read"),
        pytest.param("/bin/false", id="processes that die at once"),
        pytest.param("/nowhere/python", id="processes that cannot be started"),
        pytest.param("", id="an interpreter that does not know where it is"),
    ],
)
def test_the_rows_are_the_same_whoever_reads_the_files(folder, monkeypatch, executable):
    monkeypatch.setattr(sys, "executable", executable)
    read_here = [read_rows(folder, batch) for batch in batches(folder)]

    assert list(readers.read_on_cores(folder, batches(folder), 3)) == read_here


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_no_process_is_left_when_the_reading_is_given_up(folder):
    before = children()

    rows = readers.read_on_cores(folder, batches(folder), 2)
    next(rows)
    assert len(children() - before) == 2
    rows.close()

    assert children() == before


@pytest.mark.parametrize(
    "sizes, expected",
    [
        pytest.param([], [], id="nothing"),
        pytest.param([10] * 3, [3], id="few"),
        pytest.param([10] * 251, [250, 1], id="many files"),
        pytest.param([600_000] * 5, [2, 2, 1], id="large files"),
    ],
)
def test_batches_are_of_so_many_files_or_bytes(tmp_path, sizes, expected):
    entries = [Entry(f"{n}.md", "markdown", size, 0, 0) for n, size in enumerate(sizes)]

    found = list(readers.read_all(tmp_path, entries))

    assert [len(rows) for rows in found] == expected
    assert [row.path for rows in found for row in rows] == [entry.path for entry in entries]


def test_a_reader_answers_each_batch_until_its_input_ends(folder):
    first, second, *_ = batches(folder)
    asked, answered = io.BytesIO(), io.BytesIO()
    for batch in (first, second):
        reader.send(asked, [(e.path, e.kind, e.size, e.mtime, e.inode) for e in batch])
    asked.seek(0)

    reader.serve(folder, asked, answered)

    answered.seek(0)
    answers = [reader.receive(answered), reader.receive(answered), reader.receive(answered)]
    assert [[values[0] for values in rows] for rows in answers[:2]] == [
        [entry.path for entry in first],
        [entry.path for entry in second],
    ]
    assert answers[2] is None


@pytest.mark.parametrize(
    "data",
    [
        pytest.param(b"", id="nothing"),
        pytest.param(b"\0\0", id="half a length"),
        pytest.param(struct.pack(">Q", 99) + marshal.dumps([1]), id="half a value"),
    ],
)
def test_an_answer_that_breaks_off_is_the_end_of_its_reader(data):
    with pytest.raises(EOFError):
        reader.ask([], io.BytesIO(), io.BytesIO(data))


def children() -> set[str]:
    tasks = Path("/proc/self/task").glob("*/children")
    return {pid for task in tasks for pid in task.read_text().split()}
