/** CodeMirror in the page's colours. */

import { HighlightStyle, syntaxHighlighting } from "@codemirror/language";
import { EditorView } from "@codemirror/view";
import { tags } from "@lezer/highlight";

const frame = EditorView.theme({
  "&": { height: "100%", color: "var(--ink)", backgroundColor: "var(--surface)", fontSize: "0.84rem" },
  "&.cm-focused": { outline: "2px solid var(--focus)", outlineOffset: "-2px" },
  ".cm-scroller": { fontFamily: "var(--mono)", lineHeight: "1.55" },
  ".cm-content": { caretColor: "var(--ink)", padding: "0.5rem 0" },
  ".cm-cursor": { borderLeftColor: "var(--ink)" },
  ".cm-gutters": { backgroundColor: "var(--surface)", color: "var(--ink-faint)", border: "none" },
  ".cm-activeLine, .cm-activeLineGutter": { backgroundColor: "color-mix(in srgb, var(--hover) 45%, transparent)" },
  "&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground": {
    backgroundColor: "color-mix(in srgb, var(--focus) 28%, transparent)",
  },
  ".cm-cited": { backgroundColor: "var(--cited)" },
  ".cm-wikilink": { color: "var(--link)", textDecoration: "underline", cursor: "pointer" },
  ".cm-broken": { color: "var(--bad)", textDecoration: "underline dashed" },
  ".cm-ghost": { color: "var(--ink-faint)", fontStyle: "italic" },
  ".cm-panels": { backgroundColor: "var(--canvas)", color: "var(--ink)" },
  ".cm-panels-top": { borderBottom: "1px solid var(--line)" },
  ".cm-textfield": { backgroundColor: "var(--surface)", border: "1px solid var(--line-strong)" },
  ".cm-button": { backgroundImage: "none", backgroundColor: "var(--surface)", border: "1px solid var(--line-strong)" },
  ".cm-tooltip": { backgroundColor: "var(--surface)", border: "1px solid var(--line)", color: "var(--ink)" },
  ".cm-tooltip-autocomplete > ul > li[aria-selected]": { backgroundColor: "var(--chosen)", color: "var(--ink)" },
  ".cm-searchMatch": { backgroundColor: "var(--cited)" },
  ".cm-deletedChunk": { backgroundColor: "var(--removed)" },
  ".cm-changedLine": { backgroundColor: "var(--added) !important" },
  ".cm-changedText": { background: "var(--added-strong) !important" },
  ".cm-deletedChunk .cm-deletedText": { background: "var(--removed-strong) !important" },
  ".cm-chunkButtons button": { borderRadius: "4px", padding: "1px 8px" },
});

const colours = HighlightStyle.define([
  { tag: tags.heading, fontWeight: "700" },
  { tag: tags.strong, fontWeight: "700" },
  { tag: tags.emphasis, fontStyle: "italic" },
  { tag: tags.strikethrough, textDecoration: "line-through" },
  { tag: [tags.keyword, tags.modifier, tags.operatorKeyword], color: "var(--syntax-keyword)" },
  { tag: [tags.string, tags.special(tags.string), tags.regexp], color: "var(--syntax-string)" },
  { tag: [tags.number, tags.bool, tags.null, tags.atom], color: "var(--syntax-number)" },
  { tag: [tags.comment, tags.meta, tags.processingInstruction], color: "var(--syntax-comment)" },
  { tag: [tags.typeName, tags.className, tags.propertyName, tags.definition(tags.variableName)], color: "var(--syntax-name)" },
  { tag: [tags.url, tags.link], color: "var(--link)" },
  { tag: tags.monospace, color: "var(--syntax-string)" },
]);

export const theme = [frame, syntaxHighlighting(colours)];
