import { createServer, type IncomingHttpHeaders, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { gunzipSync } from "node:zlib";

export interface ReceivedRequest {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
}

export interface HttpReply {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly text?: string;
  /** Cuts the connection in the middle of the answer. */
  readonly cut?: boolean;
}

export interface HttpReceiver extends AsyncDisposable {
  readonly url: string;
  readonly port: number;
  readonly requests: readonly ReceivedRequest[];
}

/** A real HTTP server on loopback that answers as told, by what it received. */
export async function httpReceiver(
  reply: (received: ReceivedRequest, count: number) => HttpReply = () => ({ status: 200 }),
  create: (listener: RequestListener) => ReturnType<typeof createServer> = createServer,
): Promise<HttpReceiver> {
  const requests: ReceivedRequest[] = [];
  const server = create((request, response) => {
    const chunks: Uint8Array[] = [];
    request.on("data", (chunk: Uint8Array) => chunks.push(chunk));
    request.on("end", () => {
      const body = Buffer.concat(chunks);
      const text = (request.headers["content-encoding"] === "gzip" ? gunzipSync(body) : body).toString("utf8");
      const received = { path: request.url ?? "", headers: request.headers, text };
      requests.push(received);
      const { status, headers = {}, text: answer = "", cut = false } = reply(received, requests.length);
      response.writeHead(status, cut ? { ...headers, "content-length": "100" } : headers);
      if (cut) response.write("x", () => response.destroy());
      else response.end(answer);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/frames`,
    port,
    requests,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
