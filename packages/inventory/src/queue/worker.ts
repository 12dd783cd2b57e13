import { type MessagePort, parentPort, workerData } from "node:worker_threads";
import { errorMessage } from "@trawler/plugin-api";
import { openQueueFile, type QueueFile } from "./file.ts";
import type { FromQueueThread, QueueThreadData, ToQueueThread } from "./messages.ts";

/** Pause before what failed is tried again, milliseconds: doubled up to the second. */
const RETRY = [100, 2000] as const;

type Append = Extract<ToQueueThread, { type: "append" }>;

/** The queue's thread: appends in order, lets go in between, and tries again for ever what a full disk refuses. */
function serve(port: MessagePort, file: QueueFile): void {
  const appends: Append[] = [];
  let releaseTo = 0;
  let closing = false;
  let closed = false;
  let fault: string | null = null;
  let pause: number = RETRY[0];
  let scheduled: NodeJS.Timeout | null = null;
  const tell = (message: FromQueueThread): void => port.postMessage(message);

  const release = (): void => {
    if (releaseTo <= file.released()) return;
    file.release(releaseTo);
    tell({ type: "released", sequence: file.released(), fileBytes: file.bytes() });
  };

  const append = (): void => {
    const next = appends[0];
    if (next === undefined) return;
    const sequence = file.append(next.heads, next.lengths, next.bytes);
    appends.shift();
    tell({ type: "durable", sequence, fileBytes: file.bytes() });
  };

  const failed = (error: unknown): void => {
    fault = `the queue cannot be written: ${errorMessage(error)}; trying again`;
    tell({ type: "fault", message: fault });
    const next = appends[0];
    const expected = file.durable() + (next?.heads.length ?? 0);
    try {
      file.reopen();
    } catch {
      return;
    }
    // The commit was reported as failed, and holds: not to be appended twice.
    if (next !== undefined && file.durable() === expected) {
      appends.shift();
      tell({ type: "durable", sequence: expected, fileBytes: file.bytes() });
    }
  };

  const step = (): void => {
    scheduled = null;
    try {
      release();
      append();
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
    const idle = appends.length === 0 && releaseTo <= file.released();
    if (closing && (idle || fault !== null)) {
      closed = true;
      file.close();
      tell({ type: "closed" });
      port.close();
    } else if (!idle) {
      scheduled = setTimeout(step, fault === null ? 0 : pause);
      if (fault !== null) pause = Math.min(pause * 2, RETRY[1]);
    }
  };

  port.on("message", (message: ToQueueThread) => {
    if (message.type === "append") appends.push(message);
    else if (message.type === "release") releaseTo = Math.min(Math.max(releaseTo, message.sequence), file.durable());
    else closing = true;
    plan();
  });
  tell({ type: "opened", identity: file.identity, durable: file.durable(), released: file.released() });
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
