import type { RedisCommandValue, RedisDatabaseValue, RedisFigures, RedisOutcome } from "./feature.ts";
import { FieldReader, type Info, parseList } from "./parse.ts";

const MICROSECOND = 1e-6;
const MILLISECOND = 1e-3;

/** Turns INFO into the figures; each is null where the server does not say. */
export function figuresOf(info: Info): RedisFigures {
  const field = new FieldReader(info);
  const used = field.integer("used_memory");
  const limit = field.integer("maxmemory");
  const value = {
    ...identity(field),
    "redis.uptime": field.integer("uptime_in_seconds"),
    "redis.loading.eta": field.integer("loading_eta_seconds"),
    "redis.clients.connected": field.integer("connected_clients"),
    "redis.clients.blocked": field.integer("blocked_clients"),
    "redis.clients.max_input_buffer":
      field.integer("client_recent_max_input_buffer") ?? field.integer("client_biggest_input_buf"),
    "redis.clients.max_output_buffer":
      field.integer("client_recent_max_output_buffer") ?? field.integer("client_longest_output_list"),
    "redis.memory.used": used,
    "redis.memory.peak": field.integer("used_memory_peak"),
    "redis.memory.peak_percent": field.float("used_memory_peak_perc"),
    "redis.memory.rss": field.integer("used_memory_rss"),
    "redis.memory.lua": field.integer("used_memory_lua"),
    "redis.memory.utilization":
      used === null || limit === null || Number(limit) === 0 ? null : Number(used) / Number(limit),
    "redis.memory.fragmentation_ratio": field.float("mem_fragmentation_ratio"),
    "redis.memory.allocator_fragmentation_ratio": field.float("allocator_frag_ratio"),
    "redis.memory.rss_overhead_ratio": field.float("rss_overhead_ratio"),
    "redis.maxmemory": limit,
    "redis.commands": field.integer("instantaneous_ops_per_sec"),
    "redis.commands.processed": field.integer("total_commands_processed"),
    "redis.connections.received": field.integer("total_connections_received"),
    "redis.connections.rejected": field.integer("rejected_connections"),
    "redis.cpu.time.sys": field.float("used_cpu_sys"),
    "redis.cpu.time.user": field.float("used_cpu_user"),
    "redis.cpu.time.sys_children": field.float("used_cpu_sys_children"),
    "redis.cpu.time.user_children": field.float("used_cpu_user_children"),
    "redis.cpu.time.sys_main_thread": field.float("used_cpu_sys_main_thread"),
    "redis.cpu.time.user_main_thread": field.float("used_cpu_user_main_thread"),
    "redis.keys.evicted": field.integer("evicted_keys"),
    "redis.keys.expired": field.integer("expired_keys"),
    "redis.keyspace.hits": field.integer("keyspace_hits"),
    "redis.keyspace.misses": field.integer("keyspace_misses"),
    "redis.net.input": field.integer("total_net_input_bytes"),
    "redis.net.output": field.integer("total_net_output_bytes"),
    "redis.rdb.changes_since_last_save": field.integer("rdb_changes_since_last_save"),
    "redis.latest_fork": field.float("latest_fork_usec", MICROSECOND),
    "redis.replication.offset": field.integer("master_repl_offset"),
    "redis.replication.backlog_first_byte_offset": field.integer("repl_backlog_first_byte_offset"),
    // −1 is how the server says "never".
    "redis.replication.primary_last_io": field.integer("master_last_io_seconds_ago", "-1"),
    "redis.replication.primary_link_down_since": field.integer("master_link_down_since_seconds", "-1"),
    "redis.slaves.connected": field.integer("connected_slaves"),
    "redis.sentinel.primaries": field.integer("sentinel_masters"),
  };
  return { ...value, "redis.fields.invalid": field.invalid };
}

