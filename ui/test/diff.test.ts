import { describe, expect, it } from "vitest";

import { marked, rowsOf, stacked, startsOf } from "../src/lib/diff";

const plain = (text: string) => [{ text, changed: false }];

describe("a hunk", () => {
  it("says where it begins", () => {
    expect([startsOf("@@ -12,3 +14,4 @@ def f"), startsOf("@@ -1 +1 @@"), startsOf("?")]).toEqual([
      [12, 14],
      [1, 1],
      [1, 1],
    ]);
  });

  it("pairs removed lines with added ones and counts on both sides", () => {
    const rows = rowsOf("@@ -3,3 +3,4 @@", [" a", "-old text", "+new text", "+more", " z", "\\ No newline at end of file"]);

    expect(rows).toEqual([
      { kind: "same", before: { number: 3, pieces: plain("a") }, after: { number: 3, pieces: plain("a") } },
      {
        kind: "changed",
        before: { number: 4, pieces: [{ text: "old", changed: true }, { text: " text", changed: false }] },
        after: { number: 4, pieces: [{ text: "new", changed: true }, { text: " text", changed: false }] },
      },
      { kind: "changed", before: null, after: { number: 5, pieces: [{ text: "more", changed: true }] } },
      { kind: "same", before: { number: 5, pieces: plain("z") }, after: { number: 6, pieces: plain("z") } },
    ]);
  });

  it("in one column shows every line of it once, removed ones first", () => {
    const lines = [" a", "-b", "-c", "+B", "+C", " d", "-e", " f", "+g"];
    const shown = stacked(rowsOf("@@ -1,6 +1,6 @@", lines)).map(
      ({ sign, line }) => sign + line.pieces.map((piece) => piece.text).join(""),
    );

    expect(shown).toEqual(lines);
  });
});

describe("marks within a line", () => {
  it.each([
    ["milk", "oat milk", [["milk"], ["[oat ]", "milk"]]],
    ["same", "same", [["same"], ["same"]]],
    ["", "all new", [[], ["[all new]"]]],
    ["a b c", "a x c", [["a ", "[b]", " c"], ["a ", "[x]", " c"]]],
  ])("%s → %s", (before, after, shown) => {
    const marks = marked(before, after).map((side) => side.map((piece) => (piece.changed ? `[${piece.text}]` : piece.text)));

    expect(marks).toEqual(shown);
  });
});
