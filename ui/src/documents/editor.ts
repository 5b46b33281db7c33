/**
 * The editor of a document. It lives in a shadow root: there its styles are adopted sheets, which a page
 * without inline styles allows.
 */

import { autocompletion, closeBrackets, closeBracketsKeymap, completionKeymap } from "@codemirror/autocomplete";
import type { CompletionContext, CompletionResult } from "@codemirror/autocomplete";
import { defaultKeymap, history, historyKeymap, indentWithTab } from "@codemirror/commands";
import { bracketMatching, indentOnInput } from "@codemirror/language";
import { acceptChunk, getChunks, unifiedMergeView } from "@codemirror/merge";
import { highlightSelectionMatches, search, searchKeymap } from "@codemirror/search";
import { Compartment, EditorState, type Extension, StateEffect, StateField } from "@codemirror/state";
import {
  Decoration,
  type DecorationSet,
  EditorView,
  MatchDecorator,
  ViewPlugin,
  type ViewUpdate,
  drawSelection,
  highlightActiveLine,
  highlightActiveLineGutter,
  keymap,
  lineNumbers,
} from "@codemirror/view";

import { type Names, readWikilink } from "../lib/wikilinks";
import { type Complete, ghostText } from "./ghost";
import { languageOf } from "./languages";
import { endOf } from "./lines";
import { theme } from "./theme";

export interface Hooks {
  changed: () => void;
  selected: (from: number, to: number) => void;
  save: () => void;
  open: (path: string, fragment: string) => void;
  names: () => Names;
  complete: Complete;
  suggestNotes: (query: string) => Promise<{ label: string; insert: string; detail: string }[]>;
}

const cite = StateEffect.define<[number, number] | null>();
const citedLine = Decoration.line({ class: "cm-cited" });

const cited = StateField.define<DecorationSet>({
  create: () => Decoration.none,
  update(value, transaction) {
    let marks = value.map(transaction.changes);
    for (const effect of transaction.effects) {
      if (!effect.is(cite)) continue;
      const { doc } = transaction.state;
      if (effect.value === null) return Decoration.none;
      const [first, last] = effect.value;
      const lines = [];
      for (let line = Math.max(1, first); line <= Math.min(last, doc.lines); line++) {
        lines.push(citedLine.range(doc.line(line).from));
      }
      marks = Decoration.set(lines);
    }
    return marks;
  },
  provide: (field) => EditorView.decorations.from(field),
});

function linkMarks(hooks: Hooks, source: string): Extension {
  const marks = new MatchDecorator({
    regexp: /!?\[\[([^[\]\n]+)\]\]/g,
    decoration: (match) => {
      const link = readWikilink(match[1]!);
      const path = hooks.names().find(link.target, source);
      return Decoration.mark({
        class: path === undefined ? "cm-broken" : "cm-wikilink",
        attributes: path === undefined ? { title: "no such note" } : { title: `${path} (Ctrl-click opens it)` },
      });
    },
  });
  return [
    ViewPlugin.define(
      (view) => ({
        marks: marks.createDeco(view),
        update(update: ViewUpdate) {
          this.marks = marks.updateDeco(update, this.marks);
        },
      }),
      { decorations: (plugin) => plugin.marks },
    ),
    EditorView.domEventHandlers({
      mousedown(event, view) {
        if (!event.ctrlKey && !event.metaKey) return false;
        const at = view.posAtCoords({ x: event.clientX, y: event.clientY });
        return at !== null && follow(view, at, hooks, source);
      },
    }),
    keymap.of([{ key: "Mod-Enter", run: (view) => follow(view, view.state.selection.main.head, hooks, source) }]),
  ];
}

function follow(view: EditorView, at: number, hooks: Hooks, source: string): boolean {
  const line = view.state.doc.lineAt(at);
  for (const match of line.text.matchAll(/\[\[([^[\]\n]+)\]\]/g)) {
    const from = line.from + match.index;
    if (at < from || at > from + match[0].length) continue;
    const link = readWikilink(match[1]!);
    const path = hooks.names().find(link.target, source);
    if (path === undefined) return false;
    hooks.open(path, link.fragment);
    return true;
  }
  return false;
}

