import { writeSync } from "node:fs";
import { openAnyReader, openQueue, openWriter, type StoreTarget } from "../src/index.ts";
import { script } from "./script.ts";

/** A collector in small, to be killed: resumes from the stored position, with some events that it has seen before. */
const [folder = "", seed = "1", length = "0", other] = process.argv.slice(2);
const REPLAY = 15;
const CHUNK = 7;

const queue = await openQueue({ file: `${folder}/queue.db`, commitMilliseconds: 1 });
const store: StoreTarget = other === undefined ? `${folder}/store.db` : JSON.parse(other);
const writer = await openWriter({ queue, store, cluster: "crash", flushMilliseconds: 3, flushEvents: 40 });
await writer.flush(queue.status().durable);
const reader = await openAnyReader(store);
const position = Number((await reader.position("pods"))?.resourceVersion ?? 0);
await reader[Symbol.asyncDispose]();
if (position === 0) {
  await queue.append([{ type: "synced", stream: "pods", epoch: 0, receivedAt: 0, resourceVersion: "0", asOf: 0 }]);
}
const events = script(Number(seed), Number(length)).slice(Math.max(0, position - REPLAY));
writeSync(1, `ready ${position}\n`);
for (let at = 0; at < events.length; at += CHUNK) {
  const appended = queue.append(events.slice(at, at + CHUNK));
  // Some wait for the disk, some do not: both orders must hold. The last one must be durable, as a writer that is closed
  // applies what is durable; what is not stays in the queue for the next.
  if (at % 3 === 0 || at + CHUNK >= events.length) await appended;
  else void appended.catch(() => {});
}
await writer.close();
await queue.close();
writeSync(1, "done\n");
