import { once } from "node:events";
import type { ServerResponse } from "node:http";
import { sleep } from "@trawler/kube";
import type { Journal, JournalEvent } from "../journal/journal.ts";
import { isOver } from "../journal/record.ts";

export interface FollowOptions {
  readonly journal: Journal;
  /** The events behind this one are sent; 0 = all. */
  readonly after: number;
  /** Until the run is over; else what is there now. */
  readonly follow: boolean;
  /** Whether somebody works on it, or will. */
  readonly active: () => boolean;
  /** Aborts when the reader has gone or the service stops. */
  readonly signal: AbortSignal;
}

const BATCH = 200;
/** Milliseconds between two looks at the journal: another process may be the one that writes it. */
const LOOK = 200;
/** Milliseconds of silence after which a comment shows that the connection lives. */
const HEARTBEAT = 15_000;
/** Milliseconds after which a reader that lost its connection comes back. */
const RETRY = 2_000;

/**
 * Sends the events of a run as server-sent events: `log`, `object` and `state`, each with the id to go on from, and
 * `end` once the run is over. Resolves then, or when the signal aborts.
 */
export async function sendEvents(response: ServerResponse, options: FollowOptions): Promise<void> {
  const { journal, follow, active, signal } = options;
  let { after } = options;
  await write(response, `retry: ${RETRY}\n\n`, signal);
  let quiet = 0;
  while (!signal.aborted) {
    // Asked before the events are read: an end that comes in between is seen with its events in the next round.
    const over = isOver(journal.run.state) && !active();
    const events = journal.events(after, BATCH);
    for (const event of events) await write(response, textOf(event), signal);
    after = events.at(-1)?.id ?? after;
    if (events.length === BATCH) continue;
    if (!follow) return;
    if (over) {
      const { evidence: _, ...run } = journal.run;
      return await write(response, `id: ${after}\nevent: end\ndata: ${JSON.stringify(run)}\n\n`, signal);
    }
    quiet = events.length > 0 ? 0 : quiet + LOOK;
    if (quiet >= HEARTBEAT) {
      quiet = 0;
      await write(response, ": still there\n\n", signal);
    }
    await sleep(LOOK, signal);
  }
}

/** JSON has no line breaks: one `data` line each. */
function textOf({ id, ...event }: JournalEvent): string {
  const type = event.object !== undefined ? "object" : event.state !== undefined ? "state" : "log";
  return `id: ${id}\nevent: ${type}\ndata: ${JSON.stringify(event)}\n\n`;
}

/** Waits for a slow reader: what it has not read yet stays in the journal. */
async function write(response: ServerResponse, text: string, signal: AbortSignal): Promise<void> {
  if (signal.aborted || response.write(text)) return;
  await once(response, "drain", { signal }).catch(() => undefined);
}
