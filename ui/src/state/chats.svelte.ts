/** The list of chats. */

import * as api from "../api/client";
import { notices } from "./notices.svelte";
import { route } from "./route.svelte";

class Chats {
  list = $state.raw<api.Chat[]>([]);
  archived = $state(false);
  state = $state<"loading" | "ready" | "failed">("loading");
  #asks = 0;

  get current(): api.Chat | undefined {
    return this.list.find((chat) => chat.id === route.place.chat);
  }

  async load(): Promise<void> {
    const mine = ++this.#asks;
    try {
      const { chats: found } = await api.chats(this.archived);
      if (mine !== this.#asks) return; // a later answer is there, or will be
      this.list = found;
      this.state = "ready";
    } catch {
      if (mine === this.#asks) this.state = this.state === "ready" ? "ready" : "failed";
    }
  }

  async change(id: string, change: { title?: string; pinned?: boolean; archived?: boolean }): Promise<void> {
    try {
      await api.changeChat(id, change);
      await this.load();
    } catch (error) {
      notices.failed(error);
    }
  }

  async remove(id: string): Promise<void> {
    try {
      await api.deleteChat(id);
      if (route.place.chat === id) route.go({ chat: null });
      await this.load();
      notices.tell("The chat was deleted.");
    } catch (error) {
      notices.failed(error);
    }
  }
}

export const chats = new Chats();
