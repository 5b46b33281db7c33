/** A hunk of a unified diff as rows to look at: beside each other or below each other. */

export interface Piece {
  text: string;
  changed: boolean;
}

export interface Line {
  number: number;
  pieces: Piece[];
}

export interface Row {
  kind: "same" | "changed";
  before: Line | null;
  after: Line | null;
}

/** The first lines of a hunk on both sides, from `@@ -12,3 +14,4 @@`. */
export function startsOf(header: string): [number, number] {
  const match = /@@ -(\d+)(?:,\d+)? \+(\d+)/.exec(header);
  return match ? [Number(match[1]), Number(match[2])] : [1, 1];
}

/** Rows for two columns: removed and added lines that belong together share one. */
export function rowsOf(header: string, lines: readonly string[]): Row[] {
  let [before, after] = startsOf(header);
  const rows: Row[] = [];
  let removed: string[] = [];
  let added: string[] = [];

  function flush(): void {
    for (let index = 0; index < Math.max(removed.length, added.length); index++) {
      const old = removed[index];
      const young = added[index];
      const [oldPieces, youngPieces] = old !== undefined && young !== undefined ? marked(old, young) : [whole(old), whole(young)];
      rows.push({
        kind: "changed",
        before: old === undefined ? null : { number: before++, pieces: oldPieces },
        after: young === undefined ? null : { number: after++, pieces: youngPieces },
      });
    }
    removed = [];
    added = [];
  }

  for (const line of lines) {
    const text = line.slice(1);
    if (line.startsWith("-")) {
      if (added.length > 0) flush();
      removed.push(text);
    } else if (line.startsWith("+")) {
      added.push(text);
    } else if (!line.startsWith("\\")) {
      flush();
      const pieces = [{ text, changed: false }];
      rows.push({ kind: "same", before: { number: before++, pieces }, after: { number: after++, pieces } });
    }
  }
  flush();
  return rows;
}

function whole(text: string | undefined): Piece[] {
  return text === undefined ? [] : [{ text, changed: true }];
}

const MOST_WORDS = 400;

/** What differs within two lines that took each other's place, word by word. */
export function marked(before: string, after: string): [Piece[], Piece[]] {
  const old = words(before);
  const young = words(after);
  if (old.length > MOST_WORDS || young.length > MOST_WORDS) return [whole(before), whole(after)];
  const common = longestCommon(old, young);
  return [joined(old, common.map(([index]) => index)), joined(young, common.map(([, index]) => index))];
}

function words(text: string): string[] {
  return text.match(/\p{L}+|\p{N}+|\s+|./gu) ?? [];
}

function longestCommon(old: string[], young: string[]): [number, number][] {
  const width = young.length + 1;
  const best = new Uint16Array((old.length + 1) * width);
  for (let i = old.length - 1; i >= 0; i--) {
    for (let j = young.length - 1; j >= 0; j--) {
      best[i * width + j] =
        old[i] === young[j]
          ? best[(i + 1) * width + j + 1]! + 1
          : Math.max(best[(i + 1) * width + j]!, best[i * width + j + 1]!);
    }
  }
  const pairs: [number, number][] = [];
  for (let i = 0, j = 0; i < old.length && j < young.length; ) {
    if (old[i] === young[j]) pairs.push([i++, j++]);
    else if (best[(i + 1) * width + j]! >= best[i * width + j + 1]!) i++;
    else j++;
  }
  return pairs;
}

function joined(all: string[], same: number[]): Piece[] {
  const kept = new Set(same);
  const pieces: Piece[] = [];
  all.forEach((word, index) => {
    const changed = !kept.has(index);
    const last = pieces.at(-1);
    if (last?.changed === changed) last.text += word;
    else pieces.push({ text: word, changed });
  });
  return pieces;
}

/** The same rows for one column: removed lines stand before the added ones of their group. */
export function stacked(rows: readonly Row[]): { sign: " " | "-" | "+"; line: Line; other: number | null }[] {
  const lines: { sign: " " | "-" | "+"; line: Line; other: number | null }[] = [];
  for (let index = 0; index < rows.length; ) {
    const row = rows[index]!;
    if (row.kind === "same") {
      lines.push({ sign: " ", line: row.after!, other: row.before!.number });
      index++;
      continue;
    }
    let end = index;
    while (end < rows.length && rows[end]!.kind === "changed") end++;
    const group = rows.slice(index, end);
    for (const { before } of group) if (before) lines.push({ sign: "-", line: before, other: null });
    for (const { after } of group) if (after) lines.push({ sign: "+", line: after, other: null });
    index = end;
  }
  return lines;
}
