import { closeSync, openSync } from "node:fs";
import { parentPort } from "node:worker_threads";
import { errnoName, type Libc, loadLibc } from "../ffi/libc.ts";
import type { SocketReply, SocketRequest } from "./protocol.ts";

// The entry of the one thread that enters network namespaces. It makes sockets there and does nothing else in them; a
// socket keeps its namespace when the thread has gone back. It imports no package but the FFI, so that it starts from
// source and from a bundle alike.

const CLONE_NEWNET = 0x40000000;
const SOCK_STREAM = 1;

if (parentPort !== null) await serve(parentPort);

async function serve(port: NonNullable<typeof parentPort>): Promise<void> {
  const libc = await loadLibc();
  // Not /proc/self: that is the main thread.
  const home = openSync("/proc/thread-self/ns/net", "r");
  port.on("message", (request: SocketRequest) => {
    const result = libc === null ? { code: "ENOSYS", lost: false } : makeSocket(libc, home, request);
    const reply: SocketReply =
      "code" in result ? { id: request.id, code: result.code } : { id: request.id, descriptor: result.descriptor };
    port.postMessage(reply);
    // A thread that cannot go back must not serve another namespace: a new one takes its place.
    if ("lost" in result && result.lost) port.close();
  });
}

type Made = { readonly descriptor: number } | { readonly code: string; readonly lost: boolean };

function makeSocket(libc: Libc, home: number, request: SocketRequest): Made {
  const entered = libc.setns(request.namespace, CLONE_NEWNET);
  if (entered < 0) return { code: errnoName(entered), lost: false };
  const descriptor = libc.socket(request.domain, SOCK_STREAM, 0);
  const returned = libc.setns(home, CLONE_NEWNET);
  if (returned < 0) {
    if (descriptor >= 0) closeSync(descriptor);
    return { code: errnoName(returned), lost: true };
  }
  return descriptor < 0 ? { code: errnoName(descriptor), lost: false } : { descriptor };
}
