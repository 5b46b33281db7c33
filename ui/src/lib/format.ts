/** Numbers, money, times and names as people read them. */

const whole = new Intl.NumberFormat("en");

export function count(tokens: number): string {
  return whole.format(tokens);
}

/** 18.2k for the narrow places; the exact number stands beside it or in its label. */
export function short(tokens: number): string {
  if (tokens < 10_000) return count(tokens);
  if (tokens < 1_000_000) return `${(tokens / 1000).toFixed(1)}k`;
  return `${(tokens / 1_000_000).toFixed(2)}M`;
}

export function money(dollars: number | null | undefined): string {
  if (dollars === null || dollars === undefined) return "price unknown";
  if (dollars === 0) return "free";
  if (dollars < 0.000_05) return "< $0.0001";
  return `$${dollars.toFixed(dollars < 0.1 ? 4 : 2)}`;
}

export function percent(part: number, all: number): string {
  if (all <= 0) return "0 %";
  const share = (100 * part) / all;
  return `${share > 0 && share < 0.1 ? "< 0.1" : share.toFixed(share < 10 ? 1 : 0)} %`;
}

const clock = new Intl.DateTimeFormat(undefined, { hour: "2-digit", minute: "2-digit" });
const day = new Intl.DateTimeFormat(undefined, { day: "numeric", month: "short" });
const full = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "short" });

export function when(ms: number, now: number): string {
  const then = new Date(ms);
  if (now - ms < 86_400_000 && then.getDate() === new Date(now).getDate()) return clock.format(then);
  if (now - ms < 300 * 86_400_000) return day.format(then);
  return then.toISOString().slice(0, 10);
}

export function moment(ms: number): string {
  return full.format(new Date(ms));
}

export function seconds(ms: number): string {
  return ms < 1000 ? `${Math.round(ms)} ms` : `${(ms / 1000).toFixed(ms < 10_000 ? 1 : 0)} s`;
}

/** What a person calls the file: its name, without `.md`. */
export function nameOf(path: string): string {
  return path.slice(path.lastIndexOf("/") + 1).replace(/\.md$/i, "");
}

export function folderOf(path: string): string {
  return path.includes("/") ? path.slice(0, path.lastIndexOf("/")) : "";
}

export function plural(number: number, one: string, many = `${one}s`): string {
  return `${count(number)} ${number === 1 ? one : many}`;
}

/** Whether a server read clearly less than was sent to it: text was dropped. */
export function wasCut(kind: string, predicted: number, actual: number | null): boolean {
  return actual !== null && actual < predicted * (kind === "exact" ? 1 : 0.75);
}
