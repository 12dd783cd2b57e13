import * as z from "zod";

/** An integer of any size. Its JSON Schema is `integer`, which the frame writes exactly. */
function exact(unit: string, description: string) {
  const schema = z.union([z.int().nonnegative(), z.bigint().nonnegative()]);
  schema._zod.toJSONSchema = () => ({ type: "integer", minimum: 0 });
  return schema.nullable().meta({ "x-unit": unit, description });
}

const float = (unit: string, description: string) =>
  z.number().nonnegative().nullable().meta({ "x-unit": unit, description });
const text = (description: string) => z.string().nullable().describe(description);

const outcome = z.strictObject({
  state: z
    .enum([
      "ok",
      "sentinel",
      "loading",
      "primary_down",
      "auth_required",
      "auth_failed",
      "denied",
      "busy",
      "down",
      "tls_required",
      "not_tls",
      "cert_invalid",
      "not_redis",
      "invalid",
    ])
    .describe("`ok`, `sentinel`, `loading` and `primary_down` come with figures, as far as the server gave them."),
  reason: text("Why the state is not `ok`, in the server's or the system's words."),
  "server.port": exact("1", "Port that answered; null on a unix socket."),
});

/** What a server that answered tells of itself; null where it does not say. */
const figures = z.strictObject({
  product: text("`redis`, `valkey`, `keydb` or `dragonfly`."),
  version: text("The product's own version."),
  redisVersion: text("Version of Redis that it says to be compatible with."),
  mode: text("`standalone`, `cluster` or `sentinel`."),
  role: text("`primary`, `replica` or `sentinel`."),
  runId: text("Changes with each start."),
  buildId: text("Build of the server."),
  replicationId: text("History that the data belongs to."),
  replicationId2: text("History before the last failover."),
  primaryLinkStatus: text("On a replica: `up` or `down`."),
  maxmemoryPolicy: text("What is evicted at the memory limit."),
  rdbLastSaveStatus: text("`ok` or `err`."),
  aofLastWriteStatus: text("`ok` or `err`."),
  "redis.fields.invalid": exact("{field}", "Fields whose value was no number where one belongs; they are null."),
  "redis.uptime": exact("s", "Time since the start."),
  "redis.loading.eta": exact("s", "Time until the data is loaded, as the server guesses."),
  "redis.clients.connected": exact("{client}", "Connected clients."),
  "redis.clients.blocked": exact("{client}", "Clients waiting in a blocking command."),
  "redis.clients.max_input_buffer": exact("By", "Largest input buffer of a client."),
  "redis.clients.max_output_buffer": exact("By", "Largest output buffer of a client."),
  "redis.memory.used": exact("By", "Memory given out by the allocator."),
  "redis.memory.peak": exact("By", "Highest memory used."),
  "redis.memory.peak_percent": float("%", "Memory used, of the highest."),
  "redis.memory.rss": exact("By", "Resident memory."),
  "redis.memory.lua": exact("By", "Memory of scripts."),
  "redis.memory.utilization": float("1", "Memory used, of the memory limit; null where none is set."),
  "redis.memory.fragmentation_ratio": float("1", "Resident memory over used memory."),
  "redis.memory.allocator_fragmentation_ratio": float("1", "Fragmentation inside the allocator."),
  "redis.memory.rss_overhead_ratio": float("1", "Resident memory over the allocator's resident memory."),
  "redis.maxmemory": exact("By", "Memory limit; 0 = none."),
  "redis.commands": exact("{ops}/s", "Commands a second, as the server reckons it."),
  "redis.commands.processed": exact("{command}", "Commands processed."),
  "redis.connections.received": exact("{connection}", "Connections accepted."),
  "redis.connections.rejected": exact("{connection}", "Connections refused at the client limit."),
  "redis.cpu.time.sys": float("s", "CPU time in the kernel."),
  "redis.cpu.time.user": float("s", "CPU time in user mode."),
  "redis.cpu.time.sys_children": float("s", "CPU time of background processes in the kernel."),
  "redis.cpu.time.user_children": float("s", "CPU time of background processes in user mode."),
  "redis.cpu.time.sys_main_thread": float("s", "CPU time of the main thread in the kernel."),
  "redis.cpu.time.user_main_thread": float("s", "CPU time of the main thread in user mode."),
  "redis.keys.evicted": exact("{key}", "Keys evicted at the memory limit."),
  "redis.keys.expired": exact("{event}", "Keys expired."),
  "redis.keyspace.hits": exact("{hit}", "Look-ups that found a key."),
  "redis.keyspace.misses": exact("{miss}", "Look-ups that found none."),
  "redis.net.input": exact("By", "Bytes received."),
  "redis.net.output": exact("By", "Bytes sent."),
  "redis.rdb.changes_since_last_save": exact("{change}", "Changes since the last dump."),
  "redis.latest_fork": float("s", "Duration of the last fork."),
  "redis.replication.offset": exact("By", "Replication offset."),
  "redis.replication.backlog_first_byte_offset": exact("By", "Offset of the first byte in the backlog."),
  "redis.replication.primary_last_io": exact("s", "On a replica: since the last byte from its primary; null = never."),
  "redis.replication.primary_link_down_since": exact("s", "On a replica: since the link broke; null = never was up."),
  "redis.slaves.connected": exact("{replica}", "Connected replicas."),
  "redis.sentinel.primaries": exact("{primary}", "On a sentinel: primaries that it watches."),
});

/** Figures are absent where the server gave none at all. */
export const redis = outcome.extend(figures.partial().shape);

export const redisDatabase = z.strictObject({
  "redis.db.keys": exact("{key}", "Keys."),
  "redis.db.expires": exact("{key}", "Keys that expire."),
  "redis.db.avg_ttl": float("s", "Mean time to live of those, as the server guesses."),
  "redis.db.subexpiry": exact("{key}", "Keys with fields that expire; null before Redis 7.4."),
});

export const redisCommand = z.strictObject({
  "redis.cmd.calls": exact("{call}", "Calls."),
  "redis.cmd.sec": float("s", "Time spent in them."),
  "redis.cmd.rejected": exact("{call}", "Calls refused before they ran."),
  "redis.cmd.failed": exact("{call}", "Calls that failed."),
  "redis.cmd.latency.p50": float("s", "Median latency."),
  "redis.cmd.latency.p99": float("s", "99th percentile of latency."),
  "redis.cmd.latency.p99.9": float("s", "99.9th percentile of latency."),
});

export type RedisOutcome = z.output<typeof outcome>;
export type RedisFigures = z.output<typeof figures>;
export type RedisDatabaseValue = z.output<typeof redisDatabase>;
export type RedisCommandValue = z.output<typeof redisCommand>;
