import { gunzipSync } from "node:zlib";
import { errorCode, errorMessage, type NetworkAccess, type NetworkSocket } from "@trawler/plugin-api";

export interface Question {
  readonly port: number;
  /** The one address that it listens on; absent = all of them. */
  readonly host?: string;
  /** Begins with `/`. */
  readonly path: string;
  readonly accept?: string;
  /** Further headers, such as an authorization. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Speak TLS. A pod's certificate is its own matter: it is not checked. */
  readonly tls?: boolean;
  /** Bytes of the answer's body; default 64 KiB. */
  readonly maxBody?: number;
  /** Milliseconds for everything, connecting included. */
  readonly timeout: number;
  readonly signal: AbortSignal;
}

export type Answer =
  | {
      readonly status: number;
      readonly body: string;
      /** `Server` header, such as `nginx/1.26.0`. */
      readonly server: string | null;
    }
  /** `heard`: something answered, but no whole HTTP answer within the bounds. */
  | { readonly status: null; readonly heard: boolean; readonly reason: string };

const DEFAULT_MAX_BODY = 65_536;
const MAX_HEADER = 16_384;
/** Stands in the access logs of those who are crawled; a test holds it to the package's version. */
const USER_AGENT = "trawler/0.1.0";

/**
 * One GET over one connection of its own, closed before this returns. Follows no redirect. Failures are answers, never
 * throws, except those of `connect` that say the member has gone.
 */
export async function get(net: Pick<NetworkAccess, "connect">, question: Question): Promise<Answer> {
  const deadline = new AbortController();
  const abort = (): void => deadline.abort();
  const timer = setTimeout(abort, question.timeout);
  const progress = { heard: false };
  question.signal.addEventListener("abort", abort, { once: true });
  if (question.signal.aborted) abort();
  try {
    const { port, host, timeout } = question;
    const target = host === undefined ? { port } : { port, host };
    const socket = await net.connect(target, { signal: deadline.signal, timeout });
    // A socket without a listener would bring the process down by its error.
    socket.on("error", () => undefined);
    const closed = socket.destroyed ? undefined : new Promise((resolve) => socket.once("close", resolve));
    try {
      return await exchange(socket, question, deadline.signal, progress);
    } finally {
      socket.destroy();
      await closed;
    }
  } catch (error) {
    const code = errorCode(error);
    if (code === "TRAWLER_GONE") throw error;
    const heard = progress.heard || (error instanceof Error && error.name === "HTTPParserError");
    return { status: null, heard, reason: deadline.signal.aborted ? "no whole answer in time" : errorMessage(error) };
  } finally {
    clearTimeout(timer);
    question.signal.removeEventListener("abort", abort);
  }
}

async function exchange(
  socket: NetworkSocket,
  { port, path, tls = false, accept = "text/plain", headers: more = {}, maxBody = DEFAULT_MAX_BODY }: Question,
  signal: AbortSignal,
  progress: { heard: boolean },
): Promise<Answer> {
  // On first use: a node without nginx never pays for the client.
  const { Client } = await import("undici");
  const { connect: encrypt } = await import("node:tls");
  const stream = tls ? encrypt({ socket, rejectUnauthorized: false }).on("error", () => undefined) : socket;
  // The scheme is that of the request; what is below it is ours.
  const client = new Client(`http://localhost:${port}`, {
    // Later, as the client does not notice a connection that is there before it has begun to wait for it.
    connect: (_, callback) => void setImmediate(callback, null, stream),
    maxHeaderSize: MAX_HEADER,
    maxResponseSize: maxBody,
    pipelining: 1,
  });
  try {
    const headers = { ...more, "user-agent": USER_AGENT, accept, "accept-encoding": "identity" };
    const response = await client.request({ path, method: "GET", headers, reset: true, signal });
    progress.heard = true;
    const bytes = Buffer.from(await response.body.arrayBuffer());
    const { server } = response.headers;
    return {
      status: response.statusCode,
      body: decode(bytes, response.headers["content-encoding"], maxBody),
      server: typeof server === "string" ? server.slice(0, 128) : null,
    };
  } finally {
    await client.destroy();
  }
}

/** Some proxies compress though they were asked not to. */
function decode(bytes: Buffer, encoding: string | string[] | undefined, maxBody: number): string {
  if (encoding === undefined || encoding === "identity") return bytes.toString();
  if (encoding === "gzip") return gunzipSync(bytes, { maxOutputLength: maxBody }).toString();
  throw new Error("the answer is in an encoding that was not asked for");
}
