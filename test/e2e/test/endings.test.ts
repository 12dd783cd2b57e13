import { expect, test } from "vitest";
import { Agent } from "../src/agent.ts";
import { container, number } from "../src/frames.ts";
import { job, pod } from "../src/manifests.ts";
import { apply, podReady } from "../src/node.ts";
import { onNode } from "../src/suite.ts";

/** Burns two seconds of CPU time, by the process's own clock, and ends. */
const burnTwoSeconds =
  "while read -r _ _ _ _ _ _ _ _ _ _ _ _ _ user system _ < /proc/self/stat && [ $((user + system)) -lt 200 ]; do :; done; exit 3";

onNode("short lives and endings", "e2e-endings", (namespace) => {
  test("a job of 2 s leaves a started and an ended frame with exit code and reason", async () => {
    await using agent = await Agent.start({ every: "60s" });
    await apply(job(namespace, "brief", "sleep 2; exit 7"));
    const isBrief = (name: unknown) => String(name).startsWith("brief-");
    const { waitFor } = await import("../src/wait.ts");
    const ended = await waitFor(
      "the ended frame of the job's pod",
      () => agent.frames.all.find(({ resource, reason }) => isBrief(resource["k8s.pod.name"]) && reason === "ended"),
      60_000,
    );
    const frames = agent.frames.all.filter(({ resource }) => isBrief(resource["k8s.pod.name"]));
    expect(frames.filter(({ reason }) => reason === "started")).toHaveLength(1);
    expect(frames.filter(({ reason }) => reason === "ended")).toHaveLength(1);
    expect(frames.at(-1)).toBe(ended);
    expect(ended.final).toBe(true);
    expect(container(ended, "main").state).toMatchObject({ status: "terminated", exitCode: 7, reason: "Error" });
    expect(ended.resource["k8s.job.name"]).toBe("brief");
    expect(ended.labels["app"]).toBe("brief");
  });

  test("a container that burns 2.0 CPU-seconds between two slots: its ended frame says 2.0 ± 0.1", async () => {
    await using agent = await Agent.start({ every: "60s", crawlers: { cpu: {} } });
    await apply(
      pod(namespace, "burner", { containers: [{ script: burnTwoSeconds }], spec: { restartPolicy: "Never" } }),
    );
    const ended = await agent.frames.next(`${namespace}/burner`, "ended", ({ reason }) => reason === "ended", 60_000);
    expect(container(ended, "main").state.exitCode).toBe(3);
    // The pod's total also holds what its sandbox needed to start.
    expect(number(ended, "cpu", "cpu.time")).toBeGreaterThan(1.9);
    expect(number(ended, "cpu", "cpu.time")).toBeLessThan(2.1);
  });

  test("a container restart: counters never negative, the rate null once, restarts counted", async () => {
    await apply(
      pod(namespace, "restarts", {
        containers: [{ script: "i=0; while [ $i -lt 60000 ]; do i=$((i+1)); done; sleep 6; exit 1" }],
      }),
    );
    await podReady(namespace, "restarts");
    await using agent = await Agent.start({ every: "1s", crawlers: { cpu: {}, memory: {} } });
    const name = `${namespace}/restarts`;
    const first = await agent.frames.next(
      name,
      "of the first run",
      ({ containers }) => containers[0]?.state.status === "running",
    );
    const before = container(first, "main").id;
    const after = await agent.frames.next(
      name,
      "of a second run",
      ({ containers }) => containers[0]?.state.status === "running" && containers[0].id !== before,
      90_000,
    );
    const id = container(after, "main").id;
    const ofRun = () =>
      agent.frames
        .of(name)
        .filter(
          (one) =>
            one.containers[0]?.id === id && one.containers[0].state.status === "running" && one.reason === "interval",
        );
    const { waitFor } = await import("../src/wait.ts");
    await waitFor("three slots of the second run", () => ofRun().length >= 3);
    expect(container(after, "main").state.restarts).toBeGreaterThanOrEqual(1);
    for (const frame of agent.frames.of(name)) {
      for (const one of [frame, ...frame.containers].flatMap(({ features }) => features)) {
        for (const value of Object.values(one.value as object)) {
          if (typeof value === "number") expect(value).toBeGreaterThanOrEqual(0);
        }
      }
    }
    const rates = ofRun().map(
      (frame) => frame.containers[0]?.features.find(({ type }) => type === "cpu")?.value as Record<string, unknown>,
    );
    expect(rates.slice(1).every((value) => typeof value?.["cpu.usage"] === "number")).toBe(true);
    expect(
      agent.frames.all.filter(({ reason, resource }) => reason === "ended" && resource["k8s.pod.name"] === "restarts"),
    ).toEqual([]);
  });
});
