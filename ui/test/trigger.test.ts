import { describe, expect, it } from "vitest";

import { triggerAt } from "../src/lib/trigger";

describe("what is being typed", () => {
  it.each([
    ["see [[So", { kind: "note", from: 4, query: "So", note: "" }],
    ["see [[Soil#Ac", { kind: "heading", from: 4, query: "Ac", note: "Soil" }],
    ["see [[Soil]] and", null],
    ["see [[Soil|ear", null],
    ["look at @src/m", { kind: "file", from: 8, query: "src/m", note: "" }],
    ["@", { kind: "file", from: 0, query: "", note: "" }],
    ["me@example", null],
    ["/ed", { kind: "command", from: 0, query: "ed", note: "" }],
    ["/edit this", null],
    ["and/or", null],
    ["", null],
  ])("%s", (text, trigger) => {
    expect(triggerAt(text, text.length)).toEqual(trigger);
  });
});
