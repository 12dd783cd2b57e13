import { type AddressInfo, createServer, type Socket } from "node:net";

export interface Receiver extends AsyncDisposable {
  readonly address: string;
  /** Whole lines that have arrived, in order. */
  lines(): readonly string[];
  /** Cuts every connection. */
  cut(): void;
  /** Reads no more. */
  stall(): void;
}

/** A plaintext receiver on loopback, as carbon is one: it reads lines and never answers. */
export async function receiver(port = 0): Promise<Receiver> {
  const sockets = new Set<Socket>();
  let text = "";
  let stalled = false;
  const server = createServer((socket) => {
    sockets.add(socket);
    if (stalled) socket.pause();
    socket.on("data", (chunk) => {
      text += chunk.toString("utf8");
    });
    socket.on("error", () => undefined);
    socket.on("close", () => sockets.delete(socket));
  });
  await new Promise<void>((resolve) => server.listen(port, "127.0.0.1", resolve));
  const cut = (): void => {
    for (const socket of sockets) socket.resetAndDestroy();
  };
  return {
    address: `127.0.0.1:${(server.address() as AddressInfo).port}`,
    lines: () => text.split("\n").slice(0, -1),
    cut,
    stall() {
      stalled = true;
      for (const socket of sockets) socket.pause();
    },
    async [Symbol.asyncDispose]() {
      cut();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
