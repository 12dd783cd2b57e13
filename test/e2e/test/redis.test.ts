import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { busyboxImage, kubectl, redisImage } from "@trawler/testbed";
import { selfSigned } from "@trawler/testkit";
import { afterAll, beforeAll, expect, test } from "vitest";
import { Agent, crawlOnce } from "../src/agent.ts";
import { container, feature } from "../src/frames.ts";
import { type ContainerOptions, idle, nginx, pod, redis } from "../src/manifests.ts";
import { apply } from "../src/node.ts";
import { onNode } from "../src/suite.ts";
import { frameValidator } from "../src/validate.ts";
import { waitFor } from "../src/wait.ts";

const EVERY = 2;
const SLOTS = 5;
const PASSWORD = "correct-horse-battery";
/** Of the node itself. */
const HOST_PORT = 16_399;

const TLS_FILES = ["--tls-cert-file", "/tls/cert", "--tls-key-file", "/tls/key", "--tls-ca-cert-file", "/tls/cert"];

const podIp = { env: [{ name: "POD_IP", valueFrom: { fieldRef: { fieldPath: "status.podIP" } } }] };

/** A server in Perl, whose process calls itself `name`; `reply` runs with the client in `$c`. It prints what it is sent. */
function impostor(name: string, reply: string): ContainerOptions {
  const script = `
    use IO::Socket::INET; $| = 1; $SIG{PIPE} = 'IGNORE'; $0 = '${name}';
    my $s = IO::Socket::INET->new(LocalPort => 6379, Listen => 16, ReuseAddr => 1) or die;
    while (my $c = $s->accept) { sysread($c, my $q, 4096); $q =~ s/[\\r\\n]+/ /g; print "$q\\n"; ${reply}; close $c }`;
  return { name: "redis", image: redisImage, command: ["perl", "-e", script] };
}

const shell = (script: string): ContainerOptions => ({ ...redis(), command: ["/bin/sh", "-c", script] });

