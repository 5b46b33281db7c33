/** What a message that begins with `/` can be instead of a question. */

export interface Command {
  name: string;
  detail: string;
}

export const COMMANDS: readonly Command[] = [
  { name: "edit", detail: "change the named files: /edit shorten the introduction of [[Soil]]" },
  { name: "again", detail: "answer the last question again" },
  { name: "new", detail: "begin a new chat" },
  { name: "search", detail: "search notes and chats" },
  { name: "window", detail: "show what the model sees" },
  { name: "keys", detail: "list the keys" },
];

/** The command a message is, with what follows its name; null for an ordinary message. */
export function readCommand(text: string): { name: string; rest: string } | null {
  const match = /^\/([a-z]+)(?:\s+([\s\S]*))?$/.exec(text.trim());
  if (!match || !COMMANDS.some(({ name }) => name === match[1])) return null;
  return { name: match[1]!, rest: (match[2] ?? "").trim() };
}
