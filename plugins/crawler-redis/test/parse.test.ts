import { describe, expect, test } from "vitest";
import { parseInfo, parseList } from "../src/parse.ts";
import { commands, databases, figuresOf, healthOf } from "../src/report.ts";

const figures = (text: string) => figuresOf(parseInfo(text));

describe("parseInfo", () => {
  test("C90: reports the databases that are listed and invents none", () => {
    const info = parseInfo(
      "# Keyspace\r\ndb1:keys=3,expires=1,avg_ttl=1500\r\ndb3:keys=1,expires=0,avg_ttl=0,subexpiry=2\r\n",
    );
    expect(databases(info)).toEqual([
      {
        name: "db1",
        value: { "redis.db.keys": 3, "redis.db.expires": 1, "redis.db.avg_ttl": 1.5, "redis.db.subexpiry": null },
      },
      {
        name: "db3",
        value: { "redis.db.keys": 1, "redis.db.expires": 0, "redis.db.avg_ttl": 0, "redis.db.subexpiry": 2 },
      },
    ]);
    expect(databases(parseInfo("# Keyspace\r\n"))).toEqual([]);
  });

  test("C91: a key may hold colons and pipes", () => {
    const info = parseInfo(
      [
        "cmdstat_host::calls=1,usec=30,usec_per_call=30.00,rejected_calls=0,failed_calls=0",
        "errorstat_@user_script::count=2",
        "cmdstat_config|get:calls=7,usec=70,usec_per_call=10.00",
        "latency_percentiles_usec_config|get:p50=1.003,p99=2.007,p99.9=30.079",
      ].join("\r\n"),
    );
    expect([...info.keys()]).toEqual([
      "cmdstat_host:",
      "errorstat_@user_script:",
      "cmdstat_config|get",
      "latency_percentiles_usec_config|get",
    ]);
    expect(parseList(info.get("latency_percentiles_usec_config|get") ?? "").get("p99.9")).toBe("30.079");
    const [host, config] = commands(info);
    expect(host).toMatchObject({ name: "host:", value: { "redis.cmd.calls": 1, "redis.cmd.latency.p50": null } });
    expect(config?.value["redis.cmd.latency.p99.9"]).toBeCloseTo(30.079e-6, 12);
  });

  test("a value with colons and an equals sign is not a list", () => {
    const info = parseInfo("executable:/opt/a:b/redis-server\nconfig_file:/etc/a=b.conf\nnocolon\n:empty\n");
    expect(Object.fromEntries(info)).toEqual({ executable: "/opt/a:b/redis-server", config_file: "/etc/a=b.conf" });
  });

  test("holds a bounded number of fields", () => {
    const text = Array.from({ length: 50_000 }, (_, index) => `f${index}:1`).join("\n");
    expect(parseInfo(text).size).toBe(10_000);
  });
});

