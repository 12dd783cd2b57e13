/**
 * `server-status?auto` of Apache's mod_status: lines `Name: value`. Absent lines are null, never 0. Letters of the
 * scoreboard as the module's page explains them.
 */
export interface Status {
  readonly version: string | null;
  readonly uptime: number | null;
  readonly accesses: number | null;
  readonly bytes: number | null;
  readonly requestRate: number | null;
  readonly byteRate: number | null;
  readonly bytesPerRequest: number | null;
  readonly load: number | null;
  readonly busy: number | null;
  readonly idle: number | null;
  readonly connections: number | null;
  readonly workers: Readonly<Record<WorkerState, number>> | null;
}

export const WORKER_STATES = {
  waiting: "_",
  starting: "S",
  reading: "R",
  sending: "W",
  keepalive: "K",
  dns_lookup: "D",
  closing: "C",
  logging: "L",
  finishing: "G",
  idle_cleanup: "I",
  open: ".",
} as const;
export type WorkerState = keyof typeof WORKER_STATES;

/** Null where the text is no such page. */
export function parseStatus(text: string): Status | null {
  const fields = new Map<string, string>();
  for (const line of text.split("\n")) {
    const colon = line.indexOf(": ");
    if (colon > 0 && colon < 64) fields.set(line.slice(0, colon), line.slice(colon + 2).trim());
  }
  const scoreboard = fields.get("Scoreboard");
  if (scoreboard === undefined && !fields.has("BusyWorkers")) return null;
  const number = (name: string): number | null => numberOf(fields.get(name));
  const kilobytes = number("Total kBytes");
  return {
    version: fields.get("ServerVersion")?.slice(0, 128) ?? null,
    uptime: number("ServerUptimeSeconds") ?? number("Uptime"),
    accesses: number("Total Accesses"),
    bytes: kilobytes === null ? null : kilobytes * 1024,
    requestRate: number("ReqPerSec"),
    byteRate: number("BytesPerSec"),
    bytesPerRequest: number("BytesPerReq"),
    load: number("Load1"),
    busy: number("BusyWorkers"),
    idle: number("IdleWorkers"),
    connections: number("ConnsTotal"),
    workers: scoreboard === undefined ? null : countWorkers(scoreboard),
  };
}

/** Apache prints `.145393` and `1.2e-05`. */
function numberOf(text: string | undefined): number | null {
  if (text === undefined || !/^(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(text)) return null;
  return Number(text);
}

function countWorkers(scoreboard: string): Readonly<Record<WorkerState, number>> {
  const byLetter = new Map<string, number>();
  for (const letter of scoreboard) byLetter.set(letter, (byLetter.get(letter) ?? 0) + 1);
  const of = (state: WorkerState): number => byLetter.get(WORKER_STATES[state]) ?? 0;
  return {
    waiting: of("waiting"),
    starting: of("starting"),
    reading: of("reading"),
    sending: of("sending"),
    keepalive: of("keepalive"),
    dns_lookup: of("dns_lookup"),
    closing: of("closing"),
    logging: of("logging"),
    finishing: of("finishing"),
    idle_cleanup: of("idle_cleanup"),
    open: of("open"),
  };
}
