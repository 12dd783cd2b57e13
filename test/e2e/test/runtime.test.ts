import { kubectl, startComponent, stopComponent } from "@trawler/testbed";
import { afterEach, expect, test } from "vitest";
import { Agent } from "../src/agent.ts";
import { container, number } from "../src/frames.ts";
import { pod } from "../src/manifests.ts";
import { apply, podReady } from "../src/node.ts";
import { onNode } from "../src/suite.ts";
import { waitFor } from "../src/wait.ts";

/** Intervals of an outage. */
const outage = 3;
/** Burns a little all the time, so that a figure that stands still is noticed. */
const busy = "trap 'exit 0' TERM; while true; do i=0; while [ $i -lt 2000 ]; do i=$((i+1)); done; sleep 0.1; done";

onNode("a runtime that goes away", "e2e-runtime", (namespace) => {
  // A test that fails in the middle of an outage must not take the others with it.
  afterEach(() => startComponent("containerd"));

  test("containerd stopped for three intervals: frames go on, it recovers alone, what exited meanwhile is noticed", async () => {
    await apply(
      pod(namespace, "stays", { containers: [{ script: busy }] }),
      pod(namespace, "exits", {
        // It ends when it is told to, from outside of the runtime.
        containers: [{ script: "trap 'exit 9' USR1; while true; do sleep 1 & wait $!; done" }],
        spec: { restartPolicy: "Never" },
      }),
    );
    await podReady(namespace, "stays");
    await podReady(namespace, "exits");
    await using agent = await Agent.start({ every: "2s", crawlers: { cpu: {}, memory: {}, process: {} } });
    const [stays, exits] = [`${namespace}/stays`, `${namespace}/exits`];
    const first = await agent.frames.next(stays, "whole", ({ metadata }) => metadata.complete);
    const dying = await agent.frames.next(exits, "with its process", ({ containers }) =>
      (containers[0]?.features ?? []).some(({ type }) => type === "process"),
    );

    await stopComponent("containerd");
    const before = agent.frames.of(stays).length;
    process.kill(number(container(dying, "main"), "process", "pid"), "SIGUSR1");
    const intervals = () =>
      agent.frames
        .of(stays)
        .slice(before)
        .filter(({ reason }) => reason === "interval");
    await waitFor("three intervals", () => intervals().length >= outage);
    const figures = intervals().map((frame) => number(container(frame, "main"), "cpu", "cpu.time"));
    // The kernel's figures need no runtime: they go on.
    expect(figures).toEqual([...new Set(figures)].toSorted((a, b) => a - b));
    expect(intervals().flatMap((frame) => container(frame, "main").problems)).toEqual([]);
    for (const frame of intervals()) expect(container(frame, "main").state.status).toBe("running");
    expect((await fetch(`http://127.0.0.1:${agent.port}/healthz`)).ok).toBe(true);

    await startComponent("containerd");
    const ended = await agent.frames.next(exits, "ended", ({ final }) => final, 60_000);
    // containerd does not know how it ended while nobody looked, and says so: 255, Unknown.
    const { stdout } = await kubectl(["get", "pod", "-n", namespace, "exits", "-o", "jsonpath={..terminated}"]);
    const { exitCode, reason } = JSON.parse(stdout) as { exitCode: number; reason: string };
    expect(container(ended, "main").state).toMatchObject({ status: "terminated", exitCode, reason });
    // It follows the runtime again: what begins and ends now is told.
    await apply(pod(namespace, "later"));
    await podReady(namespace, "later");
    await agent.frames.next(`${namespace}/later`, "started", ({ reason }) => reason === "started", 60_000);
    await kubectl(["delete", "pod", "-n", namespace, "later", "--wait=false"]);
    await agent.frames.next(`${namespace}/later`, "ended", ({ final }) => final, 60_000);

    const healed = await agent.frames.upcoming(stays, "an interval", ({ reason }) => reason === "interval");
    expect(healed.agent.instance).toBe(first.agent.instance);
    for (const name of [stays, exits, `${namespace}/later`]) {
      const all = agent.frames.of(name);
      expect(all.filter(({ reason }) => reason === "started")).toHaveLength(1);
      expect(all.map(({ sequence }) => sequence)).toEqual(all.map((_, index) => index + 1));
    }
    expect(agent.frames.of(exits).filter(({ reason }) => reason === "ended")).toHaveLength(1);
    expect(await agent.stop()).toBe(0);
  });
});
