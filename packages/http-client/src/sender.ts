import { readFile } from "node:fs/promises";
import { promisify } from "node:util";
import { gzip } from "node:zlib";
import { errorMessage, TrawlerError } from "@trawler/plugin-api";
import { Agent, buildConnector, request } from "undici";
import type { SenderSettings } from "./settings.ts";

export interface Answer {
  readonly status: number;
  readonly retryAfter: string | null;
  /** Begin of what the receiver said, for a message. */
  readonly text: string;
}

export interface Sender extends AsyncDisposable {
  /** Throws TRAWLER_UNAVAILABLE where there is no answer in time. */
  post(body: Uint8Array, mediaType: string, signal: AbortSignal): Promise<Answer>;
}

/** Bytes of an answer that are read; what a receiver says beyond them is cut off. */
const MAX_ANSWER = 1_024;
const compress = promisify(gzip);

/** Sends bodies to one address, over connections that are kept. */
export function createSender({ url, headers, compression, tls, tokenFile }: SenderSettings, timeout: number): Sender {
  const agent = new Agent({
    connections: 2,
    connect: connectorOf(tls, timeout),
    headersTimeout: timeout,
    bodyTimeout: timeout,
  });
  return {
    async post(body, mediaType, signal) {
      const token = tokenFile === undefined ? null : (await readPem(tokenFile)).trim();
      const encoded = compression === "gzip" ? await compress(body) : body;
      try {
        const {
          statusCode,
          headers: answered,
          body: answer,
        } = await request(url, {
          method: "POST",
          dispatcher: agent,
          signal,
          body: encoded,
          headers: {
            "user-agent": "trawler",
            ...headers,
            ...(token === null ? {} : { authorization: `Bearer ${token}` }),
            "content-type": mediaType,
            ...(compression === "gzip" ? { "content-encoding": "gzip" } : {}),
          },
        });
        const after = answered["retry-after"];
        return {
          status: statusCode,
          retryAfter: typeof after === "string" ? after : null,
          text: await beginning(answer),
        };
      } catch (cause) {
        signal.throwIfAborted();
        // The rest of the address may hold a key.
        throw new TrawlerError("TRAWLER_UNAVAILABLE", `${new URL(url).host}: ${errorMessage(cause)}`, { cause });
      }
    },
    [Symbol.asyncDispose]: () => agent.destroy(),
  };
}

/** Reads the files of the certificates at each connection, so that a renewed one takes effect. */
function connectorOf(
  { ca, certificate, key, serverName }: SenderSettings["tls"],
  timeout: number,
): buildConnector.connector {
  const read = (path: string | undefined) => (path === undefined ? undefined : readPem(path));
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

async function readPem(path: string): Promise<string> {
  return readFile(path, "utf8").catch((cause: unknown) => {
    throw new TrawlerError("TRAWLER_UNAVAILABLE", `cannot read ${path}: ${errorMessage(cause)}`, { cause });
  });
}

async function beginning(body: AsyncIterable<Uint8Array> & { destroy(): unknown }): Promise<string> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of body) {
    chunks.push(chunk);
    size += chunk.length;
    if (size >= MAX_ANSWER) {
      body.destroy();
      break;
    }
  }
  return Buffer.concat(chunks)
    .toString("utf8", 0, MAX_ANSWER)
    .replaceAll(/[\p{Cc}\s]+/gu, " ")
    .trim();
}
