/** Server-sent events, read from a stream of text. */

export interface ServerEvent {
  id: string;
  name: string;
  data: string;
}

/** Takes text as it comes, cut anywhere; gives the events that are whole. */
export class EventReader {
  #rest = "";
  #id = "";

  read(text: string): ServerEvent[] {
    const all = (this.#rest + text).replaceAll("\r\n", "\n");
    const ends = all.lastIndexOf("\n\n");
    if (ends < 0) {
      this.#rest = all;
      return [];
    }
    this.#rest = all.slice(ends + 2);
    return all
      .slice(0, ends)
      .split("\n\n")
      .flatMap((block) => this.#event(block));
  }

  #event(block: string): ServerEvent[] {
    let name = "message";
    const data: string[] = [];
    for (const line of block.split("\n")) {
      if (line.startsWith(":")) continue;
      const colon = line.indexOf(":");
      const field = colon < 0 ? line : line.slice(0, colon);
      const value = colon < 0 ? "" : line.slice(colon + 1).replace(/^ /, "");
      if (field === "event") name = value;
      else if (field === "data") data.push(value);
      else if (field === "id") this.#id = value;
    }
    return data.length === 0 ? [] : [{ id: this.#id, name, data: data.join("\n") }];
  }
}

export async function* eventsOf(response: Response): AsyncGenerator<ServerEvent> {
  const reader = new EventReader();
  const decoder = new TextDecoder();
  const body = response.body?.getReader();
  if (!body) return;
  try {
    for (;;) {
      const { done, value } = await body.read();
      if (done) return;
      yield* reader.read(decoder.decode(value, { stream: true }));
    }
  } finally {
    body.cancel().catch(() => undefined);
  }
}
