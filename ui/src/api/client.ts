/** Everything the page asks of the server: one function for each route it uses. */

import { address, ask, json } from "./http";
import type { components } from "./schema";
import { eventsOf } from "./sse";

/** As the server sends it: every field is there, also those a request may leave out. */
type Whole<T> = T extends object ? { [Field in keyof T]-?: Whole<T[Field]> } : T;
type Given = components["schemas"];
type Schemas = { [Name in keyof Given]: Whole<Given[Name]> };

export type Chat = Schemas["Chat"];
export type Turn = Schemas["Turn"];
export type Asked = Schemas["Asked"];
export type Turns = Schemas["Turns"];
export type TurnDetail = Schemas["TurnDetail"];
export type Reference = Schemas["SourceReference"];
export type PlanView = Schemas["PlanView"];
export type PlanItem = Schemas["PlanItem"];
export type Planned = Schemas["Planned"];
export type Counted = Schemas["Counted"];
export type Used = Schemas["Used"];
export type FileEntry = Schemas["FileEntry"];
export type FileText = Schemas["FileText"];
export type Links = Schemas["Links"];
export type Passage = Schemas["Passage"];
export type FoundTurn = Schemas["FoundTurn"];
export type Graph = Schemas["Graph"];
export type Suggestion = Schemas["Suggestion"];
export type ProposalInfo = Schemas["ProposalInfo"];
export type ProposalDetail = Schemas["ProposalDetail"];
export type FileHunks = Schemas["FileHunks"];
export type Hunk = Schemas["Hunk"];
export type EditOutcome = Schemas["EditOutcome"];
export type Clash = Schemas["Clash"];
export type MergeState = Schemas["MergeState"];
export type MergedFile = Schemas["MergedFile"];
export type ClashChoice = Schemas["ClashChoice"];
export type Resolution = Schemas["Resolution"];
export type AgreedResolution = Schemas["AgreedResolution"];
export type Shown = Schemas["Shown"];
export type Way = "undo" | "redo";
export type AppliedEdit = Schemas["AppliedEdit"];
export type ModelState = Schemas["ModelState"];
export type Session = Schemas["Session"];
export type Cost = Schemas["Cost"];
export type IndexState = Schemas["IndexState"];
export type Setting = Schemas["Setting"];
export type Pin = Schemas["Pin"];
export type Note = Schemas["Note"];
export type Fresh = Schemas["QuotedState"];
export type TurnEvent =
  | Schemas["StartedEvent"]
  | Schemas["DeltaEvent"]
  | Schemas["ThoughtEvent"]
  | Schemas["NoticeEvent"]
  | Schemas["ToolEvent"]
  | Schemas["FinishedEvent"]
  | Schemas["RefusedEvent"];

const ROOT = "/api/v1";
const part = encodeURIComponent;
const slashed = (path: string): string => path.split("/").map(part).join("/");

const get = <T>(path: string, query = {}, signal?: AbortSignal): Promise<T> =>
  json<T>("GET", address(`${ROOT}${path}`, query), undefined, signal);
const post = <T>(path: string, body: unknown = {}, signal?: AbortSignal): Promise<T> =>
  json<T>("POST", `${ROOT}${path}`, body, signal);

export const rawAddress = (path: string): string => `${ROOT}/raw/${slashed(path)}`;

// --- Asking ---------------------------------------------------------------------------------------

export const startTurn = (body: Given["Ask"]): Promise<Asked> => post("/turns", body);
export const regenerate = (turn: string): Promise<Asked> => post(`/turns/${part(turn)}/regenerate`);
export const editQuestion = (turn: string, body: Given["EditQuestion"]): Promise<Asked> =>
  post(`/turns/${part(turn)}/edit`, body);
export const stopTurn = (turn: string): Promise<Schemas["Stopped"]> => post(`/turns/${part(turn)}/stop`);
export const plan = (body: Given["PlanQuestion"], signal: AbortSignal): Promise<Planned> =>
  post("/plan", body, signal);

/** The events of a turn with their ids, from the beginning or after one of them. */
export async function* turnEvents(
  turn: string,
  after: string,
  signal: AbortSignal,
): AsyncGenerator<{ id: string; event: TurnEvent }> {
  const url = address(`${ROOT}/turns/${part(turn)}/events`, { after: after || null });
  const response = await ask("GET", url, undefined, signal);
  for await (const { id, data } of eventsOf(response)) yield { id, event: JSON.parse(data) as TurnEvent };
}

// --- Chats ----------------------------------------------------------------------------------------

export const chats = (archived: boolean): Promise<Schemas["Chats"]> => get("/chats", { archived });
export const changeChat = (id: string, change: Partial<Given["ChangeChat"]>): Promise<Chat> =>
  json("PATCH", `${ROOT}/chats/${part(id)}`, change);
export const deleteChat = (id: string): Promise<unknown> => json("DELETE", `${ROOT}/chats/${part(id)}`);
export const turns = (chat: string, limit = 1000): Promise<Turns> => get(`/chats/${part(chat)}/turns`, { limit });
export const turnDetail = (turn: string): Promise<TurnDetail> => get(`/turns/${part(turn)}`);
export const branch = (chat: string, turn: string | null): Promise<unknown> =>
  post(`/chats/${part(chat)}/branch`, { turn });
