/** What keys do everywhere. A command that returns false leaves the key to the browser. */

import { flushSync } from "svelte";

import { chats } from "./chats.svelte";
import { conversation } from "./conversation.svelte";
import { dialogs } from "./dialogs.svelte";
import { layout } from "./layout.svelte";
import { route, type Side } from "./route.svelte";

export function newChat(): void {
  route.go({ chat: null, view: "chat", turn: null });
  focusComposer();
}

export function focusComposer(): void {
  if (route.place.view !== "chat") route.go({ view: "chat" });
  layout.pane = "middle";
  flushSync(); // at once: whoever types on has the next letter under way
  document.getElementById("composer")?.focus();
}

export function showSide(side: Side): void {
  const closes = route.place.view === "chat" && route.place.side === side && !layout.narrow;
  route.go({ view: "chat", side: closes ? "none" : side });
  if (layout.narrow) layout.pane = side === "none" ? "middle" : "right";
}

function focusPane(id: string): void {
  flushSync();
  const pane = document.getElementById(id);
  const inside = pane?.querySelector<HTMLElement>("[data-first], button, a[href], input, textarea, [tabindex='0']");
  (inside ?? pane)?.focus();
}

function step(by: number): void {
  const at = chats.list.findIndex((chat) => chat.id === route.place.chat);
  const next = chats.list[at < 0 ? 0 : at + by];
  if (next) route.go({ chat: next.id, view: "chat", turn: null });
}

export const commands: Record<string, () => unknown> = {
  "Ctrl+k": () => dialogs.show("search"),
  "?": () => dialogs.show("keys"),
  "/": focusComposer,
  "Alt+n": newChat,
  "Alt+ArrowUp": () => step(-1),
  "Alt+ArrowDown": () => step(1),
  "Alt+1": () => {
    if (!layout.kept.leftOpen || (layout.narrow && layout.pane !== "left")) layout.toggleLeft();
    focusPane("left-pane");
  },
  "Alt+2": focusComposer,
  "Alt+3": () => {
    if (route.place.side === "none") showSide("window");
    focusPane("right-pane");
  },
  "Alt+w": () => showSide("window"),
  "Alt+d": () => showSide("document"),
  "Alt+c": () => showSide("changes"),
  "Alt+o": () => route.go({ view: route.place.view === "overview" ? "chat" : "overview" }),
  "Alt+b": () => layout.toggleLeft(),
  "Alt+r": () => dispatchEvent(new Event("sill:again")),
  Escape: () => {
    if (dialogs.open !== "none") dialogs.close();
    else if (conversation.live) void conversation.stop();
    else return false;
    return true;
  },
};
