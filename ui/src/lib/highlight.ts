/** Colours for code in answers; loaded when the first block of code is shown. */

import { cssLanguage } from "@codemirror/lang-css";
import { htmlLanguage } from "@codemirror/lang-html";
import { javascriptLanguage, tsxLanguage, typescriptLanguage } from "@codemirror/lang-javascript";
import { jsonLanguage } from "@codemirror/lang-json";
import { pythonLanguage } from "@codemirror/lang-python";
import { yamlLanguage } from "@codemirror/lang-yaml";
import { type Language, StreamLanguage } from "@codemirror/language";
import { diff } from "@codemirror/legacy-modes/mode/diff";
import { rust } from "@codemirror/legacy-modes/mode/rust";
import { shell } from "@codemirror/legacy-modes/mode/shell";
import { standardSQL } from "@codemirror/legacy-modes/mode/sql";
import { toml } from "@codemirror/legacy-modes/mode/toml";
import { classHighlighter, highlightCode } from "@lezer/highlight";

const KNOWN: Record<string, Language> = {
  css: cssLanguage,
  html: htmlLanguage,
  xml: htmlLanguage,
  js: javascriptLanguage,
  javascript: javascriptLanguage,
  ts: typescriptLanguage,
  typescript: typescriptLanguage,
  jsx: tsxLanguage,
  tsx: tsxLanguage,
  json: jsonLanguage,
  py: pythonLanguage,
  python: pythonLanguage,
  yaml: yamlLanguage,
  yml: yamlLanguage,
  diff: StreamLanguage.define(diff),
  rust: StreamLanguage.define(rust),
  rs: StreamLanguage.define(rust),
  sh: StreamLanguage.define(shell),
  bash: StreamLanguage.define(shell),
  shell: StreamLanguage.define(shell),
  sql: StreamLanguage.define(standardSQL),
  toml: StreamLanguage.define(toml),
};

/** Put spans around what can be named in a `<code>` element. */
export function colour(element: HTMLElement): void {
  const language = KNOWN[(element.dataset["language"] ?? "").toLowerCase()];
  if (!language || element.dataset["coloured"] !== undefined) return;
  const text = element.textContent ?? "";
  if (text.length > 60_000) return;
  const nodes: Node[] = [];
  highlightCode(
    text,
    language.parser.parse(text),
    classHighlighter,
    (piece, classes) => {
      if (!classes) return void nodes.push(document.createTextNode(piece));
      const span = document.createElement("span");
      span.className = classes;
      span.textContent = piece;
      nodes.push(span);
    },
    () => nodes.push(document.createTextNode("\n")),
  );
  element.replaceChildren(...nodes);
  element.dataset["coloured"] = "";
}
