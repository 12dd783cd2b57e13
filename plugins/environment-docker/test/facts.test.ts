import { describe, expect, test } from "vitest";
import { chooseVersion } from "../src/client.ts";
import { pickName, readFacts } from "../src/facts.ts";
import { repositoryDigest } from "../src/image.ts";
import { isSandbox } from "../src/sandbox.ts";
import { isWanted } from "../src/select.ts";
import { stringMap } from "../src/value.ts";
import { container, exited } from "./fake-engine.ts";

const ID = "a".repeat(64);

function facts(over: Readonly<Record<string, unknown>> = {}) {
  const read = readFacts(container(ID, "web", over));
  if (read === null) throw new Error("no facts");
  return read;
}

describe("C58: odd states", () => {
  const state = (more: object): unknown => ({ ...Object(container(ID, "web")["State"]), ...more });

  test("a dead container without a name has a short id for one, and no pid", () => {
    const dead = { Status: "dead", Running: false, Dead: true, Pid: 0, ExitCode: 137 };
    const read = facts({ Name: "", State: dead });
    expect(read).toMatchObject({ name: "a".repeat(12), pid: null, ended: true });
    expect(read.state).toMatchObject({ status: "terminated", exitCode: 137, reason: "Error", startedAt: null });
  });

  test("one that was only created waits; the zero date is no date", () => {
    const zero = "0001-01-01T00:00:00Z";
    const read = facts({ State: state({ Status: "created", Pid: 0, StartedAt: zero, FinishedAt: zero }) });
    expect(read.state).toMatchObject({ status: "waiting", startedAt: null, finishedAt: null, exitCode: null });
    expect(read.ended).toBe(false);
  });

  test("removing is over, paused keeps its pid, restarting has none whatever it claims", () => {
    expect(facts({ State: state({ Status: "removing", Pid: 0 }) }).ended).toBe(true);
    expect(facts({ State: state({ Status: "paused", Paused: true, Pid: 12 }) })).toMatchObject({
      pid: 12,
      ended: false,
    });
    const restarting = facts({ State: state({ Status: "restarting", Running: true, Pid: 0, ExitCode: 3 }) });
    expect(restarting).toMatchObject({ pid: null, ended: false });
    expect(restarting.state).toMatchObject({ status: "waiting", reason: "Restarting", exitCode: null });
  });

  test("a state that nobody knows yet is unknown, and nothing is entered", () => {
    expect(facts({ State: state({ Status: "hibernating", Pid: 5 }) })).toMatchObject({
      pid: null,
      state: { status: "unknown" },
    });
  });

  test("reasons: completed, failed, out of memory; the run before is kept while the next one goes on", () => {
    expect(facts(exited(0)).state).toMatchObject({ reason: "Completed", exitCode: 0 });
    expect(facts(exited(2)).state).toMatchObject({ reason: "Error", finishedAt: "2026-11-30T20:05:00.000Z" });
    const killed = { ...Object(exited(137)["State"]), OOMKilled: true };
    expect(facts({ State: killed }).state.reason).toBe("OOMKilled");
    const again = facts({ State: state({ FinishedAt: "2026-11-30T19:00:00Z" }), RestartCount: 4 });
    expect(again.state).toMatchObject({ restarts: 4, finishedAt: null });
    expect(again.state.lastTermination).toMatchObject({ finishedAt: "2026-11-30T19:00:00.000Z", exitCode: null });
  });
});

describe("C61: null where a map is expected", () => {
  test("nothing but an id makes facts with empties", () => {
    const nulls = { Name: null, Config: null, HostConfig: null, NetworkSettings: null, Mounts: null, State: null };
    const read = readFacts({ Id: ID, Image: `sha256:${"b".repeat(64)}`, ...nulls });
    expect(read).toMatchObject({ name: "a".repeat(12), labels: {}, annotations: {}, ips: [], networkMode: null });
    expect(readFacts({ Id: ID, Config: { Labels: null, Env: null } })?.labels).toEqual({});
    expect(readFacts(null)).toBeNull();
    expect(readFacts({ Id: "" })).toBeNull();
    expect(readFacts([])).toBeNull();
  });

  test("parity K3: the name is the one without a second slash", () => {
    expect(pickName(["/other/alias", "/web"])).toBe("web");
    expect(pickName(null)).toBeNull();
    expect(pickName([null, ""])).toBeNull();
  });

  test("labels are a map without a prototype, whatever their names are", () => {
    const labels = stringMap(JSON.parse('{"__proto__":"x","constructor":"y","n":1}'));
    expect(Object.getPrototypeOf(labels)).toBeNull();
    expect(Object.keys(labels).sort()).toEqual(["__proto__", "constructor"]);
  });
});

