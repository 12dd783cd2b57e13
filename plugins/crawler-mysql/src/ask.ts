import { boundAnswer, type Endpoint, speak } from "@trawler/application";
import type { NetworkAccess, NetworkSocket } from "@trawler/plugin-api";

export type Reply =
  | { readonly state: "ok"; readonly version: string | null; readonly status: ReadonlyMap<string, string> }
  | { readonly state: "down" | "denied" | "unavailable" | "unexpected"; readonly reason: string };

export interface Question {
  readonly endpoint: Endpoint;
  readonly user: string;
  readonly password: string | undefined;
  /** Milliseconds for everything, connecting included. */
  readonly timeout: number;
  readonly signal: AbortSignal;
}

/** Bytes that a server may send in all; its status has about 600 rows. */
const MAX_ANSWER = 1024 * 1024;
const MAX_ROWS = 2_000;
const DENIED: ReadonlySet<string> = new Set([
  "ER_ACCESS_DENIED_ERROR",
  "ER_DBACCESS_DENIED_ERROR",
  "ER_SPECIFIC_ACCESS_DENIED_ERROR",
  "ER_HOST_NOT_PRIVILEGED",
  "ER_HOST_IS_BLOCKED",
  "ER_ACCESS_DENIED_NO_PASSWORD_ERROR",
  "AUTH_SWITCH_PLUGIN_ERROR",
]);
const BUSY: ReadonlySet<string> = new Set(["ER_CON_COUNT_ERROR", "ER_SERVER_SHUTDOWN", "ER_TOO_MANY_USER_CONNECTIONS"]);

/**
 * `SHOW GLOBAL STATUS` over one connection of its own, closed before this returns. Failures are answers, never throws,
 * except those that say the member has gone.
 */
export async function ask(net: Pick<NetworkAccess, "connect">, question: Question): Promise<Reply> {
  const result = await speak(net, question, (socket) => exchange(socket, question));
  if ("answer" in result) return result.answer;
  const { code, reason, heard } = result.broken;
  if (DENIED.has(code)) return { state: "denied", reason };
  if (BUSY.has(code)) return { state: "unavailable", reason };
  return { state: heard ? "unexpected" : "down", reason };
}

async function exchange(socket: NetworkSocket, { user, password, timeout }: Question): Promise<Reply> {
  // On first use: a node without MySQL never pays for the client.
  const { createConnection } = await import("mysql2/promise");
  boundAnswer(socket, MAX_ANSWER);
  const connection = await createConnection({
    stream: socket,
    user,
    ...(password === undefined ? {} : { password }),
    connectTimeout: timeout,
    // A server must not ask for our files, and nothing but one plain statement is sent.
    flags: ["-LOCAL_FILES"],
    multipleStatements: false,
    enableCleartextPlugin: false,
    rowsAsArray: true,
  });
  connection.on("error", () => undefined);
  try {
    const [version] = await connection.query({ sql: "SELECT VERSION()", rowsAsArray: true });
    const [rows] = await connection.query({ sql: "SHOW GLOBAL STATUS", rowsAsArray: true });
    return { state: "ok", version: pairs(version)[0]?.[0] ?? null, status: new Map(pairs(rows)) };
  } finally {
    // The connection is closed by the caller, whether or not the server says goodbye.
    connection.destroy();
  }
}

/** Rows of texts; what is none is left out. */
function pairs(rows: unknown): readonly (readonly [string, string])[] {
  if (!Array.isArray(rows)) return [];
  return rows.slice(0, MAX_ROWS).flatMap((row: unknown): readonly (readonly [string, string])[] => {
    const [name, value = ""]: unknown[] = Array.isArray(row) ? row : [];
    return typeof name === "string" && typeof value === "string" ? [[name, value]] : [];
  });
}