const completeNotes =
  (hooks: Hooks) =>
  async (context: CompletionContext): Promise<CompletionResult | null> => {
    const open = context.matchBefore(/\[\[[^[\]\n|]*/);
    if (!open) return null;
    const found = await hooks.suggestNotes(open.text.slice(2));
    return {
      from: open.from,
      filter: false,
      options: found.map((item) => ({ label: item.label, detail: item.detail, apply: `[[${item.insert}]]` })),
    };
  };

export class DocumentEditor {
  readonly view: EditorView;
  readonly #merge = new Compartment();
  readonly #language = new Compartment();

  constructor(
    host: HTMLElement,
    readonly path: string,
    readonly original: string,
    readonly hooks: Hooks,
    isReadOnly: boolean,
  ) {
    const root = host.shadowRoot ?? host.attachShadow({ mode: "open" });
    root.replaceChildren();
    this.view = new EditorView({
      root,
      parent: root,
      state: EditorState.create({ doc: this.original, extensions: this.#extensions(isReadOnly) }),
    });
    void languageOf(path).then((language) => {
      this.view.dispatch({ effects: this.#language.reconfigure(language) });
    });
  }

  #extensions(isReadOnly: boolean): Extension[] {
    const { hooks } = this;
    return [
      lineNumbers(),
      highlightActiveLineGutter(),
      highlightActiveLine(),
      history(),
      drawSelection(),
      indentOnInput(),
      bracketMatching(),
      closeBrackets(),
      highlightSelectionMatches(),
      search({ top: true }),
      EditorView.lineWrapping,
      EditorState.readOnly.of(isReadOnly),
      EditorView.contentAttributes.of({ tabindex: "0" }), // said aloud, so that checkers know what browsers do
      // A file's own line ends come back as they were; a lone carriage return is a character like any other.
      EditorState.lineSeparator.of(endOf(this.original)),
      EditorView.clipboardInputFilter.of((pasted, state) => pasted.replace(/\r\n?|\n/g, state.lineBreak)),
      EditorView.contentAttributes.of({ "aria-label": `Text of ${this.path}`, spellcheck: "false" }),
      autocompletion({ override: [completeNotes(hooks)], activateOnTyping: true, icons: false }),
      cited,
      linkMarks(hooks, this.path),
      ghostText(hooks.complete),
      this.#language.of([]),
      this.#merge.of([]),
      theme,
      keymap.of([
        { key: "Mod-s", preventDefault: true, run: () => (hooks.save(), true) },
        ...closeBracketsKeymap,
        ...completionKeymap,
        ...searchKeymap,
        ...historyKeymap,
        ...defaultKeymap,
        indentWithTab,
      ]),
      EditorView.updateListener.of((update) => {
        if (update.docChanged) hooks.changed();
        if (update.selectionSet || update.docChanged) {
          const { from, to } = update.state.selection.main;
          hooks.selected(from, to);
        }
      }),
    ];
  }

  get text(): string {
    return this.view.state.sliceDoc();
  }

  /** The text between two places of the selection. */
  between(from: number, to?: number): string {
    return this.view.state.sliceDoc(from, to);
  }

  /** Change the text as if it had been typed, so that it can be undone; what stays the same is not touched. */
  setText(text: string): void {
    const { state } = this.view;
    const now = state.doc.toString();
    const lines = state.toText(text);
    const wanted = lines.toString();
    let from = 0;
    while (from < now.length && from < wanted.length && now[from] === wanted[from]) from++;
    let end = 0;
    while (end < now.length - from && end < wanted.length - from && now.at(-1 - end) === wanted.at(-1 - end)) end++;
    this.view.dispatch({ changes: { from, to: now.length - end, insert: lines.slice(from, wanted.length - end) } });
  }

  /** Show lines, marked, in the middle of the view; a mark on everything would say nothing. */
  show(first: number, last: number): void {
    const { doc } = this.view.state;
    const isAll = first <= 1 && last >= doc.lines - 1;
    const line = doc.line(Math.min(Math.max(first, 1), doc.lines));
    this.view.dispatch({
      effects: [cite.of(isAll ? null : [first, last]), EditorView.scrollIntoView(line.from, { y: isAll ? "start" : "center" })],
      selection: { anchor: line.from },
    });
  }

  /** Mark what differs from `original`; each change can be kept or taken back. */
  compare(original: string): void {
    const controls = unifiedMergeView({ original, mergeControls: true, highlightChanges: true, gutter: true });
    this.view.dispatch({ effects: this.#merge.reconfigure(controls) });
  }

  endCompare(): void {
    this.view.dispatch({ effects: this.#merge.reconfigure([]) });
  }

  get differences(): number {
    return getChunks(this.view.state)?.chunks.length ?? 0;
  }

  acceptAll(): void {
    for (let left = this.differences; left > 0; left--) {
      const chunk = getChunks(this.view.state)?.chunks[0];
      if (!chunk || !acceptChunk(this.view, chunk.fromB)) return;
    }
  }

  destroy(): void {
    this.view.destroy();
  }
}
