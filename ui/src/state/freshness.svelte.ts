/** Whether the documents behind references are still what was quoted; asked once per document. */

import * as api from "../api/client";

class Freshness {
  #known = $state<Record<string, api.Fresh>>({});
  #asked = new Set<string>();

  of(reference: api.Reference): api.Fresh | undefined {
    return this.#known[keyOf(reference)];
  }

  look(references: readonly api.Reference[]): void {
    const wanted = references.filter((one) => one.path !== null && one.fingerprint && !this.#asked.has(keyOf(one)));
    if (wanted.length === 0) return;
    for (const one of wanted) this.#asked.add(keyOf(one));
    void this.#ask(wanted);
  }

  /** A file was saved or edited: what is known of it is not known any more. */
  forget(path: string): void {
    for (const key of [...this.#asked]) if (key.startsWith(`${path}\n`)) this.#asked.delete(key);
  }

  async #ask(references: api.Reference[]): Promise<void> {
    try {
      const { states } = await api.freshness(references);
      states.forEach((state, index) => {
        this.#known[keyOf(references[index]!)] = state;
      });
    } catch {
      // Unknown is shown as it was; it is asked again with the next turn.
      for (const one of references) this.#asked.delete(keyOf(one));
    }
  }
}

function keyOf(reference: api.Reference): string {
  return `${reference.path}\n${reference.fingerprint}\n${reference.lines?.join("-") ?? ""}`;
}

export const freshness = new Freshness();
