/** Widths of the panes and which are folded, remembered in this browser. */

interface Kept {
  left: number;
  right: number;
  leftOpen: boolean;
}

const NAME = "sill.layout";

function remembered(): Kept {
  const usual: Kept = { left: 252, right: 0.44, leftOpen: innerWidth >= 900 };
  try {
    const kept = JSON.parse(localStorage.getItem(NAME) ?? "{}") as Partial<Kept>;
    return {
      left: typeof kept.left === "number" ? kept.left : usual.left,
      right: typeof kept.right === "number" ? kept.right : usual.right,
      leftOpen: typeof kept.leftOpen === "boolean" && innerWidth >= 900 ? kept.leftOpen : usual.leftOpen,
    };
  } catch {
    return usual;
  }
}

class Layout {
  kept = $state<Kept>(remembered());
  narrow = $state(matchMedia("(max-width: 759px)").matches);
  pane = $state<"left" | "middle" | "right">("middle"); // of a narrow screen, which shows one

  constructor() {
    matchMedia("(max-width: 759px)").addEventListener("change", (event) => {
      this.narrow = event.matches;
    });
  }

  resizeLeft(width: number): void {
    this.kept.left = Math.round(Math.min(Math.max(width, 180), 480));
    this.#keep();
  }

  resizeRight(share: number): void {
    this.kept.right = Math.min(Math.max(share, 0.22), 0.75);
    this.#keep();
  }

  toggleLeft(): void {
    if (this.narrow) this.pane = this.pane === "left" ? "middle" : "left";
    else this.kept.leftOpen = !this.kept.leftOpen;
    this.#keep();
  }

  #keep(): void {
    localStorage.setItem(NAME, JSON.stringify(this.kept));
  }
}

export const layout = new Layout();
