import { describe, expect, it } from "vitest";

import { Names, readWikilink } from "../src/lib/wikilinks";

describe("a link's parts", () => {
  it.each([
    ["Soil", { target: "Soil", fragment: "", shown: "Soil" }],
    ["Soil|the earth", { target: "Soil", fragment: "", shown: "the earth" }],
    ["Soil\\|the earth", { target: "Soil", fragment: "", shown: "the earth" }],
    ["Soil#The jar", { target: "Soil", fragment: "The jar", shown: "Soil › The jar" }],
    ["#The jar", { target: "", fragment: "The jar", shown: "The jar" }],
    ["Soil#^block", { target: "Soil", fragment: "^block", shown: "Soil › block" }],
  ])("of %s", (written, parts) => {
    expect(readWikilink(written)).toEqual(parts);
  });
});

describe("the file that a link means", () => {
  const names = new Names(["Log.md", "Oven/Log.md", "Oven/Wood.md", "a/b/Wood.md", "code/run.py", "Oven/Brötchen.md"]);

  it.each([
    ["Log", "", "Log.md"],
    ["Oven/Log", "", "Oven/Log.md"],
    ["log.MD", "", "Log.md"],
    ["Wood", "", "a/b/Wood.md"],
    ["Wood", "Oven/Log.md", "Oven/Wood.md"],
    ["b/Wood", "", "a/b/Wood.md"],
    ["./Wood", "Oven/Log.md", "Oven/Wood.md"],
    ["../Log", "Oven/Wood.md", "Log.md"],
    ["../../Log", "Oven/Wood.md", undefined],
    ["./Nothing", "Oven/Log.md", undefined],
    ["run.py", "", "code/run.py"],
    ["run", "", undefined],
    ["Bro\u0308tchen", "", "Oven/Brötchen.md"],
    ["Nowhere", "", undefined],
  ])("%s in “%s”", (target, source, path) => {
    expect(names.find(target, source)).toBe(path);
  });
});
