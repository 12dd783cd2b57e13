import { readdirSync, readFileSync, readlinkSync } from "node:fs";
import { join } from "node:path";
import {
  busyboxImage,
  kubectl,
  readTestbedState,
  run,
  startDocker,
  stopDocker,
  testbedUnsupported,
} from "@trawler/testbed";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { LogLinks } from "../src/log-links.ts";
import { idle, pod } from "../src/manifests.ts";
import { apply, node, podReady } from "../src/node.ts";
import { onNode } from "../src/suite.ts";
import { waitFor } from "../src/wait.ts";

const TEMPLATE = "{namespace}/{pod}/{container}";
/** Files of its own and of two volumes, then a line on standard output. */
const writes = (word: string): string =>
  `mkdir -p /var/log; echo ${word} > /var/log/app.log; echo ${word} > /var/log/messages; echo one > /data/test1.log; \
echo two > /data/test2.log; echo no > /data/other.log; echo volume > /other/a1.log; echo to stdout; touch /tmp/done; ${idle}`;
const volumes = [
  { name: "data", emptyDir: {} },
  { name: "other", emptyDir: { medium: "Memory" } },
];
const volumeMounts = [
  { name: "data", mountPath: "/data" },
  { name: "other", mountPath: "/other" },
];
/** Links to what the node has, at paths that are asked for, and one that is a file and a link by turns. */
const HOSTILE = `mkdir -p /var/log; cd /var/log; ln -s /proc/1/root/etc/shadow magic.log; ln -s ../../../../../../../../etc/hostname up.log; \
ln -s /dev/zero zero.log; mkfifo pipe.log; mkdir folder.log; echo good > real; ln -s /etc/hostname fake; \
while true; do ln -f real swap.log; ln -sfn /etc/hostname next && mv -f next swap.log; done & ${idle}`;

onNode("trawl logs link", "e2e-logs", (namespace) => {
  let links: LogLinks;
  const exec = async (name: string, script: string): Promise<string> =>
    (await kubectl(["exec", "-n", namespace, name, "--", "sh", "-c", script], undefined, { deadline: 60_000 })).stdout;
  const app = (word: string): object =>
    pod(namespace, "app", {
      annotations: { "trawler.dev/logs": "/data/test*.log" },
      containers: [
        {
          script: writes(word),
          extra: {
            volumeMounts,
            env: [{ name: "LOG_LOCATIONS", value: "/var/log/app.log,/other/a1.log,/var/log/messages,../up,/a/../b" }],
          },
        },
      ],
      spec: { volumes },
    });
  const folder = `${namespace}/app/main`;
  const shows = (path: string, text: string | null): Promise<true | string> =>
    waitFor(
      `${path} to show ${text}`,
      () =>
        links.read(`${folder}/${path}`)?.trim() === text || (text === null && links.read(`${folder}/${path}`) === null),
      30_000,
    );

  beforeAll(async () => {
    const { kubernetes } = node();
    links = await LogLinks.make({
      kubernetes: {
        sockets: [kubernetes.criSocket],
        kubeconfig: kubernetes.agentKubeconfig,
        kubelet: { root: kubernetes.kubeletRoot, podsApi: kubernetes.podsApiSocket },
        include: { namespaces: [namespace] },
      },
    });
    await links.start("--every", "200ms", "--name", TEMPLATE, "--http-port", "0");
  });
  afterAll(() => links?.[Symbol.asyncDispose]());

  test("parity L3, L4, L7: a container's files, those of volumes and of patterns, and its own log are linked", async () => {
    await apply(app("first"));
    await podReady(namespace, "app");
    await shows("var/log/app.log", "first");
    await shows("other/a1.log", "volume");
    await shows("data/test2.log", "two");
    await waitFor("its line", () => links.read(`${folder}/cri.log`)?.includes("stdout F to stdout"));
    expect(links.paths(folder).map((path) => path.slice(folder.length + 1))).toEqual([
      "cri.log",
      "data/test1.log",
      "data/test2.log",
      "other/a1.log",
      "var/log/app.log",
      "var/log/messages",
    ]);
    const { stdout } = await kubectl(["get", "pod", "-n", namespace, "app", "-o", "jsonpath={.metadata.uid}"]);
    const index = links.entries("app");
    expect(index.find(({ path }) => path === "/other/a1.log")).toMatchObject({
      link: `${folder}/other/a1.log`,
      namespace,
      pod: "app",
      podUid: stdout,
      container: "main",
      state: "linked",
    });
    expect(index.filter(({ state }) => state === "refused").map(({ path }) => path)).toEqual(["../up", "/a/../b"]);
    await waitFor("the counts", async () => (await links.metrics()).get("trawler_logs_linked") === 6);
    expect((await links.metrics()).get("trawler_logs_refused")).toBe(2);
  });

  test("a file that the container rotates is followed", async () => {
    await exec("app", "mv /var/log/app.log /var/log/app.log.1; echo rotated > /var/log/app.log");
    await shows("var/log/app.log", "rotated");
    await exec("app", "echo more >> /var/log/app.log");
    expect(links.read(`${folder}/var/log/app.log`)).toBe("rotated\nmore\n");
    await exec("app", "rm /var/log/app.log");
    await shows("var/log/app.log", null);
  });

  test("parity L6: links go with a pod, and appear anew for another of its name", async () => {
    await kubectl(["delete", "pod", "-n", namespace, "app", "--grace-period=1"], undefined, { deadline: 60_000 });
    await waitFor("its folder to go", () => !readdirSync(links.links).includes(namespace));
    await apply(app("second"));
    await shows("var/log/app.log", "second");
  });

  test("a run that was killed leaves nothing that the next does not know", async () => {
    await links.stop("SIGKILL");
    const stale = readlinkSync(join(links.links, `${folder}/var/log/app.log`));
    expect(links.read(`${folder}/var/log/app.log`)).toBeNull();
    await links.start("--every", "200ms", "--name", TEMPLATE, "--http-port", "0");
    await shows("var/log/app.log", "second");
    expect(readlinkSync(join(links.links, `${folder}/var/log/app.log`))).not.toBe(stale);
  });

  test("a hostile container gets no file of the node linked, however fast it swaps", async () => {
    const annotations = { "trawler.dev/logs": "/var/log/*.log,/proc/1/root/etc/shadow" };
    await apply(pod(namespace, "evil", { annotations, containers: [{ script: HOSTILE }] }));
    await podReady(namespace, "evil");
    const mine = () => links.entries("evil");
    const state = (path: string) => mine().find((entry) => entry.path === path)?.state;
    await waitFor("the swapped file in the index", () => state("/var/log/swap.log") !== undefined);
    await waitFor("the pipe to be refused", () => state("/var/log/pipe.log") === "refused");
    const host = readFileSync("/etc/hostname", "utf8");
    const own = (await exec("evil", "cat /etc/hostname")).trim();
    expect(own).not.toBe(host.trim());
    const seen = new Set<string>();
    await waitFor("two faces of the swapped file, and many reads", () => {
      for (let turn = 0; turn < 500; turn++)
        seen.add(links.read(`${namespace}/evil/main/var/log/swap.log`)?.trim() ?? "");
      // What /etc/hostname means is the container's own.
      return seen.has("good") && seen.has(own);
    });
    expect([...seen].filter((text) => !["good", own, ""].includes(text))).toEqual([]);
    expect(Object.fromEntries(mine().map(({ path, state: now }) => [path, now]))).toMatchObject({
      "/proc/1/root/etc/shadow": "refused",
      "/var/log/folder.log": "refused",
      "/var/log/magic.log": "refused",
      "/var/log/pipe.log": "refused",
      "/var/log/up.log": "linked",
      "/var/log/zero.log": "refused",
    });
    expect(links.read(`${namespace}/evil/main/var/log/up.log`)?.trim()).toBe(own);
    await kubectl(["delete", "pod", "-n", namespace, "evil", "--grace-period=0", "--force"], undefined, {
      deadline: 60_000,
    });
    await waitFor("its links to go", () => links.paths(`${namespace}/evil`).length === 0);
  });

  test("--once links the runtime's logs, which need no process, and a stop leaves no link", async () => {
    await links.stop();
    expect(links.paths("")).toEqual([]);
    expect(await links.once("--name", TEMPLATE)).toBe(0);
    expect(links.paths("")).toEqual([`${folder}/cri.log`]);
    expect(links.read(`${folder}/cri.log`)).toContain("to stdout");
  });
});

