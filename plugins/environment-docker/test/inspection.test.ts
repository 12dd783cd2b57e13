import { readFileSync } from "node:fs";
import { afterEach, describe, expect, test, vi } from "vitest";
import { readFacts } from "../src/facts.ts";
import { readImage } from "../src/image.ts";
import { readBridge } from "../src/network.ts";
import { toWorkload } from "../src/workload.ts";
import { container } from "./fake-engine.ts";

type Json = Readonly<Record<string, unknown>>;

// What a real engine said of a container, its image and its networks.
const answer = (name: string): Json & readonly Json[] =>
  JSON.parse(readFileSync(new URL(`../testdata/engine-20.10/${name}.json`, import.meta.url), "utf8"));

const ID = "a".repeat(64);

afterEach(() => vi.unstubAllEnvs());

function facts(inspect: unknown) {
  const read = readFacts(inspect);
  if (read === null) throw new Error("no facts");
  return read;
}

const inspection = (over: Json) => facts(container(ID, "web", over)).inspection;

test("parity C1: the pid is a number, and the time of creation the same in each time zone", () => {
  for (const zone of ["America/New_York", "Asia/Kathmandu", "UTC"]) {
    vi.stubEnv("TZ", zone);
    const body = '{"Created":"2016-07-06T16:38:05.479090842Z","State":{"Status":"running","Pid":1.1186e4}}';
    const read = facts({ ...container(ID, "web"), ...JSON.parse(body) });
    expect(read.pid).toBe(11_186);
    expect(Math.floor(Date.parse(read.inspection?.createdAt ?? "") / 1000)).toBe(1_467_823_085);
  }
});

test("parity C2: the names of the image, the first one first", () => {
  const tags = ["registry/abc/def:latest", "debian:latest"];
  expect(readImage({ RepoTags: tags }, null).tags).toEqual(tags);
  expect(readImage({ RepoTags: null }, null).tags).toEqual([]);
});

test("parity P22: one running container has its real time of creation, ports and command", () => {
  const read = facts(answer("container"));
  const surroundings = {
    node: { name: "n", cluster: "" },
    engine: "docker",
    observedAt: "",
    mayRestart: false,
    find: () => undefined,
  };
  const [one] = toWorkload(read, surroundings).containers;
  expect(one).toMatchObject({
    name: "web",
    image: "shop/web:1",
    state: { status: "running" },
    inspection: {
      createdAt: "2026-12-01T12:06:13.918Z",
      ports: ["127.0.0.1:18080->80/tcp"],
      commandLine: ["/bin/sh", "-c", "while true; do sleep 1; done", "sh", "--password", "[redacted]"],
    },
  });
});

