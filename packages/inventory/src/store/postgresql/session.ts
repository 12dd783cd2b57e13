import { readFile } from "node:fs/promises";
import { checkServerIdentity } from "node:tls";
import { errorCode, errorMessage, TrawlerError } from "@trawler/plugin-api";
import type { ClientConfig } from "pg";
import { type PostgresqlAddress, type PostgresqlSettings, parsePostgresqlUrl } from "./settings.ts";

export type Columns = Readonly<Record<string, unknown>>;
export type Value = string | number | null | Uint8Array | readonly string[];

/** Runs one statement; values stand as $1, $2, … in it. */
export type Sql = (text: string, values?: readonly Value[]) => Promise<readonly Columns[]>;

/** One connection. After a failure that is not of the data it is `broken`: nothing is known of what it had begun. */
export interface Session extends AsyncDisposable {
  readonly sql: Sql;
  readonly shown: string;
  broken(): boolean;
}

const CONNECT_MILLISECONDS = 5_000;
/** For the server, then for us, who may not hear from it any more. */
const STATEMENT_MILLISECONDS = 30_000;
const ANSWER_MILLISECONDS = 35_000;
const LOCK_MILLISECONDS = 5_000;
/** Of a writer that was paused within a transaction, and holds off its successor. */
export const IDLE_MILLISECONDS = 15_000;
const CLOSE_MILLISECONDS = 2_000;
const INT8 = 20;

/** Connects. Errors: TRAWLER_DENIED for a wrong user or password, TRAWLER_UNAVAILABLE, TRAWLER_CONFIG_INVALID. */
export async function connect(settings: PostgresqlSettings, name: string): Promise<Session> {
  const address = parsePostgresqlUrl(settings.url);
  const { default: pg } = await import("pg");
  const client = new pg.Client(await configOf(settings, address, name));
  let fault: Error | null = null;
  client.on("error", (error) => {
    fault ??= error;
  });
  client.on("end", () => {
    fault ??= new Error("the connection has ended");
  });
  const sql: Sql = async (text, values = []) => {
    if (fault !== null) throw asTrawlerError(fault, address);
    try {
      const { rows } = await client.query<Record<string, unknown>>(text, values.map(asParameter));
      return rows;
    } catch (error) {
      if (!isDataFault(error)) fault ??= error instanceof Error ? error : new Error(errorMessage(error));
      throw asTrawlerError(error, address);
    }
  };
  const session: Session = {
    sql,
    shown: address.shown,
    broken: () => fault !== null,
    [Symbol.asyncDispose]: async () => {
      const late = Promise.withResolvers<void>();
      const timer = setTimeout(late.resolve, CLOSE_MILLISECONDS);
      // One that is broken may still be in a statement, which ends with its connection.
      await Promise.race([client.end().catch(() => undefined), late.promise]);
      clearTimeout(timer);
    },
  };
  try {
    await client.connect();
    await prepare(sql, settings.schema);
    return session;
  } catch (error) {
    await session[Symbol.asyncDispose]();
    throw errorCode(error)?.startsWith("TRAWLER_") === true ? error : asTrawlerError(error, address);
  }
}

/** A session that is made anew where the one before is broken. */
export interface KeptSession extends AsyncDisposable {
  current(): Promise<Session>;
}

/** Keeps `first`; `open` makes another at the next need. */
export function keepSession(first: Session, open: () => Promise<Session>): KeptSession {
  let session: Session | null = first;
  return {
    current: async () => {
      if (session?.broken() === true) {
        await session[Symbol.asyncDispose]();
        session = null;
      }
      session ??= await open();
      return session;
    },
    [Symbol.asyncDispose]: async () => session?.[Symbol.asyncDispose](),
  };
}

async function configOf(
  { passwordFile, tls }: PostgresqlSettings,
  { host, port, database, user, password }: PostgresqlAddress,
  name: string,
): Promise<ClientConfig> {
  const own = passwordFile === undefined ? password : (await fileText(passwordFile)).replace(/\r?\n$/, "");
  return {
    host,
    port,
    database,
    user,
    // Never from the environment or from ~/.pgpass.
    password: own ?? "",
    application_name: `trawler-inventory-${name}`,
    connectionTimeoutMillis: CONNECT_MILLISECONDS,
    query_timeout: ANSWER_MILLISECONDS,
    keepAlive: true,
    keepAliveInitialDelayMillis: 10_000,
    types: { getTypeParser: parserOf },
    ssl:
      tls === undefined
        ? false
        : {
            ...(tls.ca !== undefined && { ca: await fileText(tls.ca) }),
            ...(tls.certificate !== undefined && { cert: await fileText(tls.certificate) }),
            ...(tls.key !== undefined && { key: await fileText(tls.key) }),
            // Not `servername`: the client overwrites it with the host, and it must not be an address.
            checkServerIdentity: (_, certificate) => checkServerIdentity(tls.serverName ?? host, certificate),
          },
  };
}

async function fileText(path: string): Promise<string> {
  try {
    return await readFile(path, "utf8");
  } catch (error) {
    throw new TrawlerError("TRAWLER_CONFIG_INVALID", `the store's file ${path} cannot be read: ${errorMessage(error)}`);
  }
}

/** Ours are below 2^53; what else is asked for is text, or bytes as PostgreSQL writes them. */
function parserOf(type: number): (text: string) => unknown {
  if (type === INT8 || type === 23 || type === 21) return Number;
  if (type === 16) return (text) => text === "t";
  if (type === 17) return (text) => new Uint8Array(Buffer.from(text.slice(2), "hex"));
  return (text) => text;
}

async function prepare(sql: Sql, schema: string): Promise<void> {
  const lines = [
    `SET statement_timeout = ${STATEMENT_MILLISECONDS}`,
    `SET lock_timeout = ${LOCK_MILLISECONDS}`,
    `SET idle_in_transaction_session_timeout = ${IDLE_MILLISECONDS}`,
    "SET client_encoding = 'UTF8'",
    // A statement of ours is short: compiling it takes longer than running it.
    "SET jit = off",
    `SET search_path = "${schema}"`,
  ];
  await sql(lines.join("; "));
}

function asParameter(value: Value): unknown {
  return value instanceof Uint8Array ? Buffer.from(value.buffer, value.byteOffset, value.byteLength) : value;
}

/** SQLSTATE classes by which the values are at fault: data, integrity, a limit of the program (an index's key). */
const DATA_FAULTS = /^(22|23|54)/;
const DENIED = /^(28|42501)/;

/** Whether the same statement without these values may succeed. */
export function isDataFault(error: unknown): boolean {
  return DATA_FAULTS.test(stateOf(error));
}

/** SQLSTATE, or an empty text where the server said nothing. */
export function stateOf(error: unknown): string {
  const code = errorCode(error) ?? "";
  if (!code.startsWith("TRAWLER_")) return /^[0-9A-Z]{5}$/.test(code) ? code : "";
  const cause: unknown = typeof error === "object" && error !== null ? Reflect.get(error, "cause") : null;
  return cause === null || cause === undefined ? "" : stateOf(cause);
}

function asTrawlerError(error: unknown, { shown }: PostgresqlAddress): TrawlerError {
  const state = stateOf(error);
  const why = `${shown}: ${errorMessage(error) || "no connection"}`;
  return new TrawlerError(DENIED.test(state) ? "TRAWLER_DENIED" : "TRAWLER_UNAVAILABLE", why, { cause: error });
}
