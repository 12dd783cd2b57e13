/** Field, variable of `SHOW GLOBAL STATUS`, unit, meaning. Names follow OpenTelemetry's MySQL receiver where it has one. */
export const FIGURES = [
  ["mysql.uptime", "Uptime", "s", "Time since the start."],
  ["mysql.connection.count", "Connections", "{connection}", "Attempts to connect."],
  ["mysql.connection.errors.aborted", "Aborted_connects", "{error}", "Attempts that failed."],
  ["mysql.connection.aborted_clients", "Aborted_clients", "{connection}", "Clients that did not close properly."],
  ["mysql.max_used_connections", "Max_used_connections", "{connection}", "Most connections at once since the start."],
  ["mysql.threads.connected", "Threads_connected", "{thread}", "Open connections."],
  ["mysql.threads.running", "Threads_running", "{thread}", "Of these, those that do something."],
  ["mysql.query.count", "Queries", "{query}", "Statements, those in stored programs included."],
  ["mysql.query.client.count", "Questions", "{query}", "Statements that clients sent."],
  ["mysql.query.slow.count", "Slow_queries", "{query}", "Statements slower than the server's limit."],
  ["mysql.commands.select", "Com_select", "{command}", "SELECT statements."],
  ["mysql.commands.insert", "Com_insert", "{command}", "INSERT statements."],
  ["mysql.commands.update", "Com_update", "{command}", "UPDATE statements."],
  ["mysql.commands.delete", "Com_delete", "{command}", "DELETE statements."],
  ["mysql.commands.commit", "Com_commit", "{command}", "COMMIT statements."],
  ["mysql.commands.rollback", "Com_rollback", "{command}", "ROLLBACK statements."],
  ["mysql.client.network.received", "Bytes_received", "By", "Bytes received from clients."],
  ["mysql.client.network.sent", "Bytes_sent", "By", "Bytes sent to clients."],
  ["mysql.buffer_pool.data", "Innodb_buffer_pool_bytes_data", "By", "Bytes of data in the InnoDB buffer pool."],
  ["mysql.buffer_pool.dirty", "Innodb_buffer_pool_bytes_dirty", "By", "Of these, not written to disk yet."],
  ["mysql.buffer_pool.read_requests", "Innodb_buffer_pool_read_requests", "{read}", "Logical reads."],
  ["mysql.buffer_pool.reads", "Innodb_buffer_pool_reads", "{read}", "Of these, those that went to disk."],
  ["mysql.row_lock.waits", "Innodb_row_lock_waits", "{lock}", "Row locks that were waited for."],
  ["mysql.tmp_resource.disk_tables", "Created_tmp_disk_tables", "{table}", "Temporary tables made on disk."],
  ["mysql.tmp_resource.tables", "Created_tmp_tables", "{table}", "Temporary tables made."],
  ["mysql.table_open_cache.open", "Open_tables", "{table}", "Open tables."],
] as const;

/** The figures of a status by their fields; null where the server does not have them, or says no number. */
export function figuresOf(status: ReadonlyMap<string, string>): Readonly<Record<string, number | null>> {
  return Object.fromEntries(FIGURES.map(([field, variable]) => [field, numberOf(status.get(variable))]));
}

function numberOf(text: string | undefined): number | null {
  return text !== undefined && /^\d{1,20}(\.\d{1,9})?$/.test(text) ? Number(text) : null;
}

/** `mariadb` where the version says so. */
export function productOf(version: string | null): "mysql" | "mariadb" | null {
  if (version === null) return null;
  return /mariadb/i.test(version) ? "mariadb" : "mysql";
}
