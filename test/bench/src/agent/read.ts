import { mkdtempSync, readdirSync, readlinkSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type CgroupReader, locateContainer, NodeReader } from "@trawler/linux";
import { kubectl, run } from "@trawler/testbed";
import type { Benchmark } from "../benchmark.ts";
import { loadPods, NAMESPACE } from "./load.ts";
import { fixed, median } from "./usage.ts";

const BUDGET = 1;

/** What the crawlers cpu, memory and blockio read of a container, and its processes' count. */
async function readAll(cgroup: CgroupReader): Promise<void> {
  await cgroup.cpu();
  await cgroup.memory();
  await cgroup.block();
  await cgroup.pids();
}

async function aContainer(): Promise<string> {
  const path = "jsonpath={.items[0].status.containerStatuses[0].containerID}";
  const { stdout } = await kubectl(["get", "pods", "-n", NAMESPACE, "-o", path]);
  return stdout.replace(/^\w+:\/\//, "");
}

/** The cgroup files that this process has open. */
function openFiles(): string[] {
  const paths = readdirSync("/proc/self/fd").map((name) => {
    try {
      return readlinkSync(`/proc/self/fd/${name}`);
    } catch {
      return "";
    }
  });
  return paths.filter((path) => path.startsWith("/sys/fs/cgroup/"));
}

export const bench: Benchmark = {
  name: "read",
  title: "Reading all figures of one container",
  async run({ log, quick, signal }) {
    await loadPods(quick ? 1 : 10, signal);
    const passes = quick ? 2_000 : 10_000;
    const clock = { now: () => Date.now(), monotonic: () => performance.now() / 1000 };
    const node = new NodeReader({ root: "/", proc: "/proc", cgroup: "/sys/fs/cgroup" }, clock);
    const containerId = await aContainer();
    const path = locateContainer(node.hierarchy, node.files, { containerId });
    if (path === null) throw new Error(`container ${containerId} has no cgroup`);
    using cgroup = node.openCgroup(path);
    await readAll(cgroup);
    const files = openFiles();
    const folder = mkdtempSync(join(tmpdir(), "trawler-bench-read-"));
    try {
      const program = join(folder, "read");
      await run("gcc", ["-O2", "-o", program, join(import.meta.dirname, "read.c")]);
      const ours: number[] = [];
      const theirs: number[] = [];
      // The first round compiles the code.
      for (let round = 0; round <= 5; round++) {
        const before = process.cpuUsage();
        for (let pass = 0; pass < passes; pass++) await readAll(cgroup);
        const { user, system } = process.cpuUsage(before);
        const { stdout } = await run(program, [String(passes), ...files]);
        signal.throwIfAborted();
        if (round === 0) continue;
        ours.push((user + system) / passes);
        theirs.push((Number(stdout) * 1e6) / passes);
      }
      log(`${files.length} files: ${fixed(median(ours).middle)} µs against ${fixed(median(theirs).middle)} µs`);
      const ratio = median(ours).middle / median(theirs).middle;
      return {
        rows: [
          { what: `Trawler: ${files.length} files read by kept descriptors, parsed`, figure: microseconds(ours) },
          { what: "C: the same files opened, read and closed, not parsed", figure: microseconds(theirs) },
          {
            what: "Trawler to C",
            figure: `${fixed(ratio, 2)} ×`,
            budget: `≤ ${fixed(BUDGET)} ×`,
            met: ratio <= BUDGET,
          },
        ],
        method: `CPU time of ${passes} passes, user and system, medians of five rounds in turns, ± half the distance of the quartiles; \`gcc -O2\`. Files: ${files.map((file) => file.slice(file.lastIndexOf("/") + 1)).join(", ")}.`,
        raw: { microseconds: { trawler: ours, c: theirs } },
      };
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  },
};

function microseconds(values: readonly number[]): string {
  const { middle, spread } = median(values);
  return `${fixed(middle)} ± ${fixed(spread)} µs`;
}
