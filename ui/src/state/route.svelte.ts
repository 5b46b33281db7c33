/** Where the reader is: kept in the address, so that reload, back and a second tab work. */

export type View = "chat" | "overview";
export type Side = "document" | "changes" | "window" | "none";
export type Topic = "cost" | "documents" | "graph" | "index" | "memory" | "settings";

export interface Place {
  view: View;
  topic: Topic;
  chat: string | null;
  side: Side;
  doc: string | null;
  at: string | null; // a heading, ^block or lines such as 12-20
  proposal: string | null;
  turn: string | null; // whose ledger is shown
}

const HOME: Place = {
  view: "chat",
  topic: "cost",
  chat: null,
  side: "none",
  doc: null,
  at: null,
  proposal: null,
  turn: null,
};

const OURS = { ours: true }; // marks the entries of the history that hold a whole place

const VIEWS: readonly View[] = ["chat", "overview"];
const SIDES: readonly Side[] = ["document", "changes", "window", "none"];
const TOPICS: readonly Topic[] = ["cost", "documents", "graph", "index", "memory", "settings"];

export function readPlace(hash: string): Place {
  const given = new URLSearchParams(hash.replace(/^#/, ""));
  const one = <T extends string>(name: string, known: readonly T[], usual: T): T =>
    known.find((value) => value === given.get(name)) ?? usual;
  return {
    view: one("view", VIEWS, HOME.view),
    topic: one("topic", TOPICS, HOME.topic),
    chat: given.get("chat"),
    side: one("side", SIDES, given.has("doc") ? "document" : HOME.side),
    doc: given.get("doc"),
    at: given.get("at"),
    proposal: given.get("proposal"),
    turn: given.get("turn"),
  };
}

export function writePlace(place: Place): string {
  const pairs = Object.entries(place).filter(
    ([name, value]) => value !== null && value !== HOME[name as keyof Place],
  ) as [string, string][];
  return pairs.length === 0 ? "#" : `#${new URLSearchParams(pairs)}`;
}

class Route {
  place = $state<Place>(readPlace(location.hash));

  constructor() {
    history.replaceState(OURS, "");
    addEventListener("popstate", () => this.#arrive());
    addEventListener("hashchange", () => this.#arrive());
  }

  /** Back and forward restore a whole place; a link inside a text names only the document, and the rest stays. */
  #arrive(): void {
    const read = readPlace(location.hash);
    const isLink = history.state === null;
    if (isLink && read.doc !== null && read.chat === null && read.view === "chat") {
      this.place = { ...this.place, side: "document", doc: read.doc, at: read.at };
      history.replaceState(OURS, "", writePlace(this.place));
    } else {
      this.place = read;
    }
  }

  go(change: Partial<Place>, replacing = false): void {
    this.place = { ...this.place, ...change };
    const hash = writePlace(this.place);
    if (hash === (location.hash || "#")) return;
    if (replacing) history.replaceState(OURS, "", hash);
    else history.pushState(OURS, "", hash);
  }

  open(path: string, at: string | null = null): void {
    this.go({ side: "document", doc: path, at, view: "chat" });
  }
}

export const route = new Route();