describe("C60: addresses of networks", () => {
  const ips = (settings: unknown): readonly string[] => facts({ NetworkSettings: settings }).ips;

  test("none, null, an empty one beside a full one, IPv6 only", () => {
    expect(ips({ Networks: {} })).toEqual([]);
    expect(ips({ Networks: null })).toEqual([]);
    expect(ips({ Networks: { b: { IPAddress: "10.0.0.2" }, a: { IPAddress: "" } } })).toEqual(["10.0.0.2"]);
    expect(ips({ Networks: { a: { GlobalIPv6Address: "2001:db8::2" } } })).toEqual(["2001:db8::2"]);
    expect(ips({ IPAddress: "172.17.0.9" })).toEqual(["172.17.0.9"]);
  });
});

test("limits are cores and bytes; 0 is none", () => {
  const limited = facts({ HostConfig: { NanoCpus: 1_500_000_000, Memory: 67_108_864, MemoryReservation: 1024 } });
  expect(limited.resources.cpu.limitCurrent).toBe(1.5);
  expect(limited.resources.memory).toMatchObject({ limitCurrent: 67_108_864, requestCurrent: 1024 });
  expect(facts({ HostConfig: { CpuQuota: 50_000, CpuPeriod: 100_000 } }).resources.cpu.limitCurrent).toBe(0.5);
  expect(facts().resources.memory.limitCurrent).toBeNull();
});

test("the manifest's digest is that of the same repository", () => {
  const one = `sha256:${"1".repeat(64)}`;
  const two = `sha256:${"2".repeat(64)}`;
  expect(repositoryDigest({ RepoDigests: [`a/b@${one}`, `shop/web@${two}`] }, "shop/web:1")).toBe(two);
  expect(repositoryDigest({ RepoDigests: [`a/b@${one}`] }, "shop/web:1")).toBe(one);
  expect(repositoryDigest({ RepoDigests: null }, "shop/web:1")).toBeNull();
});

test("C51, C53, C55: a sandbox is known by its labels, or by an exact image that the operator names", () => {
  expect(isSandbox({ "io.kubernetes.docker.type": "podsandbox" }, "any")).toBe(true);
  expect(isSandbox({ "io.kubernetes.container.name": "POD" }, "registry.example.test/infra/sandbox:7")).toBe(true);
  expect(isSandbox({ "io.kubernetes.pod.name": "cart-0" }, "any")).toBe(true);
  expect(isSandbox({ "io.cri-containerd.kind": "sandbox" }, "any")).toBe(true);
  expect(isSandbox({ "io.kubernetes.cri-o.ContainerType": "sandbox" }, "any")).toBe(true);
  expect(isSandbox({}, "registry.example.test/infra/sandbox:7", ["registry.example.test/infra/sandbox:7"])).toBe(true);
});

test("C52: names that sound like one are not one", () => {
  const images = ["gcr.io/acme-games/pause-menu:2", "shop/superpause:1.0", "shop/pausestation", "shop/video:pause"];
  for (const image of images) expect(isSandbox({}, image), image).toBe(false);
  const labels = { "io.kubernetes.pod.name": "game-0", "io.kubernetes.container.name": "pause" };
  expect(isSandbox(labels, "registry.k8s.io/pause:3.10")).toBe(false);
});

test("parity C4, C5: include takes all kinds of rules together, exclude any of them", () => {
  const none = { names: [], images: [], labels: {} };
  const web = { name: "web-1", image: "shop/web:1", labels: { team: "shop" } };
  const wanted = (include: object, exclude: object = {}): boolean =>
    isWanted({ include: { ...none, ...include }, exclude: { ...none, ...exclude } }, web);
  expect(wanted({})).toBe(true);
  expect(wanted({ names: ["web-*"], labels: { team: "sh?p" } })).toBe(true);
  expect(wanted({ names: ["db"] })).toBe(false);
  expect(wanted({ labels: { team: "shop", tier: "*" } })).toBe(false);
  expect(wanted({}, { labels: { team: "*" } })).toBe(false);
  expect(wanted({}, { images: ["shop/*"] })).toBe(false);
  expect(wanted({}, { names: ["db"] })).toBe(true);
});

test("parity C17: the version of the API is the newest that both know", () => {
  expect(chooseVersion("1.41", "1.12")).toBe("1.41");
  expect(chooseVersion("1.99", "1.44")).toBe("1.51");
  expect(chooseVersion("1.99", "1.60")).toBe("1.60");
  expect(chooseVersion(null, null)).toBe("1.51");
});
