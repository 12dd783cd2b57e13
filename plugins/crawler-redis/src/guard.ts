/** Why an answer is not passed on to the protocol's parser. */
export type Refusal = "tls" | "not_redis" | "too_large";

const CR = 0x0d;
const LF = 0x0a;
const TLS_ALERT = 0x15;
const TLS_HANDSHAKE = 0x16;
const SIMPLE = "+".charCodeAt(0);
const ERROR = "-".charCodeAt(0);
const BULK = "$".charCodeAt(0);
const MAX_LINE = 4096;

/**
 * Watches a server's answers before the client parses them, as a client allocates what a server declares. We ask only
 * what is answered by a simple string, an error or one bulk string: anything else, a declared length beyond the rest of
 * the budget and every byte beyond it are refused. Holds one line at most.
 */
export class ReplyGuard {
  readonly #maxBytes: number;
  #received = 0;
  /** Bytes of a bulk string, its line end included, that are still to come. */
  #body = 0;
  #line = "";
  #firstError: string | null = null;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** Text of the first error reply, without its dash; null where none came. */
  get firstError(): string | null {
    return this.#firstError;
  }

  /** Whether any byte came. */
  get answered(): boolean {
    return this.#received > 0;
  }

  /** Null = the chunk may go to the parser. After a refusal nothing more may. */
  check(chunk: Uint8Array): Refusal | null {
    if (this.#received === 0 && (chunk[0] === TLS_ALERT || chunk[0] === TLS_HANDSHAKE)) return "tls";
    this.#received += chunk.length;
    if (this.#received > this.#maxBytes) return "too_large";
    for (let offset = 0; offset < chunk.length; ) {
      if (this.#body > 0) {
        const taken = Math.min(this.#body, chunk.length - offset);
        this.#body -= taken;
        offset += taken;
        continue;
      }
      const byte = chunk[offset] ?? 0;
      offset += 1;
      if (this.#line === "" && byte !== SIMPLE && byte !== ERROR && byte !== BULK) return "not_redis";
      if (byte !== LF) {
        if (byte !== CR) this.#line += String.fromCharCode(byte);
        if (this.#line.length > MAX_LINE) return "too_large";
        continue;
      }
      const refusal = this.#endLine();
      if (refusal !== null) return refusal;
    }
    return null;
  }

  #endLine(): Refusal | null {
    const line = this.#line;
    this.#line = "";
    if (line.startsWith("-")) this.#firstError ??= line.slice(1);
    if (!line.startsWith("$")) return null;
    if (line === "$-1") return null;
    if (!/^\$\d{1,15}$/.test(line)) return "not_redis";
    const length = Number(line.slice(1));
    if (length > this.#maxBytes) return "too_large";
    this.#body = length + 2;
    return null;
  }
}
