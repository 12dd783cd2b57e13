import { openStore } from "./open.ts";
import type { PostgresqlSettings } from "./postgresql/settings.ts";
import { openStoreReader } from "./reader.ts";
import type { SqliteStoreReader, Store, StoreReader } from "./store.ts";

/** Where a store is: the path of a SQLite file, or a PostgreSQL data base. */
export type StoreTarget = string | PostgresqlSettings;

/**
 * Opens it for its one writer. `token`: the right to write, fenced in the store. Errors: TRAWLER_REFUSED for another
 * cluster's store, TRAWLER_BUSY for another writer's, TRAWLER_DENIED for a wrong password, TRAWLER_UNAVAILABLE.
 */
export async function openAnyStore(target: StoreTarget, cluster: string, token: number): Promise<Store> {
  if (typeof target === "string") return openStore(target, cluster);
  // Its client is loaded only where it is used.
  const { openPostgresqlStore } = await import("./postgresql/open.ts");
  return openPostgresqlStore(target, cluster, token);
}

/** Opens it for reading beside its writer. Errors as of `openAnyStore`. */
export function openAnyReader(target: string): Promise<SqliteStoreReader>;
export function openAnyReader(target: StoreTarget): Promise<StoreReader>;
export async function openAnyReader(target: StoreTarget): Promise<StoreReader> {
  if (typeof target === "string") return openStoreReader(target);
  const { openPostgresqlReader } = await import("./postgresql/reader.ts");
  return openPostgresqlReader(target);
}
