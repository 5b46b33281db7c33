/** What can clash with files as they are now, and how it is asked for and called. */

import * as api from "../api/client";

export interface Merging {
  key: string; // one for each change that is decided
  load: () => Promise<api.MergeState>;
  preview: (resolution: api.Resolution, signal: AbortSignal) => Promise<api.Shown>;
  apply: (agreed: api.AgreedResolution) => Promise<api.EditOutcome>;
  words: Words;
}

export interface Begun {
  merge: api.MergeState;
  choices: Record<string, (api.ClashChoice | null)[]>;
}

/** What was decided and not written yet, by key: it outlives a look at another pane. */
export const begun = new Map<string, Begun>();

export interface Words {
  base: string; // over the text that both sides began with
  side: string; // over the text that the change wants
  take: string;
  takeAll: string;
  leave: string; // decides nothing and writes nothing
}

const PROPOSAL: Words = {
  base: "Before both",
  side: "The proposal",
  take: "Take the proposal",
  takeAll: "Take the proposal everywhere",
  leave: "Refuse",
};

const APPLIED = "As it was applied";
const BEFORE = "Before it was applied";
const TURNS: Record<api.Way, Words> = {
  undo: { base: APPLIED, side: BEFORE, take: "Undo it here", takeAll: "Undo it everywhere", leave: "Cancel" },
  redo: { base: BEFORE, side: APPLIED, take: "Redo it here", takeAll: "Redo it everywhere", leave: "Cancel" },
};

export function ofProposal(id: string): Merging {
  return {
    key: id,
    load: () => api.merge(id),
    preview: (resolution, signal) => api.previewMerge(id, resolution, signal),
    apply: (agreed) => api.applyMerge(id, agreed),
    words: PROPOSAL,
  };
}

export function ofTurn(id: string, way: api.Way): Merging {
  return {
    key: `${way}:${id}`,
    load: () => api.mergeTurn(id, way),
    preview: (resolution, signal) => api.previewTurn(id, way, resolution, signal),
    apply: (agreed) => api.applyTurn(id, way, agreed),
    words: TURNS[way],
  };
}
