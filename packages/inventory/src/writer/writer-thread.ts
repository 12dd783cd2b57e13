import { type MessagePort, parentPort, workerData } from "node:worker_threads";
import { errorCode, errorMessage } from "@trawler/plugin-api";
import { openQueueReader } from "../queue/reader.ts";
import { openStore } from "../store/open.ts";
import { runLoop } from "./loop.ts";
import type { FromWriterThread, ToWriterThread, WriterThreadData } from "./messages.ts";

/** The writer's thread: parses, folds and stores. */
function serve(port: MessagePort, data: WriterThreadData): void {
  const tell = (message: FromWriterThread): void => port.postMessage(message);
  const store = openStore(data.storeFile, data.cluster);
  const reader = openQueueReader(data.queueFile);
  const loop = runLoop(
    {
      ...data,
      now: () => Date.now(),
      monotonic: () => performance.now(),
      report: (status) => tell({ type: "status", status }),
    },
    reader,
    store,
    () => {
      reader[Symbol.dispose]();
      store[Symbol.dispose]();
      tell({ type: "closed" });
      port.close();
    },
  );
  port.on("message", (message: ToWriterThread) => {
    if (message.type === "durable") loop.durable(message.sequence);
    else if (message.type === "flush") loop.flush(message.sequence);
    else loop.close();
  });
}

if (parentPort !== null) {
  const data: WriterThreadData = workerData;
  try {
    serve(parentPort, data);
  } catch (error) {
    const refused: FromWriterThread = {
      type: "refused",
      code: errorCode(error) ?? null,
      message: errorMessage(error),
    };
    parentPort.postMessage(refused);
    parentPort.close();
  }
}