describe("an inspection", () => {
  test("says what a real engine was told", () => {
    expect(facts(answer("container")).inspection).toMatchObject({
      entrypoint: ["/bin/sh"],
      environment: ["API_TOKEN", "DB_PASSWORD", "MODE", "PATH"],
      user: "1000:1000",
      restartPolicy: "on-failure",
      restartLimit: 3,
      privileged: false,
      readOnlyRoot: true,
      noNewPrivileges: true,
      capabilitiesAdded: ["NET_ADMIN"],
      capabilitiesDropped: ["ALL"],
      hostNamespaces: ["cgroup"],
      networks: ["bridge", "shop"],
      logDriver: "json-file",
      mounts: [
        { type: "bind", source: "/srv/shop/config", destination: "/config", readOnly: true },
        { type: "volume", name: "carts", destination: "/data2", readOnly: false },
        { type: "tmpfs", source: null, destination: "/scratch", readOnly: false },
      ],
    });
  });

  test("holds no value of the environment and no secret of a command", () => {
    expect(JSON.stringify(facts(answer("container")))).not.toMatch(/s3cret|hunter2/);
    expect(JSON.stringify(readImage(answer("image"), answer("history")))).not.toMatch(/s3cret|hunter2/);
  });

  test("is null where the engine says nothing, and nothing is made up", () => {
    const bare = { Config: null, HostConfig: null, NetworkSettings: null, Mounts: null, Path: undefined };
    expect(inspection(bare)).toMatchObject({
      createdAt: null,
      commandLine: null,
      entrypoint: null,
      environment: null,
      privileged: null,
      restartPolicy: null,
      bridges: null,
      usesDefaultBridge: null,
      mounts: [],
    });
  });

  test("is bounded, whatever an engine says", () => {
    const many = Array.from({ length: 10_000 }, (_, index) => `V${index}=${"x".repeat(100)}`);
    const read = inspection({ Config: { Env: many, Entrypoint: many }, Path: "x".repeat(1e6), Args: many });
    expect(read?.environment).toHaveLength(256);
    expect(JSON.stringify(read).length).toBeLessThan(32_768);
  });

  test("names ports that are only exposed, and addresses of version 6", () => {
    const settings = { Ports: { "53/udp": null, "80/tcp": [{ HostIp: "::", HostPort: "8080" }] } };
    const read = inspection({ NetworkSettings: settings, Config: { ExposedPorts: { "9000/tcp": {} } } });
    expect(read?.ports).toEqual(["53/udp", "[::]:8080->80/tcp", "9000/tcp"]);
  });
});

describe("a history", () => {
  test("parity P23: has all steps, the oldest first, with sizes and the layers that they made", () => {
    const image = readImage(answer("image"), answer("history"));
    expect(image.steps).toHaveLength(6);
    expect(image.steps?.[0]).toEqual({
      createdAt: "2024-01-01T00:00:00.000Z",
      command: "trawler testbed",
      comment: null,
      size: 1_984_230,
      empty: false,
      layer: image.layers[0],
    });
    expect(image.steps?.map(({ empty }) => empty)).toEqual([false, true, true, false, true, true]);
    expect(image.steps?.[3]).toMatchObject({ command: "/bin/sh -c mkdir /data && echo 1 > /data/x", size: 2 });
    expect(image.steps?.[3]?.layer).toBe(image.layers[1]);
    expect(image.steps?.[2]?.command).toBe("/bin/sh -c #(nop)  ENV DB_PASSWORD=[redacted] MODE=prod");
  });

  test("leaves layers out where their number does not fit", () => {
    const image = readImage({ RootFS: { Layers: ["sha256:a", "sha256:b"] } }, [{ Size: 5, CreatedBy: "x" }]);
    expect(image.steps).toMatchObject([{ size: 5, empty: null, layer: null }]);
  });

  test("keeps the newest steps and says that it was cut", () => {
    const steps = Array.from({ length: 150 }, (_, index) => ({
      Created: 1,
      CreatedBy: `step ${150 - index}`,
      Size: 0,
    }));
    const image = readImage({}, steps);
    expect(image.steps).toHaveLength(100);
    expect(image.steps?.at(-1)?.command).toBe("step 150");
    expect(image.truncated).toBe(true);
    expect(readImage({}, [{ CreatedBy: "x".repeat(5000) }])).toMatchObject({ truncated: true });
    expect(readImage({}, [{ CreatedBy: "x" }])).toMatchObject({ truncated: false });
    expect(readImage(null, null)).toMatchObject({ id: null, steps: null, layers: [], truncated: false });
  });
});

test("a bridge is named by its options, else by its network's id; other drivers have none", () => {
  const bridges = Object.values(answer("networks")).map(readBridge);
  expect(bridges).toEqual([
    { name: "tb1", default: true },
    { name: "br-e84a77915677", default: false },
  ]);
  expect(readBridge({ Driver: "bridge", Options: { "com.docker.network.bridge.name": "docker0" } })?.default).toBe(
    true,
  );
  expect(readBridge({ Driver: "overlay" })).toBeNull();
  expect(readBridge(null)).toBeNull();
});
