/** Keys that work everywhere on the page, and the list of them that `?` shows. */

export interface Shortcut {
  keys: string;
  does: string;
}

export const SHORTCUTS: readonly Shortcut[] = [
  { keys: "Ctrl K", does: "search notes, chats and files" },
  { keys: "Enter", does: "send the message; Shift Enter makes a new line" },
  { keys: "Esc", does: "stop the answer; close what is open" },
  { keys: "/", does: "write a message" },
  { keys: "Alt N", does: "new chat" },
  { keys: "Alt ↑ / Alt ↓", does: "chat above / below" },
  { keys: "Alt 1, 2, 3", does: "go to the left, middle or right pane" },
  { keys: "Alt W", does: "window: what the model sees" },
  { keys: "Alt D", does: "document" },
  { keys: "Alt C", does: "changes" },
  { keys: "Alt O", does: "overview" },
  { keys: "Alt B", does: "fold the left pane" },
  { keys: "Alt R", does: "answer again" },
  { keys: "Ctrl S", does: "save the document" },
  { keys: "Tab", does: "take the completion (in a document)" },
  { keys: "[[  @  /", does: "in a message: a note, a file, a command" },
  { keys: "?", does: "this list" },
];

/** `Alt+n`, `Ctrl+k`, `?`: what was pressed, in one word. ⌘ counts as Ctrl. */
export function pressed(event: KeyboardEvent): string {
  const digit = /^Digit(\d)$/.exec(event.code)?.[1];
  const letter = /^Key([A-Z])$/.exec(event.code)?.[1]?.toLowerCase();
  // With Alt held, some systems type another character: the place of the key counts.
  const key = event.altKey ? (digit ?? letter ?? event.key) : event.key.length === 1 ? event.key.toLowerCase() : event.key;
  return `${event.ctrlKey || event.metaKey ? "Ctrl+" : ""}${event.altKey ? "Alt+" : ""}${key}`;
}

export function isTyping(target: EventTarget | null): boolean {
  const element = target instanceof HTMLElement ? target : null;
  if (!element) return false;
  const inside = element.shadowRoot?.activeElement ?? element;
  return inside instanceof HTMLElement && (inside.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(inside.tagName));
}