describe("figuresOf", () => {
  test("C93, parity A3: the type of a field does not depend on its value", () => {
    expect(figures("mem_fragmentation_ratio:1")["redis.memory.fragmentation_ratio"]).toBe(1);
    expect(figures("mem_fragmentation_ratio:0.81")["redis.memory.fragmentation_ratio"]).toBe(0.81);
    expect(figures("master_last_io_seconds_ago:-1")).toMatchObject({
      "redis.replication.primary_last_io": null,
      "redis.fields.invalid": 0,
    });
    expect(figures("connected_clients:many\nused_memory:1024")).toMatchObject({
      "redis.clients.connected": null,
      "redis.memory.used": 1024,
      "redis.fields.invalid": 1,
    });
  });

  test("C94: texts that look like numbers stay texts", () => {
    const zeros = "0".repeat(40);
    const text = `master_replid2:${zeros}\nmaster_replid:12345678901234567890123456789012345e6789\nredis_version:7.2\nrun_id:${"1".repeat(40)}\nredis_build_id:1e10`;
    expect(figures(text)).toMatchObject({
      replicationId2: zeros,
      replicationId: "12345678901234567890123456789012345e6789",
      version: "7.2",
      runId: "1".repeat(40),
      buildId: "1e10",
    });
  });

  test("C96: inf and nan are null and counted, the rest is kept", () => {
    const text =
      "allocator_frag_ratio:inf\nrss_overhead_ratio:-nan\nused_memory_peak_perc:nan%\nmem_fragmentation_ratio:-nan\nused_memory:5";
    expect(figures(text)).toMatchObject({
      "redis.memory.allocator_fragmentation_ratio": null,
      "redis.memory.rss_overhead_ratio": null,
      "redis.memory.peak_percent": null,
      "redis.memory.fragmentation_ratio": null,
      "redis.memory.used": 5,
      "redis.fields.invalid": 4,
    });
  });

  test("C97: percents are numbers, a memory limit of 0 gives no ratio", () => {
    const text = "used_memory:50\nused_memory_human:1.50K\nused_memory_peak_perc:100.30%";
    expect(figures(`${text}\nmaxmemory:0`)).toMatchObject({
      "redis.memory.peak_percent": 100.3,
      "redis.maxmemory": 0,
      "redis.memory.utilization": null,
    });
    expect(figures(`${text}\nmaxmemory:200`)["redis.memory.utilization"]).toBe(0.25);
  });

  test("numbers beyond 2^53 stay exact, negative counters are refused", () => {
    expect(figures("total_net_input_bytes:18446744073709551104\ntotal_commands_processed:-3")).toMatchObject({
      "redis.net.input": 18_446_744_073_709_551_104n,
      "redis.commands.processed": null,
      "redis.fields.invalid": 1,
    });
  });

  test("microseconds and milliseconds become seconds", () => {
    expect(figures("latest_fork_usec:1500")["redis.latest_fork"]).toBeCloseTo(0.0015, 12);
  });

  test("C99: names product and version of each relative and tolerates unknown sections", () => {
    expect(
      figures("server_name:valkey\nvalkey_version:8.1.0\nredis_version:7.2.4\nserver_mode:standalone"),
    ).toMatchObject({
      product: "valkey",
      version: "8.1.0",
      redisVersion: "7.2.4",
      mode: "standalone",
    });
    expect(figures("redis_version:7.4.0\ndragonfly_version:df-v1.35.0")).toMatchObject({
      product: "dragonfly",
      version: "1.35.0",
    });
    expect(figures("redis_version:6.3.4\nexecutable:/usr/local/bin/keydb-server")).toMatchObject({
      product: "keydb",
      version: "6.3.4",
    });
    const redis8 =
      "redis_version:8.0.1\n# Keysizes\ndb0_distrib_strings_sizes:1=2,4=1\n# Threads\nio_thread_0:clients=2,reads=0\n# Hotkeys";
    expect(figures(redis8)).toMatchObject({ product: "redis", version: "8.0.1", "redis.fields.invalid": 0 });
    expect(databases(parseInfo(redis8))).toEqual([]);
  });

  test("C99: a sentinel is no data node", () => {
    const text =
      "redis_version:7.2.4\nredis_mode:sentinel\nsentinel_masters:1\nmaster0:name=mymaster,status=ok,address=192.0.2.8:6379,slaves=1,sentinels=3";
    expect(healthOf(parseInfo(text)).state).toBe("sentinel");
    expect(figures(text)).toMatchObject({ mode: "sentinel", role: "sentinel", "redis.sentinel.primaries": 1 });
  });
});

describe("healthOf", () => {
  test("C103: a replica that is cut off says so, with its figures", () => {
    const info = parseInfo("role:slave\nmaster_link_status:down\nmaster_link_down_since_seconds:-1");
    expect(healthOf(info).state).toBe("primary_down");
    expect(figuresOf(info)).toMatchObject({
      role: "replica",
      primaryLinkStatus: "down",
      "redis.replication.primary_link_down_since": null,
      "redis.fields.invalid": 0,
    });
  });

  test("C102: loading is a state", () => {
    expect(healthOf(parseInfo("loading:1\nloading_eta_seconds:12"))).toMatchObject({ state: "loading" });
  });
});
