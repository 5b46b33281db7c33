/** A completion shown in grey behind the cursor: Tab takes it, anything else leaves it. */

import { type Extension, Prec, StateEffect, StateField } from "@codemirror/state";
import { Decoration, type DecorationSet, EditorView, ViewPlugin, type ViewUpdate, WidgetType, keymap } from "@codemirror/view";

import { linesFrom } from "./lines";

export type Complete = (prefix: string, suffix: string, signal: AbortSignal) => Promise<string>;

interface Offer {
  at: number;
  text: string;
}

const PAUSE = 450; // ms without a key
const AROUND = 8000; // characters that are sent on each side; the server cuts to the model's room

const offer = StateEffect.define<Offer | null>();

class GhostWidget extends WidgetType {
  constructor(readonly text: string) {
    super();
  }

  override eq(other: GhostWidget): boolean {
    return other.text === this.text;
  }

  toDOM(): HTMLElement {
    const span = document.createElement("span");
    span.className = "cm-ghost";
    span.textContent = this.text;
    span.setAttribute("aria-label", `completion: ${this.text}`);
    return span;
  }
}

const field = StateField.define<Offer | null>({
  create: () => null,
  update(value, transaction) {
    for (const effect of transaction.effects) if (effect.is(offer)) return effect.value;
    return transaction.docChanged || transaction.selection ? null : value;
  },
  provide: (self) =>
    EditorView.decorations.from(self, (value): DecorationSet =>
      value === null
        ? Decoration.none
        : Decoration.set(Decoration.widget({ widget: new GhostWidget(value.text), side: 1 }).range(value.at)),
    ),
});

function accept(view: EditorView): boolean {
  const value = view.state.field(field, false);
  if (!value) return false;
  view.dispatch({
    changes: { from: value.at, insert: linesFrom(value.text) },
    selection: { anchor: value.at + linesFrom(value.text).length },
    userEvent: "input.complete",
  });
  return true;
}

function dismiss(view: EditorView): boolean {
  if (!view.state.field(field, false)) return false;
  view.dispatch({ effects: offer.of(null) });
  return true;
}

/** Asks `complete` after a pause in typing at the end of a line. */
export function ghostText(complete: Complete): Extension {
  const plugin = ViewPlugin.define((view) => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    let asking: AbortController | undefined;

    async function ask(): Promise<void> {
      const { state } = view;
      const at = state.selection.main.head;
      if (!state.selection.main.empty || state.doc.lineAt(at).to !== at) return;
      asking = new AbortController();
      const mine = asking;
      const prefix = state.doc.sliceString(Math.max(0, at - AROUND), at);
      const suffix = state.doc.sliceString(at, at + AROUND);
      try {
        const text = await complete(prefix, suffix, mine.signal);
        if (mine.signal.aborted || view.state !== state || !text.trim()) return;
        view.dispatch({ effects: offer.of({ at, text }) });
      } catch {
        // No completion is a usual thing.
      }
    }

    return {
      update(update: ViewUpdate): void {
        if (!update.docChanged && !update.selectionSet) return;
        clearTimeout(timer);
        asking?.abort();
        const typed = update.transactions.some((one) => one.isUserEvent("input") || one.isUserEvent("delete"));
        if (update.docChanged && typed) timer = setTimeout(() => void ask(), PAUSE);
      },
      destroy(): void {
        clearTimeout(timer);
        asking?.abort();
      },
    };
  });
  const keys = keymap.of([
    { key: "Tab", run: accept },
    { key: "Escape", run: dismiss },
  ]);
  return [field, plugin, Prec.highest(keys)];
}
