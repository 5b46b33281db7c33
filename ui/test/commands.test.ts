import { describe, expect, it } from "vitest";

import { readCommand } from "../src/chat/commands";

describe("a message that is a command", () => {
  it.each([
    ["/edit shorten [[Soil]]", { name: "edit", rest: "shorten [[Soil]]" }],
    ["/edit two\nlines", { name: "edit", rest: "two\nlines" }],
    ["  /keys ", { name: "keys", rest: "" }],
    ["/nothing of that", null],
    ["/etc/hosts is a file", null],
    ["what is /edit", null],
    ["/", null],
  ])("%j", (text, expected) => {
    expect(readCommand(text)).toEqual(expected);
  });
});
