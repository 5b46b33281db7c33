/** Wikilinks as people write them, and which file of the vault one means. */

export interface Wikilink {
  target: string;
  fragment: string;
  shown: string;
}

/** The link inside `[[…]]`: target, then `#fragment`, then `|shown`. */
export function readWikilink(inside: string): Wikilink {
  const bar = inside.search(/\\?\|/);
  const name = bar < 0 ? inside : inside.slice(0, bar);
  const shown = bar < 0 ? "" : inside.slice(bar).replace(/^\\?\|/, "");
  const hash = name.indexOf("#");
  const target = (hash < 0 ? name : name.slice(0, hash)).trim();
  const fragment = hash < 0 ? "" : name.slice(hash + 1).trim();
  const usual = target && fragment ? `${target} › ${fragment.replace(/^\^/, "")}` : target || fragment;
  return { target, fragment, shown: shown.trim() || usual };
}

/** Files of the vault, ready to be looked up by what a link says. */
export class Names {
  readonly #byPath = new Map<string, string>();
  readonly #byEnding = new Map<string, string[]>();

  constructor(paths: Iterable<string> = []) {
    for (const path of paths) {
      this.#byPath.set(key(path), path);
      const parts = key(path).split("/");
      for (let from = 0; from < parts.length; from++) {
        const ending = parts.slice(from).join("/");
        const known = this.#byEnding.get(ending);
        if (known) known.push(path);
        else this.#byEnding.set(ending, [path]);
      }
    }
  }

  get size(): number {
    return this.#byPath.size;
  }

  /** The file that `target` means in a note at `source`, or nothing: exact path, own folder, shortest path. */
  find(target: string, source = ""): string | undefined {
    if (!target) return source || undefined;
    const folder = source.includes("/") ? source.slice(0, source.lastIndexOf("/") + 1) : "";
    const wanted = target.startsWith("./") || target.startsWith("../") ? joined(folder, target) : target;
    if (wanted === undefined) return undefined;
    for (const name of [wanted, `${wanted}.md`]) {
      const exact = this.#byPath.get(key(name));
      if (exact !== undefined) return exact;
    }
    if (wanted !== target) return undefined;
    for (const name of [wanted, `${wanted}.md`]) {
      const found = this.#byEnding.get(key(name));
      if (found === undefined) continue;
      const own = found.find((path) => path.slice(0, path.lastIndexOf("/") + 1) === folder);
      return own ?? [...found].sort((a, b) => a.length - b.length || (a < b ? -1 : 1))[0];
    }
    return undefined;
  }
}

function key(path: string): string {
  return path.normalize("NFC").toLowerCase();
}

function joined(folder: string, relative: string): string | undefined {
  const parts = folder.split("/").filter(Boolean);
  for (const step of relative.split("/")) {
    if (step === "" || step === ".") continue;
    if (step !== "..") parts.push(step);
    else if (parts.pop() === undefined) return undefined;
  }
  return parts.join("/");
}
