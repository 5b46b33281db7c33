import { describe, expect, it } from "vitest";

import { EventReader } from "../src/api/sse";

const STREAM = 'id: 1\nevent: delta\ndata: {"kind":"delta"}\n\n: ping\n\nid: 2\r\nevent: finished\r\ndata: a\r\ndata: b\r\n\r\n';
const EVENTS = [
  { id: "1", name: "delta", data: '{"kind":"delta"}' },
  { id: "2", name: "finished", data: "a\nb" },
];

describe("server-sent events", () => {
  it("are the same however the text is cut", () => {
    for (let cut = 0; cut <= STREAM.length; cut++) {
      const reader = new EventReader();
      const read = [...reader.read(STREAM.slice(0, cut)), ...reader.read(STREAM.slice(cut))];

      expect(read).toEqual(EVENTS);
    }
  });

  it("come character by character", () => {
    const reader = new EventReader();

    expect([...STREAM].flatMap((character) => reader.read(character))).toEqual(EVENTS);
  });

  it("wait for the empty line", () => {
    expect(new EventReader().read("data: half")).toEqual([]);
  });
});
