/** Changes the model proposed: which are open, and asking for one. */

import * as api from "../api/client";
import { chats } from "./chats.svelte";
import { conversation } from "./conversation.svelte";
import { draft } from "./draft.svelte";
import { notices } from "./notices.svelte";
import { route } from "./route.svelte";

class Proposals {
  list = $state.raw<api.ProposalInfo[]>([]);
  asking = $state<{ instruction: string; stop: AbortController } | null>(null);

  left = $state<Record<string, Record<string, number[]>>>({}); // hunks that are not taken, by proposal and file
  turning = $state.raw<{ edit: string; way: api.Way } | null>(null); // an undo or redo that clashes

  /** Let the user say what becomes of an undo or redo, in the history. */
  decide(edit: string, way: api.Way): void {
    this.turning = { edit, way };
    route.go({ side: "changes", proposal: null });
  }

  async load(): Promise<void> {
    if (conversation.chat === null) {
      this.list = [];
      return;
    }
    try {
      this.list = (await api.proposals(conversation.chat)).proposals;
    } catch (error) {
      notices.failed(error);
    }
  }

  /** The files that an instruction links to, as the server reads it. */
  async linkedIn(instruction: string): Promise<string[]> {
    try {
      const { links } = await api.plan({ text: instruction, chat: null, files: [] }, new AbortController().signal);
      return links.flatMap((link) => (link.path === null ? [] : [link.path]));
    } catch (error) {
      notices.failed(error);
      return [];
    }
  }

  /** Ask the model for a change; true where a proposal came of it. */
  async propose(instruction: string, files: string[], lines: [number, number] | null = null): Promise<boolean> {
    if (files.length === 0) {
      notices.tell("Name the files to change: [[a note]], @a file, or open one at the right.", "warning");
      return false;
    }
    const stop = new AbortController();
    this.asking = { instruction, stop };
    route.go({ side: "changes", proposal: null });
    try {
      const answer = await api.propose({ instruction, files, chat: conversation.chat, lines }, stop.signal);
      if (answer.chat && answer.chat !== conversation.chat) {
        await api.changeChat(answer.chat, { title: instruction.slice(0, 80) }).catch(() => undefined);
        void chats.load();
        await conversation.open(answer.chat);
        route.go({ chat: answer.chat });
        await draft.begun(answer.chat);
      } else {
        void conversation.load();
      }
      await this.load();
      if (answer.proposal) {
        route.go({ side: "changes", proposal: answer.proposal });
        return true;
      }
      notices.tell([answer.message, ...answer.problems].filter(Boolean).join("; ") || "Nothing was proposed.", "warning");
      return false;
    } catch (error) {
      notices.failed(error);
      return false;
    } finally {
      this.asking = null;
    }
  }
}

export const proposals = new Proposals();

addEventListener("sill:proposals", (event) => {
  const ids = (event as CustomEvent<string[]>).detail;
  void proposals.load();
  if (ids[0]) route.go({ side: "changes", proposal: ids[0] });
});