export const fork = (chat: string, turn: string | null): Promise<unknown> => post(`/chats/${part(chat)}/fork`, { turn });
export const pins = (chat: string): Promise<Schemas["Pins"]> => get(`/chats/${part(chat)}/pins`);
export const pin = (chat: string, body: Given["Pin"]): Promise<Schemas["Pins"]> => post(`/chats/${part(chat)}/pins`, body);
export const unpin = (chat: string, body: Given["Pin"]): Promise<Schemas["Pins"]> =>
  post(`/chats/${part(chat)}/unpin`, body);
export const searchChats = (q: string, signal: AbortSignal): Promise<Schemas["FoundTurns"]> =>
  get("/search/chats", { q }, signal);
export const exportAddress = (chat: string, format: "markdown" | "json"): string =>
  address(`${ROOT}/chats/${part(chat)}/export`, { format });
export const requestAddress = (turn: string): string => `${ROOT}/turns/${part(turn)}/request`;

// --- Files ----------------------------------------------------------------------------------------

export const files = (after: string | null): Promise<Schemas["Files"]> => get("/files", { after, limit: 2000 });
export const file = (path: string): Promise<FileText> => get(`/files/${slashed(path)}`);
export const save = (path: string, body: Given["SaveFile"]): Promise<Schemas["Saved"]> =>
  json("PUT", `${ROOT}/files/${slashed(path)}`, body);
export const links = (path: string): Promise<Links> => get(`/links/${slashed(path)}`);
export const search = (q: string, signal: AbortSignal): Promise<Schemas["Passages"]> =>
  get("/search", { q, limit: 12 }, signal);
export const complete = (
  kind: "note" | "file" | "heading",
  q: string,
  path: string | null,
  signal: AbortSignal,
): Promise<Schemas["Suggestions"]> => get("/complete", { kind, q, path }, signal);
export const freshness = (references: Reference[]): Promise<Schemas["QuotedStates"]> =>
  post("/references/freshness", {
    references: references.map(({ path, fingerprint, lines, excerpt }) => ({ path: path!, fingerprint, lines, excerpt })),
  });
export const graph = (limit: number): Promise<Graph> => get("/graph", { limit });
export const usedDocuments = (): Promise<Schemas["UsedDocuments"]> => get("/references");
export const brokenLinks = (): Promise<Schemas["LinkCheck"]> => get("/links");
export const index = (): Promise<IndexState> => get("/index");

// --- Edits ----------------------------------------------------------------------------------------

export const propose = (body: Given["Propose"], signal: AbortSignal): Promise<Schemas["Proposed"]> =>
  post("/proposals", body, signal);
export const proposals = (chat: string): Promise<Schemas["Proposals"]> => get(`/chats/${part(chat)}/proposals`);
export const proposal = (id: string): Promise<ProposalDetail> => get(`/proposals/${part(id)}`);
export const applyProposal = (id: string, body: Given["Approval"]): Promise<EditOutcome> =>
  post(`/proposals/${part(id)}/apply`, body);
export const refuseProposal = (id: string): Promise<unknown> => post(`/proposals/${part(id)}/refuse`);
export const merge = (id: string): Promise<MergeState> => get(`/proposals/${part(id)}/merge`);
export const previewMerge = (id: string, body: Given["Resolution"], signal: AbortSignal): Promise<Shown> =>
  post(`/proposals/${part(id)}/merge`, body, signal);
export const applyMerge = (id: string, body: Given["AgreedResolution"]): Promise<EditOutcome> =>
  post(`/proposals/${part(id)}/merge/apply`, body);
export const mergeTurn = (id: string, way: Way): Promise<MergeState> => get(`/edits/${part(id)}/${way}/merge`);
export const previewTurn = (id: string, way: Way, body: Given["Resolution"], signal: AbortSignal): Promise<Shown> =>
  post(`/edits/${part(id)}/${way}/merge`, body, signal);
export const applyTurn = (id: string, way: Way, body: Given["AgreedResolution"]): Promise<EditOutcome> =>
  post(`/edits/${part(id)}/${way}/merge/apply`, body);
export const edits = (): Promise<Schemas["AppliedEdits"]> => get("/edits", { limit: 100 });
export const undo = (id: string | null): Promise<EditOutcome> => post("/edits/undo", { id });
export const redo = (id: string | null): Promise<EditOutcome> => post("/edits/redo", { id });
export const completion = (
  body: Given["CompletionRequest"],
  signal: AbortSignal,
): Promise<Schemas["CompletionReply"]> => post("/editor/completions", body, signal);
export const suggestion = (body: Given["SuggestRequest"], signal: AbortSignal): Promise<Schemas["SuggestReply"]> =>
  post("/editor/edits", body, signal);

// --- The rest -------------------------------------------------------------------------------------

export const session = (): Promise<Session> => get("/session");
export const logout = (): Promise<unknown> => post("/logout");
export const model = (): Promise<ModelState> => get("/model");
export const models = (): Promise<Schemas["Models"]> => get("/models");
export const settings = (): Promise<Schemas["SettingsView"]> => get("/settings");
export const cost = (since: number): Promise<Cost> => get("/cost", { since });
export const memory = (): Promise<Schemas["Notes"]> => get("/memory");
export const remember = (text: string): Promise<Note> => post("/memory", { text });
export const forget = (id: string): Promise<unknown> => json("DELETE", `${ROOT}/memory/${part(id)}`);
