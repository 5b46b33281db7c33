/** The window as groups that add up: every token of it belongs to exactly one. */

import type { PlanItem, PlanView } from "../api/client";

export type Group = "system" | "tools" | "files" | "history" | "recall" | "question" | "answer" | "reserve" | "free";

export const GROUPS: readonly Group[] = [
  "system",
  "tools",
  "files",
  "history",
  "recall",
  "question",
  "answer",
  "reserve",
  "free",
];

export const GROUP_NAMES: Record<Group, string> = {
  system: "System prompt",
  tools: "Tools",
  files: "Files",
  history: "History",
  recall: "Recall",
  question: "Question",
  answer: "Answer so far",
  reserve: "Reserved",
  free: "Free",
};

/** Which group an item of the plan belongs to. */
export function groupOf(item: PlanItem): Group {
  if (item.fate === "reserved") return "reserve";
  switch (item.kind) {
    case "system":
    case "overhead":
      return "system";
    case "tools":
      return "tools";
    case "file":
      return "files";
    case "recall":
      return "recall";
    case "question":
      return "question";
    default:
      return "history";
  }
}

export interface Segment {
  group: Group;
  tokens: number;
}

/** Tokens by group; their sum is the window, to the token. `answered` of them came since, out of the reserve. */
export function segmentsOf(plan: PlanView, answered = 0): Segment[] {
  const sums = new Map<Group, number>(GROUPS.map((group) => [group, 0]));
  for (const item of plan.items) {
    if (!item.in_prompt) continue;
    const group = groupOf(item);
    sums.set(group, sums.get(group)! + item.tokens);
  }
  const reserve = plan.reply + plan.margin;
  const free = Math.max(0, plan.window - plan.tokens - reserve);
  const over = Math.max(0, answered - reserve);
  sums.set("answer", Math.min(answered, reserve + free));
  sums.set("reserve", Math.max(0, reserve - answered));
  sums.set("free", Math.max(0, free - over));
  return GROUPS.map((group) => ({ group, tokens: sums.get(group)! }));
}

/** What a fate means, in a word or two. */
export const FATES: Record<string, string> = {
  kept: "kept",
  sent: "sent",
  updated: "updated",
  omitted: "left out",
  evicted: "evicted",
  recalled: "recalled",
  reserved: "reserved",
};

export interface Compared {
  item: PlanItem;
  before: PlanItem | undefined;
}

/** This turn's items beside the last one's. */
export function compare(now: readonly PlanItem[], before: readonly PlanItem[]): Compared[] {
  const known = new Map(before.map((item) => [`${item.kind}:${item.name}`, item]));
  return now.map((item) => ({ item, before: known.get(`${item.kind}:${item.name}`) }));
}
