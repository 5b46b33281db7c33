/**
 * The chat that is open: its turns and the one that is being answered. A turn runs in the server; this only
 * reads its events, and reads on from the last one after a reload or a lost connection.
 */

import * as api from "../api/client";
import { Failure } from "../api/http";
import { unreachable } from "../lib/unreachable";
import { chats } from "./chats.svelte";
import { notices } from "./notices.svelte";
import { route } from "./route.svelte";

export interface Live {
  turn: string;
  chat: string;
  question: string;
  answer: string;
  thought: string;
  tools: { name: string; arguments: string; outcome: string }[];
  notices: { text: string; level: "info" | "warning" }[];
  plan: api.PlanView | null;
  certificate: api.Counted | null;
  tokens: number; // of the answer so far
  stopping: boolean;
}

const KEPT = "sill.draft.";
const LATEST = 60; // turns that are read first

class Conversation {
  chat = $state<string | null>(null);
  turns = $state.raw<api.Turn[]>([]);
  head = $state<string | null>(null);
  state = $state<"empty" | "loading" | "ready" | "failed">("empty");
  problem = $state("");
  live = $state<Live | null>(null);
  plan = $state.raw<api.PlanView | null>(null); // of the last request
  pins = $state.raw<api.Pin[]>([]);
  #reading: AbortController | null = null;
  #pinning: Promise<void> = Promise.resolve();
  #loads = 0;

  /** The turns of the branch that the chat goes on from. */
  get path(): api.Turn[] {
    return this.turns.filter((turn) => turn.on_path && turn.id !== this.live?.turn);
  }

  /** The other ways the chat went on from the same place as `turn`, itself included, oldest first. */
  siblings(turn: api.Turn): api.Turn[] {
    return this.turns.filter((other) => other.parent === turn.parent);
  }

  async open(chat: string | null): Promise<void> {
    if (chat === this.chat && this.state === "ready") return;
    const follows = this.live !== null && this.live.chat === chat;
    this.chat = chat;
    if (!follows) this.#leave();
    this.turns = [];
    this.plan = null;
    this.head = null;
    this.pins = [];
    if (chat === null) {
      this.state = "empty";
      return;
    }
    this.state = "loading";
    await this.load();
  }

  async load(): Promise<void> {
    const chat = this.chat;
    if (chat === null) return;
    const mine = ++this.#loads;
    try {
      // The end of a long chat is there at once; what came before follows.
      const [loaded, { pins }] = await Promise.all([api.turns(chat, LATEST), api.pins(chat)]);
      if (this.chat !== chat || mine !== this.#loads) return;
      this.pins = pins;
      if (loaded.turns.length < LATEST || this.state === "loading") this.turns = loaded.turns;
      this.head = loaded.head;
      this.state = "ready";
      if (loaded.turns.length === LATEST) void this.#loadAll(chat);
      const open = loaded.turns.find((turn) => isOpen(turn));
      if (open && this.live?.turn !== open.id) void this.#follow(liveOf(open));
      await this.#loadPlan();
    } catch (error) {
      if (this.chat !== chat || mine !== this.#loads) return;
      this.state = "failed";
      this.problem = error instanceof Error ? error.message : String(error);
    }
  }

  async #loadAll(chat: string): Promise<void> {
    try {
      const { turns } = await api.turns(chat);
      if (this.chat === chat && turns.length >= this.turns.length) this.turns = turns;
    } catch (error) {
      notices.failed(error);
    }
  }

  async #loadPlan(): Promise<void> {
    const last = this.path.at(-1);
    if (!last || this.live) return;
    try {
      this.plan = (await api.turnDetail(last.id)).plan;
    } catch {
      this.plan = null;
    }
  }

