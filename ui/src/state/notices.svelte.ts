/** What just happened, in one line, for a few seconds; and failures until they are read. */

import { Failure } from "../api/http";

export interface Told {
  id: number;
  text: string;
  level: "info" | "warning" | "error";
  action?: { label: string; run: () => void };
}

class Notices {
  list = $state<Told[]>([]);
  #last = 0;

  tell(text: string, level: Told["level"] = "info", action?: Told["action"]): void {
    const id = ++this.#last;
    this.list.push(action ? { id, text, level, action } : { id, text, level });
    if (this.list.length > 4) this.list.splice(0, this.list.length - 4);
    if (level !== "error") setTimeout(() => this.drop(id), action ? 9000 : 5000);
  }

  drop(id: number): void {
    this.list = this.list.filter((one) => one.id !== id);
  }

  failed(error: unknown): void {
    if (error instanceof DOMException && error.name === "AbortError") return;
    // The banner at the top says it once for all that is offline.
    if (error instanceof Failure && error.isOffline) return;
    this.tell(error instanceof Error ? error.message : String(error), "error");
  }
}

export const notices = new Notices();
