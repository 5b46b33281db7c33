/** Paths as a tree, and the rows of it that can be seen. */

import type { FileEntry } from "../api/client";

export interface Row {
  path: string;
  name: string;
  depth: number;
  folder: boolean;
  open: boolean;
}

interface Folder {
  folders: Map<string, Folder>;
  files: FileEntry[];
}

const byName = new Intl.Collator("en", { numeric: true, sensitivity: "base" });

/** Rows from the top: folders first, then files; inside folded folders nothing. With a filter, all that match. */
export function rowsOf(files: readonly FileEntry[], open: ReadonlySet<string>, filter: string): Row[] {
  const wanted = filter.trim().toLowerCase();
  if (wanted) {
    return files
      .filter((file) => file.path.toLowerCase().includes(wanted))
      .slice(0, 500)
      .map((file) => ({ path: file.path, name: file.path, depth: 0, folder: false, open: false }));
  }
  const rows: Row[] = [];
  walk(grown(files), "", 0, open, rows);
  return rows;
}

function grown(files: readonly FileEntry[]): Folder {
  const root: Folder = { folders: new Map(), files: [] };
  for (const file of files) {
    let at = root;
    for (const name of file.path.split("/").slice(0, -1)) {
      let next = at.folders.get(name);
      if (!next) at.folders.set(name, (next = { folders: new Map(), files: [] }));
      at = next;
    }
    at.files.push(file);
  }
  return root;
}

function walk(folder: Folder, prefix: string, depth: number, open: ReadonlySet<string>, rows: Row[]): void {
  for (const name of [...folder.folders.keys()].sort(byName.compare)) {
    const path = `${prefix}${name}/`;
    const isOpen = open.has(path);
    rows.push({ path, name, depth, folder: true, open: isOpen });
    if (isOpen) walk(folder.folders.get(name)!, path, depth + 1, open, rows);
  }
  for (const file of [...folder.files].sort((a, b) => byName.compare(a.path, b.path))) {
    rows.push({ path: file.path, name: file.path.slice(prefix.length), depth, folder: false, open: false });
  }
}
