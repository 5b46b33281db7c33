/** The folder, its files, the model and whether the server is there. */

import * as api from "../api/client";
import { Failure, watchReach } from "../api/http";
import { Names } from "../lib/wikilinks";

class Workspace {
  session = $state.raw<api.Session | null>(null);
  model = $state.raw<api.ModelState | null>(null);
  files = $state.raw<api.FileEntry[]>([]);
  names = $state.raw(new Names());
  filesState = $state<"loading" | "ready" | "failed">("loading");
  index = $state.raw<api.IndexState | null>(null);
  offline = $state(false);
  refused = $state(""); // why the server does not let this browser in
  #again: ReturnType<typeof setTimeout> | undefined;

  /** Whether this user may ask, edit and decide; the server checks it with every request. */
  get mayWrite(): boolean {
    return this.session?.role !== "viewer";
  }

  get isAdmin(): boolean {
    return this.session?.role === "admin";
  }

  constructor() {
    watchReach((reached, refused) => {
      if (refused) this.refused = refused;
      if (!reached) this.#lost();
      else if (this.offline) void this.#back();
    });
  }

  async start(): Promise<void> {
    try {
      this.session = await api.session();
      document.title = `${this.session.workspace} · Sill`;
      this.refused = "";
    } catch (error) {
      if (error instanceof Failure && !error.isOffline) this.refused = error.message;
      return;
    }
    void this.loadFiles();
    if (this.mayWrite) void this.watchModel(); // asking for it starts it
    void this.watchIndex();
  }

  /** End this browser's session; whoever comes next has to log in. */
  async leave(): Promise<void> {
    try {
      await api.logout();
      location.assign("/");
    } catch (error) {
      if (error instanceof Failure && error.isOffline) return;
      location.assign("/");
    }
  }

  async loadFiles(): Promise<void> {
    try {
      const all: api.FileEntry[] = [];
      for (let after: string | null = null; ; ) {
        const page: { files: api.FileEntry[]; next: string | null } = await api.files(after);
        all.push(...page.files);
        if (page.next === null) break;
        after = page.next;
      }
      this.files = all;
      this.names = new Names(all.map((entry) => entry.path));
      this.filesState = "ready";
    } catch {
      this.filesState = "failed";
    }
  }

  async watchModel(): Promise<void> {
    try {
      this.model = await api.model();
    } catch {
      return;
    }
    if (this.model.state === "ready") return;
    setTimeout(() => void this.watchModel(), this.model.state === "starting" ? 700 : 5000);
  }

  async watchIndex(): Promise<void> {
    const before = this.index?.files;
    try {
      this.index = await api.index();
    } catch {
      return;
    }
    if (before !== undefined && before !== this.index.files) void this.loadFiles();
    if (this.index.state === "reading" || this.index.state === "embedding") {
      setTimeout(() => void this.watchIndex(), 1500);
    }
  }

  #lost(): void {
    this.offline = true;
    clearTimeout(this.#again);
    this.#again = setTimeout(() => void api.session().catch(() => undefined), 2000);
  }

  async #back(): Promise<void> {
    this.offline = false;
    clearTimeout(this.#again);
    await this.start();
    dispatchEvent(new Event("sill:back"));
  }
}

export const workspace = new Workspace();
