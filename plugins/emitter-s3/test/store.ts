import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expectedSignature, type SignedRequest, signatureOf } from "./signature.ts";

export const SECRET = "not-a-real-secret";
export const KEYS = { accessKeyId: "not-a-real-key", secretAccessKey: SECRET } as const;

export interface Reply {
  readonly status: number;
  readonly text?: string;
  /** Ends the connection without an answer, after the object has been stored. */
  readonly cut?: boolean;
}

export interface Store extends AsyncDisposable {
  readonly url: string;
  readonly objects: ReadonlyMap<string, Uint8Array>;
  readonly requests: readonly SignedRequest[];
}

export const errorDocument = (code: string, message: string, more = ""): string =>
  `<?xml version="1.0" encoding="UTF-8"?>\n<Error><Code>${code}</Code><Message>${message}</Message>${more}</Error>`;

/**
 * An object store on loopback: keeps what is put with a right signature, answers as told. A real one (gofakes3, versitygw)
 * cannot be made to fail on demand.
 */
export async function objectStore(reply: (count: number) => Reply = () => ({ status: 200 })): Promise<Store> {
  const objects = new Map<string, Uint8Array>();
  const requests: SignedRequest[] = [];
  const server = createServer((request, response) => {
    const chunks: Uint8Array[] = [];
    request.on("data", (chunk: Uint8Array) => chunks.push(chunk));
    request.on("end", () => {
      const { method = "", url: path = "", headers } = request;
      const received = { method, path, headers, body: Buffer.concat(chunks) };
      requests.push(received);
      const right = signatureOf(received) === expectedSignature(received, SECRET);
      const {
        status,
        text = "",
        cut = false,
      } = right
        ? reply(requests.length)
        : { status: 403, text: errorDocument("SignatureDoesNotMatch", "The signature does not match.") };
      if (status === 200) objects.set(decodeURIComponent(path), received.body);
      if (cut) response.destroy();
      else response.writeHead(status).end(text);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    objects,
    requests,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
