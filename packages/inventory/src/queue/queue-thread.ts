import { type MessagePort, parentPort, workerData } from "node:worker_threads";
import { errorMessage } from "@trawler/plugin-api";
import { openQueueFile, type QueueFile } from "./file.ts";
import type { FromQueueThread, QueueThreadData, ToQueueThread } from "./messages.ts";

/** Pause before what failed is tried again, milliseconds: doubled up to the second. */
const RETRY = [100, 2000] as const;

/** Commits that are rewritten at once where the quota is reached. */
const COMPACT_STEP = 8;

type Append = Extract<ToQueueThread, { type: "append" }>;

/** A group on its way into the file. */
interface Job {
  readonly group: Append;
  done: number;
  /** Where the bytes of the rest begin. */
  offset: number;
  /** How many are tried next: fewer after each failure, so that what fits goes in. */
  take: number;
}

/** The queue's thread: appends in order, lets go in between, and tries again for ever what a full disk refuses. */
function serve(port: MessagePort, file: QueueFile): void {
  const jobs: Job[] = [];
  let releaseTo = 0;
  let closing = false;
  let closed = false;
  let fault: string | null = null;
  let pause: number = RETRY[0];
  /** Fewer are tried at once: only where not even one fits there is something to wait for. */
  let hurry = false;
  let compaction: Iterator<number, void> | null = null;
  let scheduled: NodeJS.Timeout | null = null;
  const tell = (message: FromQueueThread, transfer: ArrayBuffer[] = []): void => port.postMessage(message, transfer);

  const release = (): void => {
    if (releaseTo <= file.released()) return;
    file.release(releaseTo);
    tell({ type: "released", sequence: file.released(), fileBytes: file.bytes() });
  };

  /** A few commits at a time, so that what the store has taken is released in between. */
  const dropSome = (steps: Iterator<number, void>): void => {
    let dropped = 0;
    for (let taken = 0; taken < COMPACT_STEP; taken += 1) {
      const next = steps.next();
      if (next.done === true) {
        compaction = null;
        break;
      }
      dropped += next.value;
    }
    if (dropped > 0) tell({ type: "compacted", dropped, fileBytes: file.bytes() });
  };

  const append = (): void => {
    const job = jobs[0];
    if (job === undefined) return;
    const { group, done, take } = job;
    const heads = group.heads.slice(done, done + take);
    file.append(heads, group.lengths.slice(done, done + take), group.block.subarray(job.offset));
    advance(job);
  };

  const advance = (job: Job): void => {
    const { group, done, take } = job;
    job.offset += group.lengths.slice(done, done + take).reduce((sum, length) => sum + length, 0);
    job.done += take;
    const rest = group.heads.length - job.done;
    // As many as fitted, and some more.
    job.take = fault === null ? rest : Math.min(rest, take * 2);
    if (job.take > 0) {
      // What makes room again is the writer's work on these.
      tell({ type: "partial", sequence: file.durable(), fileBytes: file.bytes() });
      return;
    }
    jobs.shift();
    const { block } = group;
    tell({ type: "durable", sequence: file.durable(), fileBytes: file.bytes(), block }, [block.buffer]);
  };

  const failed = (error: unknown): void => {
    const job = jobs[0];
    const expected = file.durable() + (job?.take ?? 0);
    const wasCompacting = compaction !== null;
    let atQuota = false;
    compaction = null;
    try {
      atQuota = file.isAtQuota(job === undefined ? 0 : sizeOf(job));
      file.reopen();
      const canCompact = atQuota && !wasCompacting && fault === null && file.durable() !== expected;
      if (canCompact) compaction = file.compact();
    } catch {
      // The next attempt tells why.
    }
    if (compaction !== null) {
      hurry = true;
      return;
    }
    const why = atQuota
      ? "it is full up to its quota, and nothing more of it can be dropped before the store takes it"
      : `${errorMessage(error)}; trying again`;
    const message = `the queue cannot be written: ${why}`;
    if (message !== fault) tell({ type: "fault", message });
    fault = message;
    if (job === undefined || wasCompacting) return;
    // The commit was reported as failed, and holds: not to be appended twice.
    if (file.durable() === expected) advance(job);
    else {
      hurry = job.take > 1;
      job.take = Math.max(1, Math.floor(job.take / 2));
    }
  };

  const step = (): void => {
    scheduled = null;
    hurry = false;
    try {
      release();
      if (compaction === null) append();
      else dropSome(compaction);
      if (fault !== null) tell({ type: "fault", message: null });
      fault = null;
      pause = RETRY[0];
    } catch (error) {
      failed(error);
    }
    plan();
  };

  const plan = (): void => {
    if (scheduled !== null || closed) return;
    const idle = jobs.length === 0 && compaction === null && releaseTo <= file.released();
    if (closing && (idle || fault !== null)) {
      closed = true;
      file.close();
      tell({ type: "closed" });
      port.close();
    } else if (!idle) {
      const wait = fault !== null && !hurry;
      scheduled = setTimeout(step, wait ? pause : 0);
      if (wait) pause = Math.min(pause * 2, RETRY[1]);
    }
  };

  port.on("message", (message: ToQueueThread) => {
    if (message.type === "append") {
      jobs.push({ group: message, done: 0, offset: 0, take: message.heads.length });
    } else if (message.type === "release") releaseTo = Math.min(Math.max(releaseTo, message.sequence), file.durable());
    else closing = true;
    plan();
  });
  tell({ type: "opened", identity: file.identity, durable: file.durable(), released: file.released() });
}

function sizeOf({ group, done, take }: Job): number {
  const heads = group.heads.slice(done, done + take).reduce((sum, { length }) => sum + length, 0);
  return group.lengths.slice(done, done + take).reduce((sum, length) => sum + length, heads);
}

if (parentPort !== null) {
  const data: QueueThreadData = workerData;
  try {
    serve(parentPort, openQueueFile(data.file, data.maxBytes));
  } catch (error) {
    const refused: FromQueueThread = { type: "refused", message: errorMessage(error) };
    parentPort.postMessage(refused);
    parentPort.close();
  }
}
