import type { FrameContainer } from "@trawler/plugin-api";
import { kubectl, redisImage } from "@trawler/testbed";
import { beforeAll, expect, test } from "vitest";
import { crawlOnce } from "../src/agent.ts";
import { container } from "../src/frames.ts";
import { pod } from "../src/manifests.ts";
import { apply, podReady } from "../src/node.ts";
import { onNode } from "../src/suite.ts";
import { waitFor } from "../src/wait.ts";

interface Process {
  readonly vpid: number;
  readonly executable: string;
  readonly mappedFiles?: readonly string[];
}

/** Runs a program that is deleted under it. */
const DELETED = "cp /bin/sleep /srv/nap && { /srv/nap 3600 & rm /srv/nap; trap 'kill $!; exit 0' TERM; wait; }";

onNode("files that processes have mapped", "e2e-mapped", (namespace) => {
  let found: ReadonlyMap<string, FrameContainer>;
  const exec = async (name: string, script: string): Promise<string> =>
    (await kubectl(["exec", "-n", namespace, "app", "-c", name, "--", "/bin/sh", "-c", script])).stdout;
  const processes = (name: string): readonly Process[] =>
    found.get(name)?.features.map(({ value }) => value as Process) ?? [];

  beforeAll(async () => {
    const containers = [
      { name: "sleep", command: ["/bin/sleep", "60000"] },
      { name: "deleted", image: redisImage, command: ["/bin/sh", "-c", DELETED] },
    ];
    await apply(pod(namespace, "app", { containers }));
    await podReady(namespace, "app");
    await waitFor("its program to be deleted", async () => (await exec("deleted", "ls /srv")) === "");
    const { frames, code, log } = await crawlOnce({
      pod: `${namespace}/app`,
      crawlers: { process: { mappedFiles: 100 }, gpu: {} },
    });
    expect(code, log).toBe(0);
    const [frame] = frames;
    if (!frame) throw new Error("no frame");
    expect(frame.problems).toEqual([]);
    found = new Map(["sleep", "deleted"].map((name) => [name, container(frame, name)]));
  });

  test("parity P29: a `sleep` of busybox has mapped /bin/busybox, and no more", () => {
    expect(processes("sleep").map(({ mappedFiles }) => mappedFiles)).toEqual([["/bin/busybox"]]);
  });

  test("parity 091: they are those that the container's own /proc lists, and a deleted one is marked", async () => {
    const nap = processes("deleted").find(({ executable }) => executable.startsWith("/srv/nap"));
    expect(nap?.mappedFiles).toContain("/srv/nap (deleted)");
    for (const { vpid, mappedFiles } of processes("deleted")) {
      const maps = (await exec("deleted", `cat /proc/${vpid}/maps`)).split("\n");
      expect(mappedFiles).toEqual([...new Set(maps.flatMap((line) => / (\/.*)$/.exec(line)?.[1] ?? []))].sort());
    }
  });

  test("parity 115: where the node has no graphics processor nothing is said of one", () => {
    for (const { features, problems } of found.values()) {
      expect(new Set(features.map(({ type }) => type))).toEqual(new Set(["process"]));
      expect(problems).toEqual([]);
    }
  });
});
