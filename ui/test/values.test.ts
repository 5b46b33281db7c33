import { describe, expect, it } from "vitest";

import { linesOf } from "../src/documents/place";
import { endOf } from "../src/documents/lines";
import { daysOf, sumBy } from "../src/lib/cost";
import { count, folderOf, money, nameOf, percent, plural, seconds, short } from "../src/lib/format";
import { boxOf, placed, zoomed } from "../src/lib/graph";
import { rowsOf } from "../src/lib/tree";

describe("numbers for people", () => {
  it.each([
    [count(1234567), "1,234,567"],
    [short(9999), "9,999"],
    [short(16384), "16.4k"],
    [short(1048576), "1.05M"],
    [money(null), "price unknown"],
    [money(0), "free"],
    [money(0.00001), "< $0.0001"],
    [money(0.0123), "$0.0123"],
    [money(1.5), "$1.50"],
    [percent(1, 3), "33 %"],
    [percent(0, 0), "0 %"],
    [percent(1, 5000), "< 0.1 %"],
    [plural(1, "note"), "1 note"],
    [plural(2, "note"), "2 notes"],
    [seconds(812), "812 ms"],
    [seconds(1812), "1.8 s"],
    [nameOf("Garden/Soil.md"), "Soil"],
    [folderOf("Soil.md"), ""],
  ])("%s", (shown, wanted) => {
    expect(shown).toBe(wanted);
  });
});

describe("an address within a document", () => {
  const outline = [{ level: 2, text: "The **jar**", lines: [9, 20] as [number, number] }];
  const text = "a\nb ^Mark\nc";

  it.each([
    ["12-20", [12, 20]],
    ["7", [7, 7]],
    ["The jar", [9, 9]],
    ["Soil#the  jar", [9, 9]],
    ["^mark", [2, 2]],
    ["^other", null],
    ["No such heading", null],
  ])("%s", (at, lines) => {
    expect(linesOf(at, text, outline)).toEqual(lines);
  });
});

describe("line ends", () => {
  it.each([
    ["a\nb", "\n"],
    ["a\r\nb\r\n", "\r\n"],
    ["a\r\nb\n", "\n"],
    ["a\rb\r\n", "\n"],
    ["", "\n"],
  ])("of %j", (text, end) => {
    expect(endOf(text)).toBe(end);
  });
});

describe("the file tree", () => {
  const files = ["b.md", "a/z.md", "a/10.md", "a/2.md"].map((path) => ({ path, kind: "markdown", size: 1, modified_ms: 0 }));
  const names = (open: string[], filter = "") => rowsOf(files, new Set(open), filter).map((row) => row.path);

  it("shows folders first, folded", () => expect(names([])).toEqual(["a/", "b.md"]));
  it("sorts numbers as numbers", () => expect(names(["a/"])).toEqual(["a/", "a/2.md", "a/10.md", "a/z.md", "b.md"]));
  it("shows every match when filtered", () => expect(names([], "Z.M")).toEqual(["a/z.md"]));
});

describe("costs", () => {
  const group = { day: "2026-01-02", model: "m", category: "main", calls: 2, prompt: 10, cached: 4, completion: 3, cost: 0.5, open: 0, unknown: 0, priceless: 0, compared: 0, wrong: 0 };
  const sum = { calls: 2, prompt: 10, cached: 4, completion: 3, cost: 0.5, unknown: 0 };

  it("add up by whatever is asked for", () => {
    const twice = sumBy([group, { ...group, category: "tool", cost: null }], (one) => one.model);

    expect(twice).toEqual([{ name: "m", calls: 4, prompt: 20, cached: 8, completion: 6, cost: 0.5, unknown: 0 }]);
  });

  it("show days without a call too", () => {
    const days = daysOf([{ name: "2026-01-02", ...sum }], 3, Date.UTC(2026, 0, 3));

    expect(days.map((day) => [day.name, day.calls])).toEqual([["2026-01-01", 0], ["2026-01-02", 2], ["2026-01-03", 0]]);
  });
});

describe("the graph", () => {
  const edges = [{ source: 0, target: 1 }, { source: 1, target: 2 }];

  it("is always drawn the same, and no two nodes on one place", () => {
    const points = placed(30, edges);
    const places = new Set(points.map((point) => `${Math.round(point.x / 4)},${Math.round(point.y / 4)}`));

    expect(points).toEqual(placed(30, edges));
    expect(places.size).toBe(30);
  });

  it("keeps a note that nothing links to near the others", () => {
    const points = placed(31, edges);
    const far = (point: { x: number; y: number }): number => Math.hypot(point.x, point.y);

    expect(far(points[30]!)).toBeLessThan(1.5 * Math.max(...points.slice(0, 30).map(far)));
  });

  it("stays in its box, also when zoomed there and back", () => {
    const box = boxOf(placed(30, edges));
    const back = zoomed(zoomed(box, 2, 0.3, 0.7), 0.5, 0.3, 0.7);

    expect([back.width, back.height].map(Math.round)).toEqual([box.width, box.height].map(Math.round));
  });
});
