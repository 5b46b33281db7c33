"""Collections of the SMART format, of which none comes with a package, are read as they have been handed on."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "bench"))

from data_classic import CISI, CRANFIELD, load
from data_docs import Set

CRANFIELD_FILES = {
    "cran.all.1400": """.I 1
.T
wings in a
slipstream .
.A
somebody,m.
.B
a journal, 1958.
.W
wings in a slipstream .
  lift of a wing was
measured .
.I 2
.T
a plate in
shear flow
.A
.B
.W
viscous flow .I past a plate
.X marks the edge
.I 3
.T
.A
.B
.W
""",
    "cran.qry": """.I 001
.W
what is the lift
of a wing .
.I 004
.W
how does a plate disturb the flow .
.I 008
.W
who asked this .
""",
    # The third column says how much a document answers; -1 is not at all.
    "cranqrel": "1 1 2\n1 2 -1\n2 2 3 \n2 99 1\n3 1 -1\n",
    "cranqrel.readme": "The third column says how much a document answers.\n",
}

CISI_FILES = {
    "CISI.ALL": """.I 1
.T
Libraries
.A
Somebody, A.
.W
   How libraries keep
their books.
.X
1	5	1
2	1	1
.I 2
.T
Readers
.A
Somebody, B.
.W
What readers ask for.
.X
2	5	2
""",
    "CISI.QRY": """.I 1
.W
How are books kept?
.I 5
.T
A title
.A
An author
.W
What is asked for?
.B
(a journal)
""",
    "CISI.REL": "     1      1\t0\t0.000000\n     5      2\t0\t0.000000\n     5      1\t0\t0.000000\n",
}


def folder(tmp_path, files):
    inner = tmp_path / "as it was unpacked"
    inner.mkdir()
    for name, text in files.items():
        (inner / name).write_text(text)
    return tmp_path


def test_cranfield_counts_its_questions_and_leaves_out_what_is_of_no_interest(tmp_path):
    assert load(CRANFIELD, folder(tmp_path, CRANFIELD_FILES)) == Set(
        "Cranfield",
        {
            "1": "# wings in a slipstream .\n\nwings in a slipstream .\n  lift of a wing was\nmeasured .\n",
            "2": "# a plate in shear flow\n\nviscous flow .I past a plate\n.X marks the edge\n",
            "3": "# \n\n\n",
        },
        [
            ("what is the lift of a wing .", {"1": 1}),
            ("how does a plate disturb the flow .", {"2": 1}),
        ],
    )


@pytest.mark.parametrize(
    "spelling", [pytest.param(str.upper, id="upper case"), pytest.param(str.lower, id="lower case")]
)
def test_cisi_is_judged_by_the_numbers_of_its_questions(tmp_path, spelling):
    files = {spelling(name): text for name, text in CISI_FILES.items()}

    assert load(CISI, folder(tmp_path, files)) == Set(
        "CISI",
        {
            "1": "# Libraries\n\nHow libraries keep\ntheir books.\n",
            "2": "# Readers\n\nWhat readers ask for.\n",
        },
        [("How are books kept?", {"1": 1}), ("What is asked for?", {"2": 1, "1": 1})],
    )


def test_a_folder_without_a_collection_says_which_file_is_missing(tmp_path):
    (tmp_path / "cran.all.1400").write_text(".I 1\n.W\nx\n")

    with pytest.raises(FileNotFoundError, match=r"cran\.qry"):
        load(CRANFIELD, tmp_path)