/** The state of a server that answered. */
export function healthOf(info: Info): Pick<RedisOutcome, "state" | "reason"> {
  if (modeOf(info) === "sentinel") return { state: "sentinel", reason: null };
  if (info.get("loading") === "1") return { state: "loading", reason: "loading its data" };
  if (info.get("master_link_status") === "down")
    return { state: "primary_down", reason: "the link to its primary is down" };
  return { state: "ok", reason: null };
}

const ROLES: ReadonlyMap<string, string> = new Map([
  ["master", "primary"],
  ["slave", "replica"],
]);

function identity(field: FieldReader) {
  const redisVersion = field.text("redis_version");
  const role = field.text("role");
  const mode = field.text("redis_mode") ?? field.text("server_mode");
  return {
    ...product(field, redisVersion),
    redisVersion,
    mode,
    role: mode === "sentinel" ? "sentinel" : role === null ? null : (ROLES.get(role) ?? role),
    runId: field.text("run_id"),
    buildId: field.text("redis_build_id"),
    replicationId: field.text("master_replid"),
    replicationId2: field.text("master_replid2"),
    primaryLinkStatus: field.text("master_link_status"),
    maxmemoryPolicy: field.text("maxmemory_policy"),
    rdbLastSaveStatus: field.text("rdb_last_bgsave_status"),
    aofLastWriteStatus: field.text("aof_last_write_status"),
  };
}

const modeOf = (info: Info): string | undefined => info.get("redis_mode") ?? info.get("server_mode");

/** Relatives answer with a `redis_version` for compatibility; their own name stands in other fields. */
function product(field: FieldReader, redisVersion: string | null): Pick<RedisFigures, "product" | "version"> {
  const dragonfly = field.text("dragonfly_version");
  if (dragonfly !== null) return { product: "dragonfly", version: dragonfly.replace(/^df-v?/, "") };
  const valkey = field.text("valkey_version");
  if (valkey !== null || field.text("server_name") === "valkey") return { product: "valkey", version: valkey };
  const path = field.text("executable") ?? "";
  if (field.text("mvcc_depth") !== null || /keydb/i.test(path)) return { product: "keydb", version: redisVersion };
  return { product: redisVersion === null ? null : "redis", version: redisVersion };
}

/** One per database that the server lists; it lists none that is empty. */
export function databases(info: Info): { readonly name: string; readonly value: RedisDatabaseValue }[] {
  const found: { name: string; value: RedisDatabaseValue }[] = [];
  for (const [name, list] of info) {
    if (!/^db\d{1,5}$/.test(name)) continue;
    const field = new FieldReader(parseList(list));
    found.push({
      name,
      value: {
        "redis.db.keys": field.integer("keys"),
        "redis.db.expires": field.integer("expires"),
        "redis.db.avg_ttl": field.float("avg_ttl", MILLISECOND),
        "redis.db.subexpiry": field.integer("subexpiry"),
      },
    });
  }
  return found;
}

const CALLS = "cmdstat_";
const LATENCY = "latency_percentiles_usec_";

/** One per command that was ever called, with its latencies where the server gives them. */
export function commands(info: Info): { readonly name: string; readonly value: RedisCommandValue }[] {
  const found: { name: string; value: RedisCommandValue }[] = [];
  for (const [key, list] of info) {
    if (!key.startsWith(CALLS)) continue;
    const name = key.slice(CALLS.length);
    const calls = new FieldReader(parseList(list));
    const latency = new FieldReader(parseList(info.get(LATENCY + name) ?? ""));
    found.push({
      name,
      value: {
        "redis.cmd.calls": calls.integer("calls"),
        "redis.cmd.sec": calls.float("usec", MICROSECOND),
        "redis.cmd.rejected": calls.integer("rejected_calls"),
        "redis.cmd.failed": calls.integer("failed_calls"),
        "redis.cmd.latency.p50": latency.float("p50", MICROSECOND),
        "redis.cmd.latency.p99": latency.float("p99", MICROSECOND),
        "redis.cmd.latency.p99.9": latency.float("p99.9", MICROSECOND),
      },
    });
  }
  return found;
}
