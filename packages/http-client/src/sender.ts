import { readFile } from "node:fs/promises";
import { promisify } from "node:util";
import { gzip } from "node:zlib";
import { errorMessage, TrawlerError } from "@trawler/plugin-api";
import { Agent, buildConnector, request } from "undici";
import type { SenderSettings } from "./settings.ts";

export interface Answer {
  readonly status: number;
  readonly retryAfter: string | null;
  /** What the receiver said, on one line. */
  readonly text: string;
  /** False where it said more than is read. */
  readonly complete: boolean;
}

/** One request. Its headers win over those of the settings. */
export interface Message {
  readonly method?: "POST" | "PUT";
  /** The address of the settings where it is absent. */
  readonly url?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly mediaType: string;
  readonly body: Uint8Array;
}

export interface Sender extends AsyncDisposable {
  /** Throws TRAWLER_UNAVAILABLE where there is no answer in time. */
  post(body: Uint8Array, mediaType: string, signal: AbortSignal): Promise<Answer>;
  /** The same for another method, address or headers of one request. */
  send(message: Message, signal: AbortSignal): Promise<Answer>;
}

/** Bytes of an answer that are read where it is only shown in a message. */
const MAX_ANSWER = 1_024;
const compress = promisify(gzip);

/** Sends bodies over connections that are kept. `maxAnswer`: bytes of an answer that are read. */
export function createSender(
  { url: base, headers: fixed, compression, tls, tokenFile }: SenderSettings,
  timeout: number,
  maxAnswer: number = MAX_ANSWER,
): Sender {
  const agent = new Agent({
    connections: 2,
    connect: connectorOf(tls, timeout),
    headersTimeout: timeout,
    bodyTimeout: timeout,
  });

  async function send(message: Message, signal: AbortSignal): Promise<Answer> {
    const { method = "POST", url = base, mediaType, body, headers } = message;
    const token = tokenFile === undefined ? null : (await readText(tokenFile)).trim();
    const encoded = compression === "gzip" ? await compress(body) : body;
    try {
      const answer = await request(url, {
        method,
        dispatcher: agent,
        signal,
        body: encoded,
        headers: {
          "user-agent": "trawler",
          ...fixed,
          ...(token === null ? {} : { authorization: `Bearer ${token}` }),
          "content-type": mediaType,
          ...(compression === "gzip" ? { "content-encoding": "gzip" } : {}),
          ...headers,
        },
      });
      const after = answer.headers["retry-after"];
      return {
        status: answer.statusCode,
        retryAfter: typeof after === "string" ? after : null,
        ...(await beginning(answer.body, maxAnswer)),
      };
    } catch (cause) {
      signal.throwIfAborted();
      // The rest of the address may hold a key.
      throw new TrawlerError("TRAWLER_UNAVAILABLE", `${new URL(url).host}: ${errorMessage(cause)}`, { cause });
    }
  }

  return {
    send,
    post: (body, mediaType, signal) => send({ body, mediaType }, signal),
    [Symbol.asyncDispose]: () => agent.destroy(),
  };
}

/** Reads the files of the certificates at each connection, so that a renewed one takes effect. */
function connectorOf(
  { ca, certificate, key, serverName }: SenderSettings["tls"],
  timeout: number,
): buildConnector.connector {
  const read = (path: string | undefined) => (path === undefined ? undefined : readText(path));
  return (options, callback) => {
    Promise.all([read(ca), read(certificate), read(key)]).then(
      ([caText, certText, keyText]) =>
        buildConnector({
          timeout,
          ...(caText === undefined ? {} : { ca: caText }),
          ...(certText === undefined ? {} : { cert: certText }),
          ...(keyText === undefined ? {} : { key: keyText }),
          ...(serverName === undefined ? {} : { servername: serverName }),
        })(options, callback),
      (error: Error) => callback(error, null),
    );
  };
}

/** A file of a certificate, a key or another secret. Throws TRAWLER_UNAVAILABLE where it cannot be read. */
export async function readText(path: string): Promise<string> {
  return readFile(path, "utf8").catch((cause: unknown) => {
    throw new TrawlerError("TRAWLER_UNAVAILABLE", `cannot read ${path}: ${errorMessage(cause)}`, { cause });
  });
}

async function beginning(
  body: AsyncIterable<Uint8Array> & { destroy(): unknown },
  most: number,
): Promise<Pick<Answer, "text" | "complete">> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of body) {
    chunks.push(chunk);
    size += chunk.length;
    if (size > most) {
      body.destroy();
      break;
    }
  }
  const text = Buffer.concat(chunks)
    .toString("utf8", 0, most)
    .replaceAll(/[\p{Cc}\s]+/gu, " ")
    .trim();
  return { text, complete: size <= most };
}
