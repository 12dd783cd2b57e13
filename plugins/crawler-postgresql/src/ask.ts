import { boundAnswer, type Endpoint, speak } from "@trawler/application";
import type { NetworkAccess, NetworkSocket } from "@trawler/plugin-api";

export type Row = Readonly<Record<string, unknown>>;

export type Reply =
  | { readonly state: "ok"; readonly server: Row; readonly databases: readonly Row[] }
  | { readonly state: "down" | "denied" | "unavailable" | "unexpected"; readonly reason: string };

export interface Question {
  readonly endpoint: Endpoint;
  readonly user: string;
  readonly password: string | undefined;
  readonly database: string;
  /** Milliseconds for everything, connecting included. */
  readonly timeout: number;
  readonly signal: AbortSignal;
}

/** Bytes that a server may send in all; what is asked for is below 1 MiB with a thousand databases. */
const MAX_ANSWER = 4 * 1024 * 1024;
const MAX_DATABASES = 100;

/** Views that PostgreSQL 12 and newer have; `pg_monitor` may read all of them. Counters go back when they are reset. */
const SERVER = `SELECT current_setting('server_version') AS version,
  extract(epoch FROM now() - pg_postmaster_start_time()) AS uptime,
  current_setting('max_connections')::int AS max_connections,
  pg_is_in_recovery() AS recovery,
  extract(epoch FROM now() - pg_last_xact_replay_timestamp()) AS replay_lag,
  (SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend') AS connections,
  (SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend' AND state = 'active') AS active,
  (SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend' AND state LIKE 'idle in transaction%') AS idle_in_transaction,
  (SELECT count(*) FROM pg_locks WHERE NOT granted) AS waiting_locks,
  (SELECT count(*) FROM pg_stat_replication) AS replicas`;
const DATABASES = `SELECT datname, numbackends, xact_commit, xact_rollback, blks_read, blks_hit, tup_returned, tup_fetched,
  tup_inserted, tup_updated, tup_deleted, conflicts, temp_files, temp_bytes, deadlocks,
  CASE WHEN has_database_privilege(datname, 'CONNECT') OR pg_has_role('pg_read_all_stats', 'MEMBER')
    THEN pg_database_size(datname) END AS size
  FROM pg_stat_database WHERE datname IS NOT NULL ORDER BY datname LIMIT ${MAX_DATABASES}`;

/** SQLSTATE classes: 28 = invalid authorization; 57P03 = cannot connect now; 53 = insufficient resources. */
const DENIED = /^(28|42501)/;
const BUSY = /^(57P|53)/;

/**
 * Two read-only queries over one connection of its own, closed before this returns. Failures are answers, never throws,
 * except those that say the member has gone.
 */
export async function ask(net: Pick<NetworkAccess, "connect">, question: Question): Promise<Reply> {
  const result = await speak(net, question, (socket) => exchange(socket, question));
  if ("answer" in result) return result.answer;
  const { code, reason, heard } = result.broken;
  if (DENIED.test(code) || /password|SASL|authentication/i.test(reason)) return { state: "denied", reason };
  if (BUSY.test(code)) return { state: "unavailable", reason };
  return { state: heard ? "unexpected" : "down", reason };
}

async function exchange(socket: NetworkSocket, { user, password, database }: Question): Promise<Reply> {
  // On first use: a node without PostgreSQL never pays for the client.
  const { default: pg } = await import("pg");
  boundAnswer(socket, MAX_ANSWER);
  // The client wants to connect its stream itself; this one is.
  const connect = (): NetworkSocket => {
    setImmediate(() => socket.emit("connect"));
    return socket;
  };
  const client = new pg.Client({
    stream: () => Object.assign(socket, { connect }),
    user,
    database,
    application_name: "trawler",
    ...(password === undefined ? {} : { password }),
    // Nothing that is asked can write, whatever rights the user has.
    options: "-c default_transaction_read_only=on -c statement_timeout=5000",
  });
  client.on("error", () => undefined);
  try {
    await client.connect();
    const { rows: server } = await client.query<Row>(SERVER);
    const { rows: databases } = await client.query<Row>(DATABASES);
    return { state: "ok", server: server[0] ?? {}, databases };
  } finally {
    // The connection is closed by the caller, whether or not the server says goodbye.
    client.end().catch(() => undefined);
  }
}