const reason = testbedUnsupported();
const title = "trawl logs link of a Docker engine";
describe.skipIf(reason !== undefined)(reason === undefined ? title : `${title} (skipped: ${reason})`, () => {
  const name = "e2e-logs-web";
  let socket = "";
  let wasUp = false;
  const docker = async (...args: readonly string[]): Promise<string> =>
    (await run("docker", ["-H", `unix://${socket}`, ...args])).stdout.trim();
  const start = (word: string) =>
    docker(
      "run",
      "-d",
      "--name",
      name,
      "-e",
      "LOG_LOCATIONS=/var/log/messages,/srv/*.log",
      "--entrypoint",
      "/bin/sh",
      busyboxImage,
      "-c",
      `mkdir -p /var/log /srv; echo ${word} | tee /var/log/messages /srv/${word}.log; ${idle}`,
    );

  beforeAll(async () => {
    wasUp = readTestbedState()?.docker !== undefined;
    socket = await startDocker();
    await docker("rm", "-f", name).catch(() => "");
  });
  afterAll(async () => {
    await docker("rm", "-f", name);
    if (!wasUp) await stopDocker();
  });

  test("parity L6, C18: the engine's log and a container's files come, go with it, and come for the next of its name", async () => {
    await using links = await LogLinks.make({ docker: { socket } });
    await links.start("--every", "200ms");
    for (const word of ["first", "second"]) {
      await start(word);
      await waitFor("its files", () => links.read(`${name}/srv/${word}.log`) === `${word}\n`);
      await waitFor("its log", () => links.read(`${name}/docker.log`)?.includes(`"log":"${word}\\n"`));
      expect(links.paths(name)).toEqual(
        ["docker.log", `srv/${word}.log`, "var/log/messages"].map((path) => join(name, path)),
      );
      const id = await docker("inspect", "-f", "{{.Id}} {{.LogPath}}", name);
      const log = links.entries(null).find(({ link }) => link === `${name}/docker.log`);
      expect(`${log?.containerId} ${log?.path}`).toBe(id);
      await docker("rm", "-f", name);
      await waitFor("its folder to go", () => !readdirSync(links.links).includes(name));
    }
  });
});
