import { readFile } from "node:fs/promises";
import { createSecureContext, type Server } from "node:tls";
import { errorMessage, type Logger, TrawlerError } from "@trawler/plugin-api";
import { tokenOf } from "./auth.ts";

export interface TlsFiles {
  /** Paths of PEM files. */
  readonly certificate: string;
  readonly key: string;
}

export interface CredentialOptions {
  /** A file that holds it, or the token itself. Null: requests need none. */
  readonly token: { readonly file: string } | { readonly text: string } | null;
  readonly tls: TlsFiles | null;
}

export interface TlsPair {
  readonly cert: string;
  readonly key: string;
}

/** What the files hold now. */
export interface Credentials {
  readonly token: string | null;
  readonly tls: TlsPair | null;
}

/** Throws TRAWLER_CONFIG_INVALID where a file cannot be read or does not hold what it should. */
async function readCredentials({ token, tls }: CredentialOptions): Promise<Credentials> {
  return { token: await readToken(token), tls: tls === null ? null : await readPair(tls) };
}

async function readToken(token: CredentialOptions["token"]): Promise<string | null> {
  if (token === null) return null;
  return "text" in token ? tokenOf(token.text, "the setting") : tokenOf(await read(token.file), token.file);
}

async function readPair({ certificate, key }: TlsFiles): Promise<TlsPair> {
  const pair = { cert: await read(certificate), key: await read(key) };
  try {
    createSecureContext(pair);
  } catch (error) {
    const message = `${certificate} and ${key} are no certificate with its key: ${errorMessage(error)}`;
    throw new TrawlerError("TRAWLER_CONFIG_INVALID", message);
  }
  return pair;
}

/** Milliseconds between two looks at the files: a mounted Secret changes within a minute or so of its change. */
const LOOK = 10_000;

/** Keeps to what the files say. A change that cannot be used is told once, and what was there before holds. */
export class RotatingCredentials implements Disposable {
  readonly #options: CredentialOptions;
  readonly #log: Logger;
  readonly #timer: NodeJS.Timeout;
  #now: Credentials;
  #server: Pick<Server, "setSecureContext"> | null = null;
  #told: string | null = null;

  private constructor(options: CredentialOptions, now: Credentials, log: Logger, every: number) {
    this.#options = options;
    this.#now = now;
    this.#log = log;
    this.#timer = setInterval(() => void this.#look(), every).unref();
  }

  static async open(options: CredentialOptions, log: Logger, every: number = LOOK): Promise<RotatingCredentials> {
    return new RotatingCredentials(options, await readCredentials(options), log, every);
  }

  get token(): string | null {
    return this.#now.token;
  }

  get tls(): TlsPair | null {
    return this.#now.tls;
  }

  /** New connections to this server get the certificate that the files hold. */
  follow(server: Pick<Server, "setSecureContext">): void {
    this.#server = server;
  }

  async #look(): Promise<void> {
    try {
      const next = await readCredentials(this.#options);
      const { tls } = next;
      if (tls !== null && (tls.cert !== this.#now.tls?.cert || tls.key !== this.#now.tls.key)) {
        this.#server?.setSecureContext({ ...tls, minVersion: "TLSv1.2" });
        this.#log.info({}, "a new certificate is served");
      }
      if (next.token !== this.#now.token) this.#log.info({}, "a new token holds");
      this.#now = next;
      this.#told = null;
    } catch (error) {
      const why = errorMessage(error);
      if (why !== this.#told) this.#log.warn({}, `the credentials cannot be read anew, the old ones hold: ${why}`);
      this.#told = why;
    }
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer);
  }
}

async function read(path: string): Promise<string> {
  return readFile(path, "utf8").catch((error: unknown) => {
    throw new TrawlerError("TRAWLER_CONFIG_INVALID", `cannot read ${path}: ${errorMessage(error)}`);
  });
}