  /** Ask, or ask in place of an earlier turn; true where the question was taken. */
  async ask(text: string, files: string[], instead: string | null = null): Promise<boolean> {
    return this.#begin(text, () =>
      instead === null ? api.startTurn({ text, chat: this.chat, files }) : api.editQuestion(instead, { text, files }),
    );
  }

  /** Ask a turn's question again; the old answer stays beside the new one. */
  async again(turn: api.Turn): Promise<boolean> {
    return this.#begin(turn.question, () => api.regenerate(turn.id), turn.parent);
  }

  async #begin(text: string, start: () => Promise<api.Asked>, parent: string | null | undefined = undefined): Promise<boolean> {
    if (this.live) return false;
    try {
      const asked = await start();
      if (this.chat !== asked.chat) {
        this.chat = asked.chat;
        this.state = "ready";
        route.go({ chat: asked.chat, turn: null });
      } else {
        route.go({ turn: null }, true);
      }
      if (parent !== undefined) this.turns = this.turns.map((turn) => ({ ...turn, on_path: turn.on_path && !this.#follows(turn, parent) }));
      void chats.load();
      void this.#follow(newLive(asked.turn, asked.chat, text));
      return true;
    } catch (error) {
      notices.failed(error);
      return false;
    }
  }

  /** Whether `turn` comes after `parent` on the branch that is shown. */
  #follows(turn: api.Turn, parent: string | null): boolean {
    const path = this.path;
    return path.indexOf(turn) > path.findIndex((one) => one.id === parent);
  }

  /** Go to the end of the branch through `turn`. */
  async show(turn: api.Turn): Promise<void> {
    await this.#move(() => api.branch(turn.chat, turn.id));
  }

  /** The next message continues exactly this turn. */
  async goOnFrom(turn: api.Turn): Promise<void> {
    await this.#move(() => api.fork(turn.chat, turn.id));
  }

  async #move(change: () => Promise<unknown>): Promise<void> {
    try {
      await change();
      await this.load();
      dispatchEvent(new Event("sill:moved"));
    } catch (error) {
      notices.failed(error);
    }
  }

  /** Keep a turn in the window, or let it go again. */
  pin(turn: string, pinned: boolean): Promise<void> {
    return this.#pin({ turn, path: null }, pinned);
  }

  /** Send a file with every message of this chat, or no longer. */
  pinFile(path: string, pinned: boolean): Promise<void> {
    return this.#pin({ turn: null, path }, pinned);
  }

  // One after the other: the last answer is then the list as it is.
  #pin(what: { turn: string | null; path: string | null }, pinned: boolean): Promise<void> {
    const chat = this.chat;
    this.#pinning = this.#pinning.then(async () => {
      if (chat === null) return;
      try {
        const { pins } = await (pinned ? api.pin : api.unpin)(chat, what);
        if (this.chat === chat) this.pins = pins;
        dispatchEvent(new Event("sill:moved"));
      } catch (error) {
        notices.failed(error);
      }
    });
    return this.#pinning;
  }

  get pinnedFiles(): string[] {
    return this.pins.flatMap((pin) => (pin.path === null ? [] : [pin.path]));
  }

  isPinned(turn: string): boolean {
    return this.pins.some((pin) => pin.turn === turn);
  }

  async stop(): Promise<void> {
    const live = this.live;
    if (!live || live.stopping) return;
    live.stopping = true;
    try {
      await api.stopTurn(live.turn);
    } catch (error) {
      live.stopping = false;
      notices.failed(error);
    }
  }

  #leave(): void {
    this.#reading?.abort();
    this.#reading = null;
    this.live = null;
  }

  async #follow(live: Live): Promise<void> {
    this.#leave();
    const reading = new AbortController();
    this.#reading = reading;
    this.live = live;
    let after = "";
    let waits = 0;
    while (!reading.signal.aborted) {
      try {
        for await (const { id, event } of api.turnEvents(live.turn, after, reading.signal)) {
          after = id;
          waits = 0;
          if (this.live?.turn !== live.turn) return;
          if (await this.#take(this.live, event)) return;
        }
      } catch (error) {
        if (reading.signal.aborted) return;
        if (error instanceof Failure && !error.isOffline && error.status !== 503) {
          notices.failed(error);
          this.live = null;
          await this.load();
          return;
        }
      }
      // The stream ended without a last event: the connection or the server went away.
      waits = Math.min(waits + 1, 3);
      await new Promise((resolve) => setTimeout(resolve, 250 * 2 ** waits));
    }
  }

  /** Take in one event; true if it was the last. */
  async #take(live: Live, event: api.TurnEvent): Promise<boolean> {
    switch (event.kind) {
      case "started":
        live.answer = "";
        live.tokens = 0;
        live.plan = event.plan;
        live.certificate = event.certificate;
        this.plan = event.plan;
        return false;
      case "delta":
        live.answer += event.text;
        live.tokens = event.tokens ?? live.tokens;
        return false;
      case "thought":
        live.thought += event.text;
        return false;
      case "notice":
        live.notices.push({ text: event.text, level: event.level });
        return false;
      case "tool":
        live.tools.push({ name: event.name, arguments: event.arguments, outcome: event.outcome });
        return false;
      case "finished":
        await this.#settle(live);
        if (event.proposals.length > 0) dispatchEvent(new CustomEvent("sill:proposals", { detail: event.proposals }));
        return true;
      case "refused":
        notices.tell(event.reason, "error");
        dispatchEvent(new CustomEvent("sill:refused", { detail: live.question }));
        await this.#settle(live);
        return true;
      default:
        return unreachable(event);
    }
  }

  /** Put the stored turn in the place of the live one in a single step, so that nothing jumps. */
  async #settle(live: Live): Promise<void> {
    void chats.load();
    for (const one of live.notices.filter(({ level }) => level === "warning")) notices.tell(one.text, "warning");
    try {
      const last = this.path.at(-1)?.id ?? null;
      const loaded = await api.turns(live.chat, LATEST);
      if (this.chat !== live.chat) return;
      const first = loaded.turns[0]?.sequence ?? 0;
      const answered = loaded.turns.find((turn) => turn.id === live.turn);
      this.live = null;
      this.turns = [...this.turns.filter((turn) => turn.sequence < first), ...loaded.turns];
      this.head = loaded.head;
      // Only where the chat went on from another place can earlier turns have left its way.
      if (first > 1 && answered?.parent !== last) await this.#loadAll(live.chat);
      await this.#loadPlan();
      // What the next message needs depends on what this answer left in the window.
      dispatchEvent(new Event("sill:moved"));
    } catch (error) {
      this.live = null;
      this.state = "failed";
      this.problem = error instanceof Error ? error.message : String(error);
    }
  }
}

function isOpen(turn: api.Turn): boolean {
  return turn.status === "open" || turn.status === "pending" || turn.status === "running";
}

function newLive(turn: string, chat: string, question: string): Live {
  return {
    turn,
    chat,
    question,
    answer: "",
    thought: "",
    tools: [],
    notices: [],
    plan: null,
    certificate: null,
    tokens: 0,
    stopping: false,
  };
}

function liveOf(turn: api.Turn): Live {
  return newLive(turn.id, turn.chat, turn.question);
}

export const conversation = new Conversation();

export function keepDraft(chat: string | null, text: string): void {
  if (text) localStorage.setItem(KEPT + (chat ?? "new"), text);
  else localStorage.removeItem(KEPT + (chat ?? "new"));
}

export function keptDraft(chat: string | null): string {
  return localStorage.getItem(KEPT + (chat ?? "new")) ?? "";
}
