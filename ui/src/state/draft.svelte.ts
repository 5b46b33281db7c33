/** The message that is being written: its text, its files, and what sending it would take. */

import * as api from "../api/client";
import { Failure } from "../api/http";
import { conversation, keepDraft, keptDraft } from "./conversation.svelte";

const PAUSE = 120; // ms without a key before the server is asked what the message takes
const FILES = "sill.files.";

class Draft {
  text = $state("");
  files = $state<string[]>([]);
  planned = $state.raw<api.Planned | null>(null);
  planning = $state(false);
  problem = $state("");
  instead = $state<string | null>(null); // the turn whose question this one replaces
  #chat: string | null = null;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #asking: AbortController | null = null;

  /** Begin with what was typed in `chat` before. */
  open(chat: string | null): void {
    this.#chat = chat;
    this.text = keptDraft(chat);
    this.files = keptFiles(chat);
    this.instead = null;
    this.planned = null;
    this.replan(0);
  }

  changed(): void {
    keepDraft(this.#chat, this.text);
    this.replan();
  }

  attach(path: string): void {
    if (this.files.includes(path)) return;
    this.files = [...this.files, path];
    this.#keepFiles();
  }

  detach(path: string): void {
    this.files = this.files.filter((one) => one !== path);
    this.#keepFiles();
  }

  #keepFiles(): void {
    const name = FILES + (this.#chat ?? "new");
    if (this.files.length > 0) localStorage.setItem(name, JSON.stringify(this.files));
    else localStorage.removeItem(name);
    this.replan(0);
  }

  replan(pause = PAUSE): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => void this.#plan(), pause);
  }

  async #plan(): Promise<void> {
    this.#asking?.abort();
    const asking = new AbortController();
    this.#asking = asking;
    this.planning = true;
    try {
      this.planned = await api.plan({ text: this.text, chat: this.#chat, files: this.files }, asking.signal);
      this.problem = "";
    } catch (error) {
      if (asking.signal.aborted) return;
      this.planned = null;
      this.problem = error instanceof Failure ? error.message : String(error);
      if (error instanceof Failure && error.code === "starting") this.replan(900);
    } finally {
      if (this.#asking === asking) this.planning = false;
    }
  }

  /** Send it; the text stays where it is until the server has taken it. */
  async send(): Promise<void> {
    const text = this.text;
    if (!text.trim() || conversation.live) return;
    if (!(await conversation.ask(text, this.files, this.instead))) return;
    keepDraft(this.#chat, "");
    if (this.#chat === null) {
      localStorage.removeItem(`${FILES}new`);
      this.#chat = conversation.chat;
      this.#keepFiles();
    }
    this.instead = null;
    if (this.text === text) this.text = "";
    this.replan(0);
  }
}

function keptFiles(chat: string | null): string[] {
  try {
    const kept: unknown = JSON.parse(localStorage.getItem(FILES + (chat ?? "new")) ?? "[]");
    return Array.isArray(kept) ? kept.filter((one) => typeof one === "string") : [];
  } catch {
    return [];
  }
}

export const draft = new Draft();