onNode("Redis in pods", "e2e-redis", (namespace) => {
  let agent: Agent;
  let folder: string;
  const { cert, key } = selfSigned();

  const redisOf = async (name: string, member = "redis") => {
    const frame = await agent.frames.next(`${namespace}/${name}`, "with a redis feature", (one) =>
      one.containers.some((inner) => inner.name === member && feature(inner, "redis") !== undefined),
    );
    return feature(container(frame, member), "redis");
  };

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "trawler-redis-"));
    await writeFile(join(folder, "password"), `${PASSWORD}\n`);
    const of = (name: string, ...containers: readonly ContainerOptions[]) => pod(namespace, name, { containers });
    const onHost = { hostNetwork: true };
    await apply(
      of("at-pod-ip", { ...redis("--bind", "$(POD_IP)"), extra: podIp }),
      of("loopback", redis("--bind", "127.0.0.1")),
      of("port-7000", redis("--port", "7000")),
      of("socket-file", redis("--port", "0", "--unixsocket", "/tmp/redis.sock")),
      of("replica", redis("--replicaof", "192.0.2.1", "6379")),
      of("secret", redis("--requirepass", PASSWORD)),
      of("other-secret", redis("--requirepass", "another-one")),
      of("no-info", redis("--user", "default", "on", `>${PASSWORD}`, "~*", "+@all", "-info")),
      of("deaf", { name: "redis", image: redisImage, command: ["perl", "-e", "$0 = 'redis-server'; sleep 1 while 1"] }),
      of("stopped", shell("redis-server --protected-mode no & sleep 1; kill -STOP $!; wait")),
      of("idle-image", shell(idle)),
      of("memcached", impostor("memcached", 'syswrite($c, "ERROR\\r\\n")')),
      of("huge", impostor("redis-server", 'syswrite($c, "\\$99999999999\\r\\n") ; 1 while syswrite($c, "x" x 65536)')),
      of("endless", impostor("redis-server", '1 while syswrite($c, "+" . "x" x 65536)')),
      pod(namespace, "web", {
        annotations: { "trawler.dev/crawl.redis": '{"port": 6379, "host": "10.88.0.1"}' },
        containers: [nginx("daemon off; pid /tmp/pid; events {} http { access_log off; server { listen 6379; } }")],
      }),
      of(
        "two",
        { ...redis("--bind", "127.0.0.1"), name: "inner" },
        { ...redis("--bind", "$(POD_IP)", "--replicaof", "192.0.2.1", "6379"), name: "outer", extra: podIp },
      ),
      of(
        "cut-off",
        { ...redis("--bind", "$(POD_IP)"), extra: podIp },
        {
          name: "cutter",
          script: `until netstat -tln | grep -q :6379; do sleep 1; done; ip link del eth0; ${idle}`,
          extra: { securityContext: { capabilities: { add: ["NET_ADMIN"] } } },
        },
      ),
      pod(namespace, "host-redis", {
        containers: [redis("--bind", "127.0.0.1", "--port", String(HOST_PORT))],
        spec: onHost,
      }),
      { apiVersion: "v1", kind: "ConfigMap", metadata: { namespace, name: "tls" }, data: { cert, key } },
      pod(namespace, "tls", {
        containers: [
          {
            ...redis("--port", "0", "--tls-port", "6379", "--tls-auth-clients", "no", ...TLS_FILES),
            extra: { volumeMounts: [{ name: "tls", mountPath: "/tls" }] },
          },
        ],
        spec: { volumes: [{ name: "tls", configMap: { name: "tls" } }] },
      }),
      pod(namespace, "host-idle", { containers: [shell(idle)], spec: onHost }),
      pod(namespace, "host-asks", {
        annotations: { "trawler.dev/crawl.redis": `{"port": ${HOST_PORT}}` },
        containers: [{ name: "redis", image: busyboxImage }],
        spec: onHost,
      }),
    );
    const wait = ["wait", "-n", namespace, "--for=condition=Ready", "pod", "--all", "--timeout=150s"];
    await kubectl(wait, undefined, { deadline: 160_000 });
    agent = await Agent.start({
      every: `${EVERY}s`,
      crawlers: { network: {}, redis: { password: `\${file:${join(folder, "password")}}`, timeout: "1s" } },
    });
  });

  afterAll(async () => {
    await agent?.[Symbol.asyncDispose]();
    await rm(folder, { recursive: true, force: true });
  });

  test.each([
    ["its own certificate", { ca: cert }, { state: "ok", role: "primary", "server.port": 6379 }],
    ["another one's", { ca: selfSigned().cert }, { state: "cert_invalid" }],
    ["another name", { ca: cert, serverName: "redis.example.test" }, { state: "cert_invalid" }],
  ])("C106: a server that speaks TLS, trusted by %s", async (_, tls, expected) => {
    const { frames, log } = await crawlOnce({ pod: `${namespace}/tls`, crawlers: { redis: { tls } } });
    const [frame] = frames;
    if (!frame) throw new Error(log);
    expect(feature(container(frame, "redis"), "redis")).toMatchObject(expected);
  });

  test("C106: a plain server that is spoken to in TLS is not_tls", async () => {
    const { frames, log } = await crawlOnce({
      pod: `${namespace}/loopback`,
      crawlers: { redis: { tls: { ca: cert }, timeout: "1s" } },
    });
    const [frame] = frames;
    if (!frame) throw new Error(log);
    expect(feature(container(frame, "redis"), "redis")).toMatchObject({ state: "not_tls" });
  });

  test.each([
    ["at-pod-ip", { state: "ok", role: "primary", product: "redis", "server.port": 6379 }],
    ["loopback", { state: "ok", role: "primary", "server.port": 6379 }],
    ["port-7000", { state: "ok", "server.port": 7000 }],
    ["socket-file", { state: "ok", "server.port": null }],
    ["replica", { state: "primary_down", role: "replica", primaryLinkStatus: "down" }],
    ["secret", { state: "ok", "server.port": 6379 }],
    ["other-secret", { state: "auth_failed", reason: expect.stringContaining("WRONGPASS") }],
    ["no-info", { state: "denied", reason: expect.stringContaining("NOPERM") }],
    ["deaf", { state: "down", reason: expect.stringContaining("does not listen"), "server.port": null }],
    ["stopped", { state: "down", reason: expect.stringContaining("in time"), "server.port": 6379 }],
    ["memcached", { state: "not_redis" }],
    ["tls", { state: "tls_required", "server.port": 6379 }],
    ["huge", { state: "invalid", reason: expect.stringContaining("bytes") }],
    ["endless", { state: "invalid", reason: expect.stringContaining("bytes") }],
  ])("C100, C105, C108: %s has its state as data", async (name, expected) => {
    expect(await redisOf(name)).toMatchObject(expected);
  });

  test("C43: a pod that lost its interface has no route; its declared address stays apart", async () => {
    const frame = await agent.frames.next(
      `${namespace}/cut-off`,
      "without a route",
      (one) => feature(container(one, "redis"), "redis")?.["state"] === "down",
    );
    expect(feature(container(frame, "redis"), "redis")?.["reason"]).toContain("no route");
    expect(feature(frame, "network")).toBeUndefined();
    expect(frame.metadata.groups.network?.declared).toEqual([frame.resource["k8s.pod.ip"]]);
  });

  test("C117: two servers of one pod on one port are told apart by their addresses", async () => {
    expect(await redisOf("two", "inner")).toMatchObject({ state: "ok", role: "primary" });
    expect(await redisOf("two", "outer")).toMatchObject({ state: "primary_down", role: "replica" });
  });

  test("C30: a port of the node belongs to the hostNetwork pod whose process holds it", async () => {
    expect(await redisOf("host-redis")).toMatchObject({ state: "ok", "server.port": HOST_PORT });
    expect(await redisOf("host-asks")).toMatchObject({ state: "down", reason: expect.stringContaining("listens") });
    const idleFrame = await agent.frames.next(`${namespace}/host-idle`, "whole", ({ metadata }) => metadata.complete);
    expect(feature(container(idleFrame, "redis"), "redis")).toBeUndefined();
  });

  test("C108: something else on 6379 is asked INFO only, and no other host is ever asked", async () => {
    expect(await redisOf("web", "nginx")).toMatchObject({ state: "not_redis", "server.port": 6379 });
    await redisOf("memcached");
    for (const name of ["memcached", "huge"]) {
      const { stdout } = await kubectl(["logs", "-n", namespace, name]);
      const asked = stdout.split("\n").filter((line) => line !== "");
      expect(asked.length).toBeGreaterThan(0);
      expect(new Set(asked)).toEqual(new Set(["*1 $4 info "]));
    }
  });

  test("every pod has a frame in each slot, each is valid, none tells a password, and nothing piles up", async () => {
    const intervals = (name: string) =>
      agent.frames.of(`${namespace}/${name}`).filter(({ reason }) => reason === "interval");
    const names = ["at-pod-ip", "stopped", "huge", "endless", "memcached", "idle-image"];
    await waitFor("some slots", () => names.every((name) => intervals(name).length > SLOTS), 60_000);
    for (const name of names) {
      const times = intervals(name).map(({ time }) => Date.parse(time));
      for (const [index, time] of times.entries()) {
        const before = times[index - 1];
        if (before !== undefined) expect(Math.round((time - before) / 1_000 / EVERY), name).toBe(1);
      }
    }
    const validate = frameValidator();
    for (const frame of agent.frames.all) expect(validate(frame), JSON.stringify(frame)).toEqual([]);
    const said = JSON.stringify(agent.frames.all) + agent.log.join("\n");
    expect(said).not.toContain(PASSWORD);
    expect(said).not.toContain("another-one");
    expect(feature(container(intervals("idle-image").at(-1) ?? never(), "redis"), "redis")).toBeUndefined();
    expect(await agent.memory()).toBeLessThan(400 * 2 ** 20);
  });
});

function never(): never {
  throw new Error("there is a frame");
}
