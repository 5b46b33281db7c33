/** The language of a file by the ending of its name; each is loaded when it is first needed. */

import { type LanguageSupport, StreamLanguage, type StreamParser } from "@codemirror/language";
import type { Extension } from "@codemirror/state";

type Loader = () => Promise<Extension>;

const stream =
  (load: () => Promise<StreamParser<unknown>>): Loader =>
  async () =>
    StreamLanguage.define(await load());
const support =
  (load: () => Promise<LanguageSupport>): Loader =>
  () =>
    load();

// A paragraph is read anew as a whole with each key, so one without end would make typing slow: for colours it
// ends after this many characters.
const LONGEST_PARAGRAPH = 1000;

const markdown = support(async () => {
  const [{ markdown, markdownLanguage }, { yamlFrontmatter }] = await Promise.all([
    import("@codemirror/lang-markdown"),
    import("@codemirror/lang-yaml"),
  ]);
  const parseBlock = [{ name: "LongParagraph", endLeaf: (_: unknown, __: unknown, leaf: { content: string }) => leaf.content.length > LONGEST_PARAGRAPH }];
  return yamlFrontmatter({ content: markdown({ base: markdownLanguage, completeHTMLTags: false, extensions: [{ parseBlock }] }) });
});
const javascript = (typescript: boolean, jsx: boolean): Loader =>
  support(async () => (await import("@codemirror/lang-javascript")).javascript({ typescript, jsx }));

const LOADERS: Record<string, Loader> = {
  md: markdown,
  markdown,
  py: support(async () => (await import("@codemirror/lang-python")).python()),
  js: javascript(false, false),
  mjs: javascript(false, false),
  jsx: javascript(false, true),
  ts: javascript(true, false),
  tsx: javascript(true, true),
  json: support(async () => (await import("@codemirror/lang-json")).json()),
  yaml: support(async () => (await import("@codemirror/lang-yaml")).yaml()),
  yml: support(async () => (await import("@codemirror/lang-yaml")).yaml()),
  css: support(async () => (await import("@codemirror/lang-css")).css()),
  html: support(async () => (await import("@codemirror/lang-html")).html()),
  sh: stream(async () => (await import("@codemirror/legacy-modes/mode/shell")).shell as StreamParser<unknown>),
  toml: stream(async () => (await import("@codemirror/legacy-modes/mode/toml")).toml as StreamParser<unknown>),
  rs: stream(async () => (await import("@codemirror/legacy-modes/mode/rust")).rust as StreamParser<unknown>),
  go: stream(async () => (await import("@codemirror/legacy-modes/mode/go")).go as StreamParser<unknown>),
  sql: stream(async () => (await import("@codemirror/legacy-modes/mode/sql")).standardSQL as StreamParser<unknown>),
};

export async function languageOf(path: string): Promise<Extension> {
  const ending = path.slice(path.lastIndexOf(".") + 1).toLowerCase();
  return (await LOADERS[ending]?.()) ?? [];
}
