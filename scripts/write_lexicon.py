"""Writes the table of word meanings, ``src/sill/lexicon/english.bin``.

    python scripts/write_lexicon.py WORDS [--embedder FOLDER]

WORDS is a list of English words, one a line (the table that is shipped was made from SCOWL's small American one);
the words that the embedder's tokenizer knows as such are added. Each word is embedded by itself; the forms of one
stem are averaged, what all words have in common is taken away, and what is left is reduced to the directions in
which words differ most, turned so that every direction says as much, and cut to above, below or neither.
"""

import argparse
import json
import re
from pathlib import Path
from typing import Any

import numpy

from sill.adapters.embed import fetch
from sill.adapters.embed.minilm import MiniLM
from sill.core.lexicon import DIRECTIONS
from sill.core.stems import COMMON, stem
from sill.lexicon import packed

OUT = Path(__file__).resolve().parent.parent / "src" / "sill" / "lexicon" / "english.bin"
_WORD = re.compile(r"[a-z]{3,}")
_AT_ONCE = 2_000
_NEITHER = 0.61  # of a standard deviation from the middle: loses least when values are cut to three


def known_words(lines: Path, folder: Path) -> list[str]:
    tokenizer = json.loads((folder / fetch.TOKENIZER).read_text(encoding="utf-8"))
    pieces: dict[str, int] = tokenizer["model"]["vocab"]
    listed = lines.read_text(encoding="utf-8").split("\n")
    words = {word for word in (*pieces, *listed) if _WORD.fullmatch(word)}
    return sorted(words - COMMON)


def meanings(words: list[str], folder: Path) -> tuple[list[str], Any]:
    """The stems, and a vector for each."""
    embedder = MiniLM(folder)
    parts = [embedder.embed_now(words[at : at + _AT_ONCE]) for at in range(0, len(words), _AT_ONCE)]
    vectors = numpy.array([vector for part in parts for vector in part], dtype=numpy.float32)
    forms: dict[str, list[int]] = {}
    for at, word in enumerate(words):
        forms.setdefault(stem(word), []).append(at)
    stems = sorted(forms)
    found = numpy.array([vectors[forms[one]].mean(axis=0) for one in stems])
    found -= found.mean(axis=0)
    return stems, found / numpy.linalg.norm(found, axis=1, keepdims=True)


def codes(vectors: Any) -> bytes:
    _, _, directions = numpy.linalg.svd(vectors, full_matrices=False)
    reduced = vectors @ directions[:DIRECTIONS].T
    turn, _ = numpy.linalg.qr(numpy.random.default_rng(7).standard_normal((DIRECTIONS, DIRECTIONS)))
    turned = reduced @ turn
    edge = _NEITHER * turned.std(axis=0)
    above, below = (numpy.packbits(side, axis=1) for side in (turned > edge, turned < -edge))
    return numpy.hstack([above, below]).tobytes()


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("words", type=Path)
    parser.add_argument("--embedder", type=Path, default=None)
    options = parser.parse_args()
    folder = fetch.make(options.embedder)
    stems, vectors = meanings(known_words(options.words, folder), folder)
    table = packed(stems, codes(vectors))
    OUT.write_bytes(table)
    print(f"{len(stems):,} stems, {len(table):,} bytes")


if __name__ == "__main__":
    main()
