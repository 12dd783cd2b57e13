import { request } from "node:http";
import { join } from "node:path";
import { json } from "node:stream/consumers";
import {
  busyboxImage,
  readTestbedState,
  run,
  startComponent,
  startDocker,
  stopComponent,
  stopDocker,
  testbedUnsupported,
} from "@trawler/testbed";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { Agent } from "../src/agent.ts";
import { container, feature, number } from "../src/frames.ts";
import { idle } from "../src/manifests.ts";
import { frameValidator } from "../src/validate.ts";
import { waitFor } from "../src/wait.ts";

// States that a real engine shows for an instant only are tested on a fake one, in the plugin's own tests: `dead`,
// `removing` and a container that goes between list and inspect (C57, C58).

const PREFIX = "e2e-docker-";
/** No label is inherited from it. */
const plainImage = "e2e/plain:1";
/** Intervals of an outage. */
const outage = 3;
const busy = "trap 'exit 0' TERM; while true; do i=0; while [ $i -lt 2000 ]; do i=$((i+1)); done; sleep 0.1; done";

const reason = testbedUnsupported();
describe.skipIf(reason !== undefined)(reason === undefined ? "Docker" : `Docker (skipped: ${reason})`, () => {
  let socket = "";
  let wasUp = false;

  const docker = async (...args: readonly string[]): Promise<string> =>
    (await run("docker", ["-H", `unix://${socket}`, ...args])).stdout.trim();
  /** Runs a shell line in a container; answers its id. */
  const start = (name: string, script: string, ...options: readonly string[]) =>
    docker("run", "-d", "--name", PREFIX + name, "--entrypoint", "/bin/sh", ...options, busyboxImage, "-c", script);
  const inspect = async (name: string, format: string) => docker("inspect", "-f", format, PREFIX + name);
  const removeAll = async () => {
    const ids = (await docker("ps", "-aq", "--filter", `name=${PREFIX}`)).split("\n").filter((id) => id !== "");
    if (ids.length > 0) await docker("rm", "-f", ...ids);
  };
  const startAgent = (crawlers: object = { cpu: {}, memory: {}, network: {}, process: {} }) =>
    Agent.start({
      pipeline: { environment: { docker: { socket } }, mode: { container: {} } },
      crawlers,
      every: "2s",
    });

  beforeAll(async () => {
    wasUp = readTestbedState()?.docker !== undefined;
    socket = await startDocker();
    await removeAll();
    await start("export", "exit 0");
    const file = join("/tmp", `${PREFIX}${process.pid}.tar`);
    await docker("export", "-o", file, `${PREFIX}export`);
    await docker("import", file, plainImage);
    await run("rm", ["-f", file]);
    await removeAll();
  });
  // A test that fails in the middle of an outage must not take the others with it.
  afterEach(async () => {
    await startComponent("dockerd");
    await removeAll();
  });
  afterAll(async () => {
    await docker("rmi", "-f", plainImage);
    if (!wasUp) await stopDocker();
  });

  test("containers of all sorts: without labels or network, sharing one, created, paused, exited, removed", async () => {
    await docker("run", "-d", "--name", `${PREFIX}bare`, plainImage, "/bin/sh", "-c", idle);
    await start("labelled", busy, "--label", "app=web", "--memory", "64m", "--cpus", "0.5");
    await start("offline", idle, "--network", "none");
    const owner = await inspect("labelled", "{{.Id}}");
    await start("sharing", idle, "--network", `container:${PREFIX}labelled`);
    await docker("create", "--name", `${PREFIX}created`, "--entrypoint", "/bin/sh", busyboxImage, "-c", idle);
    await start("paused", idle);
    await docker("pause", `${PREFIX}paused`);
    await start("sandbox", idle, "--label", "io.kubernetes.docker.type=podsandbox");
    await start("before", "exit 4");
    await waitFor("it to have ended", async () => (await inspect("before", "{{.State.Status}}")) === "exited");
    await using agent = await startAgent();
    const seen = (name: string, what = "an interval") =>
      agent.frames.next(PREFIX + name, what, (frame) => frame.reason === "interval");

    const bare = await seen("bare");
    expect(bare).toMatchObject({ kind: "container", labels: {}, final: false });
    expect(bare.resource).toMatchObject({ "container.name": `${PREFIX}bare`, "container.runtime.name": "docker" });
    expect(bare.containers).toHaveLength(1);
    expect(bare.containers[0]).toMatchObject({ id: await inspect("bare", "{{.Id}}"), image: plainImage });

    const labelled = await seen("labelled");
    expect(labelled.labels).toMatchObject({ app: "web" });
    expect(container(labelled, `${PREFIX}labelled`).resources).toMatchObject({
      cpu: { limitDesired: 0.5 },
      memory: { limitDesired: 64 * 2 ** 20 },
    });
    const address = await inspect("labelled", "{{.NetworkSettings.IPAddress}}");
    expect(labelled.status?.ips).toEqual([address]);

    const offline = await seen("offline");
    expect(offline.status).toMatchObject({ ips: [], hostNetwork: false });
    expect(feature(offline, "network", "eth0")).toBeUndefined();
    expect(offline.problems).toEqual([]);

    const sharing = await seen("sharing");
    expect(sharing.status?.ips).toEqual([address]);
    expect(sharing.resource["docker.network.mode"]).toBe(`container:${owner.slice(0, 12)}`);

    const paused = await seen("paused");
    expect(paused.containers[0]?.state.status).toBe("paused");
    expect(number(paused, "cpu", "cpu.time")).toBeGreaterThan(0);
    await docker("unpause", `${PREFIX}paused`);
    await agent.frames.upcoming(
      `${PREFIX}paused`,
      "running again",
      ({ containers }) => containers[0]?.state.status === "running",
    );

    // What has not begun has no frame, nor has what ended before anyone looked.
    expect(agent.frames.of(`${PREFIX}created`)).toEqual([]);
    expect(agent.frames.of(`${PREFIX}before`)).toEqual([]);
    await docker("start", `${PREFIX}created`);
    await agent.frames.next(`${PREFIX}created`, "started", (frame) => frame.reason === "started");

    await start("short", "sleep 1; exit 3");
    const exited = await agent.frames.next(`${PREFIX}short`, "ended", ({ final }) => final);
    expect(exited.containers[0]?.state).toMatchObject({ status: "terminated", exitCode: 3, reason: "Error" });
    // The same container runs again: that is told anew, and its frames are counted on.
    await docker("start", `${PREFIX}short`);
    const again = await agent.frames.next(
      `${PREFIX}short`,
      "ended again",
      ({ final, sequence }) => final && sequence > exited.sequence,
    );
    expect(again.containers[0]).toMatchObject({ id: exited.containers[0]?.id, state: { exitCode: 3 } });
    await docker("rm", "-f", `${PREFIX}offline`);
    const removed = await agent.frames.next(`${PREFIX}offline`, "ended", ({ final }) => final);
    expect(removed.containers[0]?.state).toMatchObject({ status: "terminated", exitCode: 137 });
    await docker("rm", `${PREFIX}short`);
    await seen("labelled", "one more");

    const validate = frameValidator();
    for (const frame of agent.frames.all) expect(validate(frame), JSON.stringify(frame)).toEqual([]);
    for (const name of ["bare", "labelled", "offline", "sharing", "created", "paused", "short"]) {
      const all = agent.frames.of(PREFIX + name);
      expect(all.map(({ sequence }) => sequence)).toEqual(all.map((_, index) => index + 1));
      expect(all.filter((frame) => frame.reason === "started")).toHaveLength(name === "short" ? 2 : 1);
      expect(all.filter(({ final }) => final)).toHaveLength({ offline: 1, short: 2 }[name] ?? 0);
    }
    // The node's pods run on another runtime; a sandbox is nobody's container.
    const names = new Set(agent.frames.all.map(({ resource }) => String(resource["container.name"])));
    expect([...names].filter((name) => !name.startsWith(PREFIX))).toEqual([]);
    expect(names).not.toContain(`${PREFIX}sandbox`);
    expect(agent.frames.all.filter(({ kind, resource }) => kind !== "container" || "k8s.pod.uid" in resource)).toEqual(
      [],
    );
    expect(await agent.stop()).toBe(0);
  });

  test("parity C1, C2, P22, P23: inspections and histories are what the engine's own tool shows", async () => {
    const volume = `${PREFIX}carts`;
    const network = `${PREFIX}net`;
    await docker("network", "create", network);
    try {
      await start(
        "told",
        idle,
        ...["--network", network, "--env", "API_TOKEN=e2e-secret", "--cap-add", "NET_ADMIN", "--cap-drop", "ALL"],
        ...["--read-only", "--security-opt", "no-new-privileges", "--restart", "on-failure:3", "--user", "1000:1000"],
        ...["--volume", `${volume}:/carts:ro`, "--tmpfs", "/scratch", "--expose", "9000"],
      );
      await start("default", `${idle} # --password e2e-secret`);
      await using agent = await startAgent({ inspect: {}, "image-history": {}, image: {} });
      const told = await agent.frames.next(
        `${PREFIX}told`,
        "its inspection",
        (one) => feature(one, "inspect") !== undefined,
      );
      const value = feature(told, "inspect");
      const own = async (name: string, field: string) => JSON.parse(await inspect(name, `{{json ${field}}}`));
      expect(value).toMatchObject({
        source: "docker",
        pid: await own("told", ".State.Pid"),
        commandLine: [await own("told", ".Path"), ...(await own("told", ".Args"))],
        entrypoint: ["/bin/sh"],
        user: "1000:1000",
        restartPolicy: "on-failure",
        restartLimit: 3,
        privileged: false,
        readOnlyRoot: true,
        noNewPrivileges: true,
        capabilitiesAdded: ["NET_ADMIN"],
        capabilitiesDropped: ["ALL"],
        networkMode: network,
        networks: [network],
        bridges: [`br-${(await docker("network", "inspect", "-f", "{{.Id}}", network)).slice(0, 12)}`],
        usesDefaultBridge: false,
        ports: ["9000/tcp"],
        logPath: await own("told", ".LogPath"),
        logDriver: "json-file",
      });
      expect(Date.parse(String(value?.["created"]))).toBe(Date.parse(await own("told", ".Created")));
      expect(value?.["environment"]).toContain("API_TOKEN");
      expect(feature(told, "mount", "/carts")).toMatchObject({ type: "volume", name: volume, readOnly: true });
      expect(feature(told, "mount", "/scratch")).toMatchObject({ type: "tmpfs", readOnly: false });

      const [image] = JSON.parse(await docker("image", "inspect", busyboxImage)) as readonly [EngineImage];
      expect(feature(told, "image")).toMatchObject({
        id: image.Id,
        tags: image.RepoTags,
        architecture: image.Architecture,
        size: image.Size,
      });
      const format = ["--no-trunc", "--human=false", "--format", "{{json .}}"];
      const steps = (await docker("history", ...format, busyboxImage))
        .split("\n")
        .map((line) => JSON.parse(line) as EngineStep);
      const history = told.features.flatMap((one) => (one.type === "imageHistory" ? [one.value as Step] : []));
      expect(history.map(({ command, size }) => [command, String(size)])).toEqual(
        steps.toReversed().map(({ CreatedBy, Size }) => [CreatedBy, Size]),
      );
      expect(history.flatMap(({ layer }) => layer ?? [])).toEqual(image.RootFS.Layers);

      const plain = await agent.frames.next(
        `${PREFIX}default`,
        "its inspection",
        (one) => feature(one, "inspect") !== undefined,
      );
      expect(feature(plain, "inspect")).toMatchObject({ networks: ["bridge"], usesDefaultBridge: true });

      // By difference: an unchanged one stands in no further frame, and one that changed in the next.
      const next = await agent.frames.upcoming(`${PREFIX}told`, "an interval", (one) => one.reason === "interval");
      expect(feature(next, "inspect")).toBeUndefined();
      expect(next.digests?.["inspect"]?.digest).toBe(told.digests?.["inspect"]?.digest);
      await docker("network", "connect", "bridge", `${PREFIX}told`);
      await agent.frames.upcoming(
        `${PREFIX}told`,
        "both networks",
        (one) => feature(one, "inspect")?.["usesDefaultBridge"] === true,
      );
      expect(JSON.stringify(agent.frames.all)).not.toContain("e2e-secret");
      const validate = frameValidator();
      for (const frame of agent.frames.all) expect(validate(frame), JSON.stringify(frame)).toEqual([]);
      expect(agent.frames.all.flatMap(({ problems }) => problems)).toEqual([]);
      expect(await agent.stop()).toBe(0);
    } finally {
      await removeAll();
      await docker("network", "rm", network);
      await docker("volume", "rm", "-f", volume);
    }
  });

  test("figures lie between two readings of the engine", async () => {
    await start("busy", busy);
    await start("rests", idle);
    await using agent = await startAgent();
    for (const name of ["busy", "rests"]) {
      await agent.frames.next(PREFIX + name, "an interval", (frame) => frame.reason === "interval");
      const before = await stats(socket, PREFIX + name);
      const frame = await agent.frames.upcoming(PREFIX + name, "an interval", (one) => one.reason === "interval");
      const after = await stats(socket, PREFIX + name);
      expect(number(frame, "cpu", "cpu.time")).toBeGreaterThanOrEqual(before.cpuTime);
      expect(number(frame, "cpu", "cpu.time")).toBeLessThanOrEqual(after.cpuTime);
      const received = number(frame, "network", "network.io.receive", "eth0");
      expect(received).toBeGreaterThanOrEqual(before.received);
      expect(received).toBeLessThanOrEqual(after.received);
      if (name !== "rests") continue;
      const workingSet = number(frame, "memory", "memory.working_set");
      expect(workingSet).toBeGreaterThanOrEqual(Math.min(before.workingSet, after.workingSet) * 0.99);
      expect(workingSet).toBeLessThanOrEqual(Math.max(before.workingSet, after.workingSet) * 1.01);
    }
  });

  test("C69: the daemon stopped for three intervals and started: frames go on, it recovers alone", async () => {
    await start("stays", busy);
    await start("exits", "trap 'exit 9' USR1; while true; do sleep 1 & wait $!; done");
    await using agent = await startAgent();
    const stays = `${PREFIX}stays`;
    await agent.frames.next(stays, "an interval", (frame) => frame.reason === "interval");
    await agent.frames.next(`${PREFIX}exits`, "started", (frame) => frame.reason === "started");
    const pid = Number(await inspect("exits", "{{.State.Pid}}"));

    await stopComponent("dockerd");
    process.kill(pid, "SIGUSR1");
    const before = agent.frames.of(stays).length;
    const during = () =>
      agent.frames
        .of(stays)
        .slice(before)
        .filter((frame) => frame.reason === "interval");
    await waitFor("three intervals", () => during().length >= outage);
    const figures = during().map((frame) => number(frame, "cpu", "cpu.time"));
    expect(figures).toEqual([...new Set(figures)].toSorted((a, b) => a - b));

    await startComponent("dockerd");
    const ended = await agent.frames.next(`${PREFIX}exits`, "ended", ({ final }) => final, 60_000);
    const exitCode = Number(await inspect("exits", "{{.State.ExitCode}}"));
    expect(ended.containers[0]?.state).toMatchObject({ status: "terminated", exitCode });
    await start("later", idle);
    await agent.frames.next(`${PREFIX}later`, "started", (frame) => frame.reason === "started", 60_000);
    await docker("rm", "-f", `${PREFIX}later`);
    await agent.frames.next(`${PREFIX}later`, "ended", ({ final }) => final);
    await agent.frames.upcoming(stays, "an interval", (frame) => frame.reason === "interval");
    for (const name of ["stays", "exits", "later"]) {
      const all = agent.frames.of(PREFIX + name);
      expect(all.map(({ sequence }) => sequence)).toEqual(all.map((_, index) => index + 1));
      expect(all.filter((frame) => frame.reason === "started")).toHaveLength(1);
    }
    expect(agent.frames.of(stays).filter(({ final }) => final)).toEqual([]);
    expect(agent.log.filter((line) => /Docker (is away|answers again)/.test(line))).toHaveLength(2);
    expect(await agent.stop()).toBe(0);
  });
});

