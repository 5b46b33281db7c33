/** One way to speak to the server: JSON both ways, failures as values with words for people. */

/** The server said no, or was not there (`status` 0). */
export class Failure extends Error {
  constructor(
    readonly status: number,
    message: string,
    readonly code = "",
    readonly body: unknown = null,
  ) {
    super(message);
    this.name = "Failure";
  }

  get isOffline(): boolean {
    return this.status === 0;
  }
}

export type Query = Record<string, string | number | boolean | null | undefined>;

type Watcher = (reached: boolean, refused: string) => void;
let watcher: Watcher = () => undefined;

/** Told after every exchange whether the server was reached, and why it does not know us, where it says so. */
export function watchReach(told: Watcher): void {
  watcher = told;
}

export function address(path: string, query: Query = {}): string {
  const pairs = Object.entries(query).filter(([, value]) => value !== null && value !== undefined);
  if (pairs.length === 0) return path;
  return `${path}?${new URLSearchParams(pairs.map(([name, value]) => [name, String(value)]))}`;
}

export async function ask(
  method: string,
  url: string,
  body?: unknown,
  signal?: AbortSignal,
): Promise<Response> {
  const headers: Record<string, string> = { "X-Requested-By": "sill" };
  if (method !== "GET") headers["Content-Type"] = "application/json";
  let response: Response;
  try {
    response = await fetch(url, {
      method,
      headers,
      signal: signal ?? null,
      body: body === undefined ? (method === "GET" ? null : "{}") : JSON.stringify(body),
      credentials: "same-origin",
      redirect: "error",
    });
  } catch (error) {
    if (signal?.aborted) throw error;
    watcher(false, "");
    throw new Failure(0, "the server does not answer; is `sill serve` still running?");
  }
  if (response.ok) {
    watcher(true, "");
    return response;
  }
  const failed = await failure(response);
  watcher(true, failed.status === 401 ? failed.message : "");
  throw failed;
}

export async function json<T>(method: string, url: string, body?: unknown, signal?: AbortSignal): Promise<T> {
  const response = await ask(method, url, body, signal);
  return (response.status === 204 ? undefined : await response.json()) as T;
}

async function failure(response: Response): Promise<Failure> {
  const body: unknown = await response.json().catch(() => null);
  const said = words(body);
  const usual = response.status === 401 ? "you are not logged in; open the address `sill serve` printed" : "";
  return new Failure(
    response.status,
    said.message || usual || `the server answered ${response.status}`,
    said.code,
    body,
  );
}

function words(body: unknown): { message: string; code: string } {
  if (typeof body !== "object" || body === null) return { message: "", code: "" };
  const fields = body as Record<string, unknown>;
  const inner = (fields["error"] ?? fields["detail"] ?? fields) as unknown;
  if (typeof inner === "string") return { message: inner, code: "" };
  if (Array.isArray(inner)) {
    return { message: inner.map((one) => String((one as { msg?: unknown }).msg ?? one)).join("; "), code: "invalid" };
  }
  const named = inner as Record<string, unknown>;
  const message = [named["message"], named["hint"]].filter((part) => typeof part === "string" && part !== "");
  return { message: message.join("; "), code: typeof named["code"] === "string" ? named["code"] : "" };
}
