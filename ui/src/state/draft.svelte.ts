/** The message that is being written: its text, its files, and what sending it would take. */

import * as api from "../api/client";
import { Failure } from "../api/http";
import { conversation, keepDraft, keptDraft } from "./conversation.svelte";
import { workspace } from "./workspace.svelte";

const PAUSE = 120; // ms without a key before the server is asked what the message takes
const WAITING = "sill.files.new";

class Draft {
  text = $state("");
  planned = $state.raw<api.Planned | null>(null);
  planning = $state(false);
  problem = $state("");
  instead = $state<string | null>(null); // the turn whose question this one replaces
  #chat = $state<string | null>(null);
  #waiting = $state<string[]>([]); // attached before there is a chat that could keep them
  #timer: ReturnType<typeof setTimeout> | undefined;
  #asking: AbortController | null = null;

  /** Files that go with every message: pins of the chat, for whoever opens it and wherever. */
  get files(): string[] {
    return this.#chat === null ? this.#waiting : conversation.pinnedFiles;
  }

  /** Begin with what was typed in `chat` before. */
  open(chat: string | null): void {
    this.#chat = chat;
    this.text = keptDraft(chat);
    this.#waiting = chat === null ? waiting() : [];
    this.instead = null;
    this.planned = null;
    this.replan(0);
  }

  changed(): void {
    keepDraft(this.#chat, this.text);
    this.replan();
  }

  attach(path: string): void {
    if (!workspace.mayWrite || this.files.includes(path)) return;
    if (this.#chat === null) this.#wait([...this.#waiting, path]);
    else void conversation.pinFile(path, true);
  }

  detach(path: string): void {
    if (this.#chat === null) this.#wait(this.#waiting.filter((one) => one !== path));
    else void conversation.pinFile(path, false);
  }

  #wait(files: string[]): void {
    this.#waiting = files;
    if (files.length > 0) localStorage.setItem(WAITING, JSON.stringify(files));
    else localStorage.removeItem(WAITING);
    this.replan(0);
  }

  replan(pause = PAUSE): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => void this.#plan(), pause);
  }

  async #plan(): Promise<void> {
    this.#asking?.abort();
    // Before it is known who asks there is nothing to plan; a viewer sends nothing.
    if (workspace.session === null || !workspace.mayWrite) return;
    const asking = new AbortController();
    this.#asking = asking;
    this.planning = true;
    try {
      this.planned = await api.plan({ text: this.text, chat: this.#chat, files: this.#waiting }, asking.signal);
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
    const chat = this.#chat;
    if (!text.trim() || conversation.live) return;
    if (!(await conversation.ask(text, this.#waiting, this.instead))) return;
    // What was typed meanwhile, here or in another chat, is not what was sent.
    if (keptDraft(chat) === text) keepDraft(chat, "");
    if (this.#chat === chat) {
      this.instead = null;
      if (this.text === text) this.text = "";
      if (conversation.chat !== null) await this.begun(conversation.chat);
    }
    this.replan(0);
  }

  /** The chat is there now that this message had yet to begin: what waited for one goes with it. */
  async begun(chat: string): Promise<void> {
    if (this.#chat !== null) return;
    keepDraft(null, "");
    this.#chat = chat;
    keepDraft(chat, this.text);
    await Promise.all(this.#waiting.map((path) => conversation.pinFile(path, true)));
    this.#wait([]);
  }
}

function waiting(): string[] {
  try {
    const kept: unknown = JSON.parse(localStorage.getItem(WAITING) ?? "[]");
    return Array.isArray(kept) ? kept.filter((one) => typeof one === "string") : [];
  } catch {
    return [];
  }
}

export const draft = new Draft();