interface Step {
  readonly command: string;
  readonly size: number;
  readonly layer: string | null;
}

/** As the engine's own tool prints them. */
interface EngineImage {
  readonly Id: string;
  readonly RepoTags: readonly string[];
  readonly Architecture: string;
  readonly Size: number;
  readonly RootFS: { readonly Layers: readonly string[] };
}

interface EngineStep {
  readonly CreatedBy: string;
  readonly Size: string;
}

interface Stats {
  readonly cpuTime: number;
  readonly workingSet: number;
  readonly received: number;
}

/** The engine's own figures: seconds and bytes. */
async function stats(socketPath: string, name: string): Promise<Stats> {
  const { promise, resolve, reject } = Promise.withResolvers<unknown>();
  const path = `/containers/${name}/stats?stream=false&one-shot=true`;
  request({ socketPath, path }, (answer) => void json(answer).then(resolve, reject))
    .on("error", reject)
    .end();
  const { cpu_stats, memory_stats, networks } = (await promise) as {
    cpu_stats: { cpu_usage: { total_usage: number } };
    memory_stats: { usage: number; stats: Record<string, number> };
    networks: Record<string, { rx_bytes: number }>;
  };
  // Version 1 of the cgroup files, then version 2.
  const inactive = memory_stats.stats["total_inactive_file"] ?? memory_stats.stats["inactive_file"] ?? 0;
  return {
    cpuTime: cpu_stats.cpu_usage.total_usage / 1e9,
    workingSet: memory_stats.usage - inactive,
    received: networks["eth0"]?.rx_bytes ?? Number.NaN,
  };
}
