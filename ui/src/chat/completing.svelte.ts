/** What could stand at the caret of a message: notes, headings, files, commands. */

import * as api from "../api/client";
import { type Trigger, triggerAt } from "../lib/trigger";
import { workspace } from "../state/workspace.svelte";
import { COMMANDS } from "./commands";

export interface Choice {
  id: string;
  label: string;
  detail: string;
  insert: string; // put in place of what was typed
  attach: string | null;
}

const MOST = 9;

export class Completing {
  choices = $state.raw<Choice[]>([]);
  at = $state(0);
  #trigger: Trigger | null = null;
  #asking: AbortController | null = null;

  get isOpen(): boolean {
    return this.choices.length > 0;
  }

  get chosen(): Choice | undefined {
    return this.choices[this.at];
  }

  close(): void {
    this.#asking?.abort(); // an answer that is still on its way would open the list again
    this.choices = [];
  }

  step(by: number): void {
    this.at = (this.at + by + this.choices.length) % this.choices.length;
  }

  /** Look for what fits the text before the caret. */
  async look(text: string, caret: number): Promise<void> {
    this.#asking?.abort();
    const wanted = triggerAt(text, caret);
    this.#trigger = wanted;
    if (wanted === null) {
      this.choices = [];
    } else if (wanted.kind === "command") {
      this.#show(COMMANDS.filter(({ name }) => name.startsWith(wanted.query)).map(commandChoice));
    } else {
      await this.#ask(wanted, wanted.kind);
    }
  }

  async #ask(wanted: Trigger, kind: "note" | "heading" | "file"): Promise<void> {
    const mine = new AbortController();
    this.#asking = mine;
    try {
      const path = kind === "heading" ? (workspace.names.find(wanted.note) ?? null) : null;
      const { items } = await api.complete(kind, wanted.query, path, mine.signal);
      if (!mine.signal.aborted) this.#show(items.slice(0, MOST).map((item, index) => choiceOf(wanted, item, index)));
    } catch {
      if (!mine.signal.aborted) this.choices = [];
    }
  }

  #show(choices: Choice[]): void {
    this.choices = choices;
    this.at = 0;
  }

  /** The text with the choice in place of what was typed, and where the caret goes. */
  taken(choice: Choice, text: string, caret: number): { text: string; caret: number } | null {
    const trigger = this.#trigger;
    if (trigger === null) return null;
    this.close();
    this.#trigger = null;
    // The choice brings its own end of a link along.
    const after = choice.insert.endsWith("]]") ? text.slice(caret).replace(/^\]\]/, "") : text.slice(caret);
    return { text: text.slice(0, trigger.from) + choice.insert + after, caret: trigger.from + choice.insert.length };
  }
}

function commandChoice({ name, detail }: { name: string; detail: string }): Choice {
  return { id: name, label: `/${name}`, detail, insert: `/${name} `, attach: null };
}

function choiceOf(wanted: Trigger, item: api.Suggestion, index: number): Choice {
  return {
    id: `${index}:${item.insert}`,
    label: item.label,
    detail: item.detail,
    insert: inserted(wanted, item.insert),
    attach: wanted.kind === "file" ? (item.path ?? item.insert) : null,
  };
}

function inserted(wanted: Trigger, insert: string): string {
  if (wanted.kind === "file") return "";
  const link = insert.replace(/^\[\[|\]\]$/g, "");
  return wanted.kind === "heading" && !link.includes("#") ? `[[${wanted.note}#${link}]]` : `[[${link}]]`;
}
