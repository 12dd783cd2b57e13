import { type Endpoint, encrypt, type TlsOptions } from "@trawler/application";
import { errorCode, errorMessage, type NetworkAccess, type NetworkSocket } from "@trawler/plugin-api";
import { ReplyGuard } from "./guard.ts";
import { type Reply, replyOfError } from "./reply.ts";

interface Credentials {
  readonly username: string | undefined;
  readonly password: string | undefined;
}

export interface Question {
  readonly endpoint: Endpoint;
  readonly credentials: Credentials;
  /** Sections beyond the default ones. */
  readonly sections: readonly string[];
  /** Speak TLS. */
  readonly tls?: TlsOptions;
  /** Milliseconds for everything, connecting included. */
  readonly timeout: number;
  readonly signal: AbortSignal;
}

/** An answer of `INFO` is a few KiB; one with all command statistics stays below 200 KiB. */
const MAX_ANSWER = 1_048_576;

/**
 * Asks for INFO once, over one connection that is closed before this returns. Failures are answers, never throws,
 * except those of `connect` that say the member has gone. A password is sent only to what answered as Redis does and
 * asked for one.
 */
export async function ask(net: Pick<NetworkAccess, "connect">, question: Question): Promise<Reply> {
  const deadline = new AbortController();
  const abort = (): void => deadline.abort();
  const timer = setTimeout(abort, question.timeout);
  question.signal.addEventListener("abort", abort, { once: true });
  if (question.signal.aborted) abort();
  try {
    const socket = await net.connect(question.endpoint, { signal: deadline.signal, timeout: question.timeout });
    // A socket without a listener would bring the process down by its error.
    socket.on("error", () => undefined);
    const closed = socket.destroyed ? undefined : new Promise((resolve) => socket.once("close", resolve));
    const close = (): void => void socket.destroy();
    deadline.signal.addEventListener("abort", close, { once: true });
    if (deadline.signal.aborted) close();
    try {
      if (question.tls === undefined) {
        const reply = await converse(socket, question, deadline.signal);
        // Some servers end a plain connection to a TLS port without a word.
        if (!("reason" in reply) || reply.reason !== SILENT) return reply;
        return (await speaksTls(net, question, deadline.signal)) ? TLS_REQUIRED : reply;
      }
      const encrypted = await encrypt(socket, question.tls, deadline.signal);
      if ("refusal" in encrypted) return { state: encrypted.refusal, reason: encrypted.reason };
      return await converse(encrypted.socket, question, deadline.signal);
    } finally {
      socket.destroy();
      await closed;
    }
  } catch (error) {
    const code = errorCode(error);
    if (code === "TRAWLER_GONE") throw error;
    if (code === "TRAWLER_DENIED" || code === "TRAWLER_REFUSED")
      return { state: "denied", reason: errorMessage(error) };
    return { state: "down", reason: deadline.signal.aborted ? "no connection in time" : errorMessage(error) };
  } finally {
    clearTimeout(timer);
    question.signal.removeEventListener("abort", abort);
  }
}

const SILENT = "closed without an answer";
const TLS_REQUIRED: Reply = { state: "tls_required", reason: "the port speaks TLS" };

/** By a handshake of its own, whose certificate is nobody's matter here. */
async function speaksTls(
  net: Pick<NetworkAccess, "connect">,
  { endpoint, timeout }: Question,
  signal: AbortSignal,
): Promise<boolean> {
  const socket = await net.connect(endpoint, { signal, timeout });
  socket.on("error", () => undefined);
  try {
    const encrypted = await encrypt(socket, {}, signal);
    return "socket" in encrypted || encrypted.refusal === "cert_invalid";
  } finally {
    socket.destroy();
  }
}

async function converse(socket: NetworkSocket, question: Question, signal: AbortSignal): Promise<Reply> {
  const guard = new ReplyGuard(MAX_ANSWER);
  let refusal: ReturnType<ReplyGuard["check"]> = null;
  // What a server says before it is asked is in the stream already.
  const early: unknown = socket.read();
  if (early instanceof Uint8Array) {
    refusal = guard.check(early);
    if (refusal === null) socket.unshift(early);
    else socket.destroy();
  }
  // Below the stream's own events: the client's parser must not see what is refused.
  const push = socket.push.bind(socket);
  socket.push = (chunk: unknown, encoding?: BufferEncoding): boolean => {
    if (refusal === null && chunk instanceof Uint8Array) refusal = guard.check(chunk);
    if (refusal === null) return push(chunk, encoding);
    socket.destroy();
    return false;
  };
  try {
    return { state: "ok", info: await info(socket, question) };
  } catch (error) {
    if (refusal === "tls") return TLS_REQUIRED;
    if (refusal === "not_redis") return { state: "not_redis", reason: "the answer is not Redis protocol" };
    if (refusal === "too_large") return { state: "invalid", reason: `the answer is over ${MAX_ANSWER} bytes` };
    if (guard.firstError !== null) return replyOfError(error, guard.firstError);
    if (signal.aborted) return { state: "down", reason: "no whole answer in time" };
    return { state: "down", reason: guard.answered ? "closed within the answer" : SILENT };
  }
}

async function info(socket: NetworkSocket, { credentials, sections }: Question): Promise<string> {
  // On first use: a node without Redis never pays for the client.
  const { AbstractConnector, Redis } = await import("ioredis");
  class OpenSocket extends AbstractConnector {
    override async connect(): Promise<NetworkSocket> {
      this.stream = socket;
      return socket;
    }
  }
  const redis = new Redis({
    Connector: class extends OpenSocket {
      constructor() {
        super(0);
      }
    },
    lazyConnect: true,
    protocol: 2,
    retryStrategy: () => null,
    reconnectOnError: null,
    enableReadyCheck: false,
    enableOfflineQueue: false,
    autoResendUnfulfilledCommands: false,
    disableClientInfo: true,
    maxRetriesPerRequest: 0,
  });
  redis.on("error", () => undefined);
  try {
    await redis.connect();
    try {
      return await redis.info(...sections);
    } catch (error) {
      const { username, password } = credentials;
      if (password === undefined || !/^(NOAUTH|NOPERM)\b/.test(errorMessage(error))) throw error;
      if (username === undefined) await redis.auth(password);
      else await redis.auth(username, password);
      return await redis.info(...sections);
    }
  } finally {
    redis.disconnect();
  }
}
