import { type ApiClient, apiStatus, isRecord, objectMeta, sleep } from "@trawler/kube";
import { errorMessage, type Logger } from "@trawler/plugin-api";
import type { EvidenceEvent, GapEvent, SearchedEvent } from "../events.ts";
import type { StoreReader } from "../store/store.ts";
import { type ToldPod, tellingEvents } from "./telling.ts";

type Raw = Readonly<Record<string, unknown>>;

export interface SearchOptions {
  readonly client: ApiClient;
  readonly log: Logger;
  readonly store: StoreReader;
  readonly now: () => number;
  /** Whether a pod exists, as far as the watch tells. */
  readonly isLive: (uid: string) => boolean;
  /** Resolves when what was appended before can be asked for. */
  readonly append: (events: readonly (EvidenceEvent | SearchedEvent)[]) => Promise<void>;
}

/** Pages of 500: Events are kept for an hour, and a search has an end. */
const MOST_PAGES = 400;
const MOST_JOBS = 5_000;
const NAMED_JOBS = 3;
const ATTEMPTS = 4;

/**
 * Looks for pods that came and went within a gap: in the cluster's Events, which name them, and in the counts of Jobs,
 * which only tell how many are missing. What was found stands in the gap's note. Never rejects: it is evidence at best.
 */
export async function searchGap(options: SearchOptions, gap: GapEvent, signal: AbortSignal): Promise<void> {
  const { store, append, now, log, client } = options;
  for (let attempt = 1; attempt <= ATTEMPTS && !signal.aborted; attempt += 1) {
    try {
      const told = await unlessDenied(podsOfEvents(client, signal));
      // What was received before comes first.
      await append([]);
      const unseen: [string, ToldPod][] = [];
      for (const [uid, pod] of told ?? []) {
        if (!options.isLive(uid) && !(await store.has("Pod", uid))) unseen.push([uid, pod]);
      }
      await append(unseen.map(([uid, pod]) => evidenceEvent(uid, pod, gap, now())));
      const events = told === null ? "Events may not be read" : `unseen pods in Events: ${unseen.length}`;
      const jobs = (await unlessDenied(countsOfJobs(options, signal))) ?? "Jobs may not be read";
      const note = `searched: ${events}; ${jobs}`;
      await append([{ type: "searched", stream: gap.stream, receivedAt: now(), epoch: gap.epoch, note }]);
      return;
    } catch (error) {
      if (signal.aborted) return;
      log.warn({}, `no evidence for the gap of ${gap.stream} yet: ${errorMessage(error)}`);
      await sleep(1_000 * 2 ** attempt * (0.5 + Math.random() / 2), signal);
    }
  }
}

/** Null where the role does not allow it, or the server has no such kind. */
async function unlessDenied<T>(answer: Promise<T>): Promise<T | null> {
  try {
    return await answer;
  } catch (error) {
    const status = apiStatus(error);
    if (status === 403 || status === 404) return null;
    throw error;
  }
}

function evidenceEvent(uid: string, pod: ToldPod, gap: GapEvent, receivedAt: number): EvidenceEvent {
  const { namespace, name, node, reasons, lastAt } = pod;
  return {
    type: "evidence",
    stream: "events",
    kind: "Pod",
    uid,
    epoch: gap.epoch,
    receivedAt,
    namespace,
    name,
    node,
    reasons,
    // By the server's clock: it can only widen what is known.
    notBefore: Math.min(gap.from, lastAt ?? gap.from),
    notAfter: gap.to,
  };
}

async function podsOfEvents(client: ApiClient, signal: AbortSignal): Promise<ReadonlyMap<string, ToldPod>> {
  const told = new Map<string, ToldPod>();
  const query = { fieldSelector: "involvedObject.kind=Pod" };
  for await (const item of items(client, "events", "/api/v1/events", query, signal)) tellingEvents(told, item);
  return told;
}

/** In words: the Jobs that count more ended pods than there are records. */
async function countsOfJobs({ client, store }: SearchOptions, signal: AbortSignal): Promise<string> {
  const short: string[] = [];
  let missing = 0;
  let seen = 0;
  for await (const job of items(client, "jobs", "/apis/batch/v1/jobs", {}, signal)) {
    seen += 1;
    if (seen > MOST_JOBS) break;
    const metadata = isRecord(job["metadata"]) ? job["metadata"] : {};
    const uid = objectMeta(job)?.uid;
    const { name, namespace } = metadata;
    if (uid === undefined || typeof name !== "string" || typeof namespace !== "string") continue;
    const status = isRecord(job["status"]) ? job["status"] : {};
    const ended = count(status["succeeded"]) + count(status["failed"]);
    if (ended === 0) continue;
    const owned = {
      kind: "Pod",
      namespace,
      owner: { kind: "Job", name },
      between: [0, Number.MAX_SAFE_INTEGER],
    } as const;
    const { records } = await store.query(owned);
    const known = records.filter(({ owners }) => owners[0]?.uid === uid).length;
    if (known >= ended) continue;
    missing += ended - known;
    short.push(`${namespace}/${name}`);
  }
  if (missing === 0) return "missing by the counts of Jobs: 0";
  const named = `${short.slice(0, NAMED_JOBS).join(", ")}${short.length > NAMED_JOBS ? ", …" : ""}`;
  return `missing by the counts of Jobs: ${missing} (${named})`;
}

async function* items(
  client: ApiClient,
  what: string,
  path: string,
  query: Readonly<Record<string, string>>,
  signal: AbortSignal,
): AsyncGenerator<Raw> {
  let next = "";
  for (let page = 0; page < MOST_PAGES; page += 1) {
    const asked = { ...query, limit: "500", ...(next === "" ? {} : { continue: next }) };
    const body = await client.get({ what: `list ${what}`, path, query: asked, signal, timeout: 30_000 });
    if (!isRecord(body) || !Array.isArray(body["items"])) return;
    yield* body["items"].filter(isRecord);
    const metadata = isRecord(body["metadata"]) ? body["metadata"] : {};
    const token = metadata["continue"];
    if (typeof token !== "string" || token === "" || token === next) return;
    next = token;
  }
}

function count(value: unknown): number {
  return typeof value === "number" && Number.isSafeInteger(value) && value > 0 ? value : 0;
}
