/** At most one dialog is open. */

class Dialogs {
  open = $state<"none" | "search" | "keys" | "chat">("none");
  subject = $state<string | null>(null); // the chat whose menu is open

  show(which: "search" | "keys" | "chat", subject: string | null = null): void {
    this.open = which;
    this.subject = subject;
  }

  close(): void {
    this.open = "none";
  }
}

export const dialogs = new Dialogs();
