import { createHash } from "node:crypto";
import { type AddressInfo, createServer, type Socket } from "node:net";
import { decodeMulti, ExtensionCodec, encode } from "@msgpack/msgpack";

interface Entry {
  /** Seconds and nanoseconds. */
  readonly time: readonly [number, number];
  readonly record: Readonly<Record<string, unknown>>;
}
interface Message {
  readonly tag: string;
  readonly entries: readonly Entry[];
  readonly options: { readonly chunk: string; readonly size: number };
}

const codec = new ExtensionCodec();
codec.register({
  type: 0,
  encode: () => null,
  decode: (bytes) => {
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    return [view.getUint32(0), view.getUint32(4)];
  },
});

export interface Receiver extends AsyncDisposable {
  readonly address: string;
  readonly messages: readonly Message[];
}

export interface ReceiverOptions {
  /** Speaks HELO first and wants this key. */
  readonly sharedKey?: string;
  /** What it answers; by default what the protocol asks for. */
  readonly answer?: (message: Message) => Uint8Array | null;
}

/** A receiver of the forward protocol on loopback, written from its specification: for faults that a real one does not show. */
export async function receiver({ sharedKey, answer }: ReceiverOptions = {}): Promise<Receiver> {
  const messages: Message[] = [];
  const sockets = new Set<Socket>();
  const nonce = Buffer.from("nonce-of-receiver");
  const server = createServer((socket) => {
    sockets.add(socket);
    let trusted = sharedKey === undefined;
    let bytes = Buffer.alloc(0);
    if (!trusted) socket.write(encode(["HELO", { nonce, auth: "", keepalive: true }]));
    const take = (value: unknown[]): void => {
      if (!trusted) {
        const [, name, salt, proof] = value.map(String);
        const sum = (who: string) =>
          createHash("sha512").update(`${salt}${who}`).update(nonce).update(String(sharedKey)).digest("hex");
        trusted = proof === sum(String(name));
        socket.write(encode(["PONG", trusted, trusted ? "" : "shared_key mismatch", "me", sum("me")]));
        return;
      }
      const [tag, entries, options] = value as [string, [[number, number], Entry["record"]][], Message["options"]];
      const message: Message = { tag, entries: entries.map(([time, record]) => ({ time, record })), options };
      messages.push(message);
      const reply = answer === undefined ? encode({ ack: options.chunk }) : answer(message);
      if (reply === null) socket.destroy();
      else socket.write(reply);
    };
    socket.on("data", (chunk: Uint8Array) => {
      bytes = Buffer.concat([bytes, chunk]);
      try {
        const values = [...decodeMulti(bytes, { extensionCodec: codec })];
        bytes = Buffer.alloc(0);
        for (const value of values) take(value as unknown[]);
      } catch {
        // Not whole yet.
      }
    });
    socket.on("error", () => undefined);
    socket.on("close", () => sockets.delete(socket));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    address: `127.0.0.1:${(server.address() as AddressInfo).port}`,
    messages,
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
