/**
 * Markdown that others wrote, as nodes that are safe to show: HTML in it stays text, and nothing in it can
 * make the browser ask anyone for anything.
 */

import DOMPurify from "dompurify";
import MarkdownIt from "markdown-it";

import { rawAddress } from "../api/client";
import { type Names, readWikilink } from "./wikilinks";

export type Surroundings = {
  names: Names;
  source: string; // path of the note the text is from, or ""
  cited: ReadonlyMap<string, number>; // path -> number of its reference
  breaks?: boolean; // a line break as typed is a line break
};

const parser = new MarkdownIt({ html: false, linkify: true, breaks: false, typographer: false });
parser.linkify.set({ fuzzyLink: false, fuzzyEmail: false, fuzzyIP: false });

parser.validateLink = (url) => isExternal(url) || !/^[a-z][a-z0-9+.-]*:|^\/\/|^\\/i.test(url.trim());

export function isExternal(url: string): boolean {
  return /^(https?|mailto):/i.test(url.trim());
}

parser.inline.ruler.before("link", "wikilink", (state, silent) => {
  const at = state.pos;
  const embed = state.src.startsWith("![[", at);
  if (!embed && !state.src.startsWith("[[", at)) return false;
  const from = at + (embed ? 3 : 2);
  const end = state.src.indexOf("]]", from);
  if (end < 0 || end === from || /[\n]|\[\[/.test(state.src.slice(from, end))) return false;
  if (!silent) {
    const token = state.push("wikilink", "", 0);
    token.content = state.src.slice(from, end);
    token.meta = { embed };
  }
  state.pos = end + 2;
  return true;
});

const escape = (text: string): string => parser.utils.escapeHtml(text);

parser.renderer.rules["wikilink"] = (tokens, index, _options, env) => {
  const token = tokens[index]!;
  const around = env as Surroundings;
  const link = readWikilink(token.content);
  const path = around.names.find(link.target, around.source);
  if ((token.meta as { embed: boolean }).embed && path && isImage(path)) return image(path, link.shown);
  return anchor(link.shown, path, link.fragment, around, token.content);
};

parser.renderer.rules.link_open = (tokens, index, options, env, self) => {
  const token = tokens[index]!;
  const href = String(token.attrGet("href") ?? "");
  token.attrs = [];
  if (isExternal(href)) {
    token.attrs = [
      ["href", href],
      ["title", decoded(href)],
      ["target", "_blank"],
      ["rel", "noopener noreferrer"],
    ];
    return self.renderToken(tokens, index, options);
  }
  const [name = "", fragment = ""] = decoded(href).split("#", 2);
  const around = env as Surroundings;
  const path = around.names.find(name, around.source);
  token.attrs = attributes(path, fragment, around);
  return self.renderToken(tokens, index, options);
};

parser.renderer.rules.image = (tokens, index, _options, env) => {
  const token = tokens[index]!;
  const source = String(token.attrGet("src") ?? "");
  const around = env as Surroundings;
  const path = isExternal(source) ? undefined : around.names.find(decoded(source), around.source);
  if (path && isImage(path)) return image(path, token.content);
  const shown = escape(`image${token.content ? ` “${token.content}”` : ""}: ${decoded(source)}`);
  if (!isExternal(source)) return `<span class="remote-image">${shown}</span>`;
  const href = escape(source);
  return `<a class="remote-image" href="${href}" title="${href}" target="_blank" rel="noopener noreferrer">${shown}</a>`;
};

parser.renderer.rules.code_inline = (tokens, index, _options, env) => {
  const text = tokens[index]!.content;
  const code = `<code>${escape(text)}</code>`;
  const around = env as Surroundings;
  const path = /[./]/.test(text) && !text.includes(" ") ? around.names.find(text, around.source) : undefined;
  return path ? anchor(text, path, "", around, text, code) : code;
};

parser.renderer.rules.fence = (tokens, index) => {
  const token = tokens[index]!;
  const language = token.info.trim().split(/\s+/)[0] ?? "";
  return codeBlock(token.content, language);
};
parser.renderer.rules.code_block = (tokens, index) => codeBlock(tokens[index]!.content, "");
parser.renderer.rules.table_open = () => `<div class="table-frame" tabindex="0" role="group"><table>`;
parser.renderer.rules.table_close = () => `</table></div>`;

// Alignment comes as a style, which the page's content policy does not allow: a class says the same.
for (const cell of ["th_open", "td_open"]) {
  parser.renderer.rules[cell] = (tokens, index, options, _env, self) => {
    const token = tokens[index]!;
    const side = /text-align:\s*(left|right|center)/.exec(String(token.attrGet("style") ?? ""))?.[1];
    token.attrs = side ? [["class", `to-${side}`]] : [];
    return self.renderToken(tokens, index, options);
  };
}

function codeBlock(text: string, language: string): string {
  const name = escape(language);
  return (
    `<div class="code-block"><div class="code-head"><span>${name || "text"}</span>` +
    `<button type="button" data-act="copy">Copy</button></div>` +
    `<pre tabindex="0"><code data-language="${name}">${escape(text)}</code></pre></div>`
  );
}

function image(path: string, shown: string): string {
  const source = escape(`${rawAddress(path)}`);
  return `<img src="${source}" alt="${escape(shown)}" loading="lazy">`;
}

function anchor(
  shown: string,
  path: string | undefined,
  fragment: string,
  env: Surroundings,
  written: string,
  inner = escape(shown),
): string {
  const pairs = attributes(path, fragment, env);
  if (!path) pairs.push(["title", `no note is called “${written}”`]);
  const number = path === undefined ? undefined : env.cited.get(path);
  const mark = number === undefined ? "" : `<sup>${number}</sup>`;
  return `<a ${pairs.map(([name, value]) => `${name}="${escape(value)}"`).join(" ")}>${inner}${mark}</a>`;
}

function attributes(path: string | undefined, fragment: string, env: Surroundings): [string, string][] {
  if (path === undefined) return [["class", "wikilink broken"], ["data-act", "missing"]];
  const href = `#doc=${encodeURIComponent(path)}${fragment ? `&at=${encodeURIComponent(fragment)}` : ""}`;
  return [
    ["class", env.cited.has(path) ? "wikilink cited" : "wikilink"],
    ["href", href],
    ["data-act", "open"],
    ["data-path", path],
    ["data-fragment", fragment],
  ];
}

export function isImage(path: string): boolean {
  return /\.(png|jpe?g|gif|webp|avif)$/i.test(path);
}

function decoded(url: string): string {
  try {
    return decodeURIComponent(url);
  } catch {
    return url;
  }
}

const ALLOWED = {
  ALLOWED_TAGS: [
    ..."h1 h2 h3 h4 h5 h6 p br hr ul ol li blockquote pre code em strong s sup a img span div button".split(" "),
    ..."table thead tbody tr th td".split(" "),
  ],
  ALLOWED_ATTR: [
    ..."href title target rel class src alt loading start tabindex role type".split(" "),
    ..."data-act data-path data-fragment data-language".split(" "),
  ],
  ALLOW_DATA_ATTR: false,
  ALLOW_ARIA_ATTR: false,
  RETURN_DOM_FRAGMENT: true as const,
};

/** The nodes of a piece of Markdown. */
export function nodesOf(text: string, around: Surroundings): DocumentFragment {
  parser.set({ breaks: around.breaks ?? false });
  const fragment = DOMPurify.sanitize(parser.render(text, around), ALLOWED);
  for (const element of fragment.querySelectorAll("img")) {
    // Whatever got this far, a picture comes from this server or not at all.
    if (!element.getAttribute("src")?.startsWith("/api/v1/raw/")) element.remove();
  }
  return fragment;
}

/** The source of each top-level block, so that a growing text is drawn block by block. */
export function blocksOf(text: string): string[] {
  const starts = parser
    .parse(text, {})
    .filter((token) => token.level === 0 && token.map !== null && token.nesting >= 0)
    .map((token) => token.map![0]);
  const lines = text.split("\n");
  const firsts = starts.length > 0 ? [0, ...starts.slice(1)] : [0];
  return firsts.map((first, index) => lines.slice(first, firsts[index + 1]).join("\n"));
}

/** Draws a growing text into one element: blocks that did not change keep their nodes. */
export class MarkdownView {
  #blocks: { source: string; nodes: Node[] }[] = [];
  #around: Surroundings | undefined;

  constructor(readonly element: HTMLElement) {}

  show(text: string, around: Surroundings): void {
    // Links by reference may be defined anywhere, so such a text is one block.
    const blocks = /^ {0,3}\[[^\]]+\]:/m.test(text) ? [text] : blocksOf(text);
    let same = 0;
    if (this.#around !== around) this.#clear(0);
    this.#around = around;
    while (same < blocks.length && this.#blocks[same]?.source === blocks[same]) same++;
    this.#clear(same);
    for (const source of blocks.slice(same)) {
      const fragment = nodesOf(source, around);
      const nodes = [...fragment.childNodes];
      this.element.append(fragment);
      this.#blocks.push({ source, nodes });
    }
  }

  #clear(from: number): void {
    for (const { nodes } of this.#blocks.splice(from)) {
      for (const node of nodes) node.parentNode?.removeChild(node);
    }
  }
}
