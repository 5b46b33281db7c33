/** What was spent, added up by whatever one wants to see. */

import type { Cost } from "../api/client";

export interface Sum {
  name: string;
  calls: number;
  prompt: number;
  cached: number;
  completion: number;
  cost: number;
  unknown: number; // calls whose price nobody knows
}

export function sumBy(groups: Cost["groups"], name: (group: Cost["groups"][number]) => string): Sum[] {
  const sums = new Map<string, Sum>();
  for (const group of groups) {
    const key = name(group);
    const sum = sums.get(key) ?? { name: key, calls: 0, prompt: 0, cached: 0, completion: 0, cost: 0, unknown: 0 };
    sum.calls += group.calls;
    sum.prompt += group.prompt;
    sum.cached += group.cached;
    sum.completion += group.completion;
    sum.cost += group.cost ?? 0;
    sum.unknown += group.unknown;
    sums.set(key, sum);
  }
  return [...sums.values()];
}

/** Every day of the period, those without a call too. */
export function daysOf(sums: readonly Sum[], days: number, now: number): Sum[] {
  const known = new Map(sums.map((sum) => [sum.name, sum]));
  return Array.from({ length: days }, (_, index) => {
    const name = new Date(now - (days - 1 - index) * 86_400_000).toISOString().slice(0, 10);
    return known.get(name) ?? { name, calls: 0, prompt: 0, cached: 0, completion: 0, cost: 0, unknown: 0 };
  });
}
