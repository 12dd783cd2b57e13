import { TrawlerError } from "@trawler/plugin-api";

/** How a PostgreSQL data base is reached. */
export interface PostgresqlSettings {
  /** postgresql://user:password@host:5432/database; the password may stand in a file. */
  readonly url: string;
  /** Path of a file with the password, read at each connect, so that it may change. */
  readonly passwordFile?: string | undefined;
  /** Holds the tables of one cluster. */
  readonly schema: string;
  /** Absent = no TLS. With it the server's certificate and name are checked. */
  readonly tls?: PostgresqlTls | undefined;
}

interface PostgresqlTls {
  /** Paths of PEM files. */
  readonly ca?: string | undefined;
  readonly certificate?: string | undefined;
  readonly key?: string | undefined;
  readonly serverName?: string | undefined;
}

export interface PostgresqlAddress {
  readonly host: string;
  readonly port: number;
  readonly database: string;
  readonly user: string;
  readonly password: string | null;
  /** Without the password: for logs and messages. */
  readonly shown: string;
}

/** Reads the address. Throws TRAWLER_CONFIG_INVALID, never with the password in its message. */
export function parsePostgresqlUrl(text: string): PostgresqlAddress {
  const url = URL.parse(text);
  const invalid = (why: string): TrawlerError =>
    new TrawlerError("TRAWLER_CONFIG_INVALID", `the store's url ${why}: write postgresql://user@host:5432/database`);
  if (url === null || !["postgresql:", "postgres:"].includes(url.protocol)) throw invalid("is no PostgreSQL address");
  if (url.search !== "" || url.hash !== "") throw invalid("has options (TLS is set by store.tls)");
  const [user, password, database] = [url.username, url.password, url.pathname.slice(1)].map(decoded);
  if (url.hostname === "" || !user || !database || password === undefined) {
    throw invalid("lacks user, host or database");
  }
  const host = url.hostname.replace(/^\[|\]$/g, "");
  const port = url.port === "" ? 5432 : Number(url.port);
  const shown = `postgresql://${user}@${url.hostname}:${port}/${database}`;
  return { host, port, database, user, password: password === "" ? null : password, shown };
}

function decoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}
