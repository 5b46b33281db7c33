import { describe, expect, it } from "vitest";

import type { PlanItem, PlanView } from "../src/api/client";
import { compare, segmentsOf } from "../src/lib/shares";

const item = (kind: string, tokens: number, fate = "kept", in_prompt = true): PlanItem => ({
  kind,
  name: kind,
  tokens,
  fate,
  reason: "",
  new: 0,
  in_prompt,
});

const PLAN: PlanView = {
  tokens: 700,
  window: 2000,
  room: 1500,
  reply: 450,
  margin: 50,
  left: 800,
  percent: 46.7,
  next_evicts: false,
  epoch: 0,
  shares: [],
  items: [
    item("system", 90),
    item("overhead", 10),
    item("tools", 100),
    item("file", 200, "sent"),
    item("turn", 150),
    item("rounds", 50),
    item("recall", 40, "recalled"),
    item("question", 60, "sent"),
    item("turn", 999, "evicted", false),
    item("reply", 450, "reserved", false),
  ],
};

describe("the window's groups", () => {
  it("hold every token once and add up to the window", () => {
    const segments = Object.fromEntries(segmentsOf(PLAN).map(({ group, tokens }) => [group, tokens]));

    expect(segments).toEqual({
      system: 100,
      tools: 100,
      files: 200,
      history: 200,
      recall: 40,
      question: 60,
      answer: 0,
      reserve: 500,
      free: 800,
    });
    expect(Object.values(segments).reduce((sum, tokens) => sum + tokens, 0)).toBe(PLAN.window);
  });

  it.each([
    [120, { answer: 120, reserve: 380, free: 800 }],
    [700, { answer: 700, reserve: 0, free: 600 }],
    [9999, { answer: 1300, reserve: 0, free: 0 }],
  ])("give %i tokens of an answer out of the reserve, then out of what is free", (answered, expected) => {
    const segments = Object.fromEntries(segmentsOf(PLAN, answered).map(({ group, tokens }) => [group, tokens]));

    expect(segments).toMatchObject(expected);
    expect(Object.values(segments).reduce((sum, tokens) => sum + tokens, 0)).toBe(PLAN.window);
  });

  it("never show less than nothing as free", () => {
    const full = { ...PLAN, tokens: 1900 };

    expect(segmentsOf(full).find(({ group }) => group === "free")).toEqual({ group: "free", tokens: 0 });
  });
});

describe("two turns beside each other", () => {
  it("pairs items by kind and name", () => {
    const [now, before] = [item("file", 5), item("file", 9, "sent")];

    expect(compare([now, item("question", 1)], [before])).toEqual([
      { item: now, before },
      { item: item("question", 1), before: undefined },
    ]);
  });
});
