/** Which lines of a document an address such as `12-20`, `A heading` or `^block` means. */

import type { Links } from "../api/client";

export function linesOf(at: string, text: string, outline: Links["outline"]): [number, number] | null {
  const span = /^(\d+)(?:-(\d+))?$/.exec(at);
  if (span) return [Number(span[1]), Number(span[2] ?? span[1])];
  if (at.startsWith("^")) {
    const id = at.slice(1).toLowerCase();
    const line = text.split("\n").findIndex((row) => row.trimEnd().toLowerCase().endsWith(`^${id}`));
    return line < 0 ? null : [line + 1, line + 1];
  }
  const wanted = plain(at.split("#").at(-1)!);
  const heading = outline.find((one) => plain(one.text) === wanted);
  return heading ? [heading.lines[0], heading.lines[0]] : null;
}

function plain(heading: string): string {
  return heading
    .replace(/[#|^:%[\]*_`]/g, " ")
    .replace(/\s+/g, " ")
    .trim()
    .toLowerCase();
}
