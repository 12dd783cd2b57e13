import { expect, test } from "vitest";
import { crawlOnce } from "../src/agent.ts";
import { container, feature, number } from "../src/frames.ts";
import { pod } from "../src/manifests.ts";
import { apply, node, podReady } from "../src/node.ts";
import { readOracle, withCri } from "../src/oracle.ts";
import { onNode } from "../src/suite.ts";

const busy = "while true; do :; done";
/** Fills 64 MiB of a tmpfs step by step, again and again: memory that grows and falls. */
const allocates =
  "while true; do for i in 1 2 3 4 5 6 7 8; do dd if=/dev/zero of=/dev/shm/$i bs=1M count=8 2>/dev/null; sleep 0.1; done; rm -f /dev/shm/*; done";
const talks = "while true; do wget -q -T 1 -O /dev/null http://10.88.0.1:1/ 2>/dev/null; sleep 0.2; done";

onNode("figures between two readings of an independent reader", "e2e-figures", (namespace) => {
  test.each([
    ["busy", busy],
    ["idle", undefined],
    ["allocating", allocates],
    ["talking", talks],
  ])("a pod that is %s", async (name, script) => {
    await apply(pod(namespace, name, { containers: [script === undefined ? {} : { script }] }));
    const { metadata } = await podReady(namespace, name);
    await withCri(node().kubernetes.criSocket, async (cri) => {
      const before = await readOracle(cri, metadata.uid);
      const { frames, code, log } = await crawlOnce({
        pod: `${namespace}/${name}`,
        crawlers: { cpu: {}, memory: {}, network: {} },
      });
      const after = await readOracle(cri, metadata.uid);
      expect(code, log).toBe(0);
      expect(frames).toHaveLength(1);
      const [frame] = frames;
      if (!frame) throw new Error("no frame");
      const between = (value: number, low: number | undefined, high: number | undefined) => {
        expect(value).toBeGreaterThanOrEqual(low ?? Number.NaN);
        expect(value).toBeLessThanOrEqual(high ?? Number.NaN);
      };
      const main = container(frame, "main");
      between(number(main, "cpu", "cpu.time"), before.containers["main"]?.cpuTime, after.containers["main"]?.cpuTime);
      between(number(frame, "cpu", "cpu.time"), before.podCpuTime, after.podCpuTime);
      for (const [device, low] of Object.entries(before.network)) {
        const high = after.network[device];
        between(number(frame, "network", "network.io.receive", device), low.received, high?.received);
        between(number(frame, "network", "network.io.transmit", device), low.sent, high?.sent);
      }
      if (name === "idle") {
        const workingSet = number(main, "memory", "memory.working_set");
        const readings = [before, after].map(({ containers }) => containers["main"]?.workingSet ?? Number.NaN);
        between(workingSet, Math.min(...readings) * 0.99, Math.max(...readings) * 1.01);
      }
      expect(feature(main, "memory")).toMatchObject({ "memory.limit": null });
    });
  });
});
