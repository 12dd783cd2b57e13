import { type MessagePort, parentPort, workerData } from "node:worker_threads";
import { errorCode, errorMessage } from "@trawler/plugin-api";
import { openQueueReader } from "../queue/reader.ts";
import { openAnyStore } from "../store/target.ts";
import { runLoop } from "./loop.ts";
import type { FromWriterThread, ToWriterThread, WriterThreadData } from "./messages.ts";

/** The writer's thread: parses, folds and stores. */
async function serve(port: MessagePort, data: WriterThreadData): Promise<void> {
  const tell = (message: FromWriterThread): void => port.postMessage(message);
  const store = await openAnyStore(data.store, data.cluster, data.token);
  const reader = openQueueReader(data.queueFile);
  const loop = await runLoop(
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
      const end = (): void => {
        tell({ type: "closed" });
        port.close();
      };
      store[Symbol.asyncDispose]().then(end, end);
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
  const port = parentPort;
  serve(port, data).catch((error: unknown) => {
    const refused: FromWriterThread = {
      type: "refused",
      code: errorCode(error) ?? null,
      message: errorMessage(error),
    };
    port.postMessage(refused);
    port.close();
  });
}
