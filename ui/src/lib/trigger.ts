/** What is being typed at the caret: a note, a heading of one, a file, a command, or nothing of that. */

export interface Trigger {
  kind: "note" | "heading" | "file" | "command";
  from: number; // where the replaced text begins
  query: string;
  note: string; // whose headings are wanted
}

export function triggerAt(text: string, caret: number): Trigger | null {
  const before = text.slice(0, caret);
  const open = before.lastIndexOf("[[");
  if (open >= 0) {
    const inside = before.slice(open + 2);
    if (!/\]\]|\n|\|/.test(inside)) {
      const hash = inside.indexOf("#");
      if (hash < 0) return { kind: "note", from: open, query: inside, note: "" };
      return { kind: "heading", from: open, query: inside.slice(hash + 1), note: inside.slice(0, hash) };
    }
  }
  const file = /(^|\s)@([^\s@]*)$/.exec(before);
  if (file) return { kind: "file", from: caret - file[2]!.length - 1, query: file[2]!, note: "" };
  const command = /^\/([a-z]*)$/.exec(before);
  if (command) return { kind: "command", from: 0, query: command[1]!, note: "" };
  return null;
}
