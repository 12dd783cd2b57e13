import type { FeatureDigest, Frame } from "@trawler/plugin-api";
import { kubectl, redisImage } from "@trawler/testbed";
import { afterAll, beforeAll, expect, test } from "vitest";
import { Agent } from "../src/agent.ts";
import { container } from "../src/frames.ts";
import { pod } from "../src/manifests.ts";
import { apply } from "../src/node.ts";
import { onNode } from "../src/suite.ts";

interface File {
  readonly path: string;
  readonly fileType: string;
  readonly mode: string;
  readonly "file.size": number;
  readonly "user.id": number;
  readonly digest: string | null;
  readonly drift: boolean | null;
}

interface FileSystem {
  readonly mountPoint: string;
  readonly "filesystem.limit": number;
}

/** Waits as a shell does whose child is told to end: at once. */
const STAY = "trap 'exit 0' TERM; while true; do sleep 3600 & wait $!; done";
/** Secrets, a link into /proc as every image has one, and a file of another owner. */
const SCRIPT = `mkdir -p /srv/app && cd /srv/app && echo 'password = hunter2' > app.ini && echo one > owned \
&& chown 1234:4321 owned && chmod 640 owned && ln -s /proc/self/environ environ && ln -sf /proc/self/mounts /etc/mtab && mkfifo pipe; ${STAY}`;

onNode("files of a container, by difference", "e2e-files", (namespace) => {
  let agent: Agent;
  const name = `${namespace}/app`;
  const main = (frame: Frame) => container(frame, "main");
  const values = <V>(frame: Frame, type: string): V[] =>
    main(frame).features.flatMap((one) => (one.type === type ? [one.value as V] : []));
  const digest = (frame: Frame, crawler: string): FeatureDigest | undefined => main(frame).digests?.[crawler];
  const exec = async (script: string): Promise<string> =>
    (await kubectl(["exec", "-n", namespace, "app", "--", "sh", "-c", script], undefined, { deadline: 60_000 })).stdout;
  const files = (frame: Frame): File[] => values<File>(frame, "file");

  beforeAll(async () => {
    const containers = [{ image: redisImage, command: ["/bin/sh", "-c", SCRIPT] }];
    await apply(pod(namespace, "app", { containers, spec: { restartPolicy: "Always" } }));
    await kubectl(["wait", "-n", namespace, "--for=condition=Ready", "pod/app", "--timeout=100s"], undefined, {
      deadline: 110_000,
    });
    await exec("until [ -p /srv/app/pipe ]; do sleep 0.1; done");
    agent = await Agent.start({
      every: "1s",
      environment: { include: { namespaces: [namespace] } },
      pipeline: { timeout: "30s" },
      crawlers: {
        file: {
          every: "1s",
          paths: ["/etc", "/srv", "/bin"],
          exclude: ["/etc/ssl/**"],
          digest: "sha256",
          digestPaths: ["/srv/**"],
        },
        config: { files: ["/etc/passwd", "/etc/mtab", "/srv/app/*.ini"] },
        disk: {},
        load: {},
      },
    });
  });
  afterAll(() => agent?.[Symbol.asyncDispose]());

  test("the list equals what find says in the container, with modes, owners, sizes and digests", async () => {
    const frame = await agent.frames.next(name, "with files", (one) => files(one).length > 0);
    const said = files(frame)
      .filter(({ path }) => path.startsWith("/srv") || path.startsWith("/etc"))
      .map((one) => `${one.path} ${one.mode.replace(/^0+/, "")} ${one["file.size"]} ${one["user.id"]}`)
      .sort();
    const found = await exec("find /srv /etc -xdev -not -path '/etc/ssl/*' -exec stat -c '%n %a %s %u' {} +");
    // What the kubelet mounts over the image's files is no part of it, though find lists the places.
    const own = (line: string): boolean => !/^\/etc\/(?:hostname|hosts|resolv\.conf) /.test(line);
    expect(said).toEqual(found.trim().split("\n").filter(own).sort());
    const sum = await exec("sha256sum /srv/app/owned");
    const owned = files(frame).find(({ path }) => path === "/srv/app/owned");
    expect(owned).toMatchObject({ "user.id": 1234, mode: "0640", digest: `sha256:${sum.split(" ")[0]}` });
    expect(files(frame).find(({ path }) => path === "/etc/passwd")?.drift).toBe(false);
    const types = files(frame).filter(({ path }) => path.startsWith("/srv/app/"));
    expect(Object.fromEntries(types.map(({ path, fileType }) => [path.slice(9), fileType]))).toEqual({
      "app.ini": "file",
      environ: "symlink",
      owned: "file",
      pipe: "fifo",
    });
    expect(main(frame).problems).toEqual([]);
  });

  test("configuration comes without its secrets, and /etc/mtab by its own name", async () => {
    const frame = await agent.frames.next(name, "with configuration", (one) => values(one, "config").length > 0);
    const found = new Map(
      values<{ path: string; content: string | null }>(frame, "config").map((one) => [one.path, one]),
    );
    expect(found.get("/srv/app/app.ini")).toMatchObject({ content: "password = [redacted]\n", redacted: true });
    expect(found.get("/etc/passwd")?.content).toBe(await exec("cat /etc/passwd"));
    expect(found.get("/etc/mtab")).toMatchObject({ content: null });
    expect(JSON.stringify(agent.frames.all)).not.toContain("hunter2");
  });

  test("what changes is in a next frame, and frames in between say that nothing did", async () => {
    const quiet = await agent.frames.upcoming(name, "without news", (one) => digest(one, "file")?.changed === false);
    expect([files(quiet).length, digest(quiet, "file")?.included, digest(quiet, "config")?.included]).toEqual([
      0,
      false,
      false,
    ]);
    await exec("echo two > /srv/app/new");
    const news = await agent.frames.upcoming(name, "with news", (one) => digest(one, "file")?.changed === true);
    expect(files(news).find(({ path }) => path === "/srv/app/new")?.drift).toBe(true);
    expect(digest(news, "config")?.changed).toBe(false);
    const after = await agent.frames.upcoming(name, "without news", (one) => digest(one, "file")?.changed === false);
    expect(digest(after, "file")?.digest).toBe(digest(news, "file")?.digest);
  });

  test("parity B8: file systems have the sizes that df gives, and a container has threads but no load average", async () => {
    const frame = await agent.frames.next(name, "with file systems", (one) => values(one, "filesystem").length > 0);
    const kibibytes = (await exec("df -k / | tail -n 1")).trim().split(/\s+/)[1];
    const root = values<FileSystem>(frame, "filesystem").find(({ mountPoint }) => mountPoint === "/");
    expect(root?.["filesystem.limit"]).toBe(Number(kibibytes) * 1024);
    expect(values<FileSystem>(frame, "filesystem").map(({ mountPoint }) => mountPoint)).toContain("/etc/resolv.conf");
    expect(values<Record<string, unknown>>(frame, "load")).toMatchObject([
      { "cpu.load_average.1m": null, "thread.count": expect.any(Number) },
    ]);
  });

  test("a container that is started again is at first sight again", async () => {
    const before = agent.frames.of(name).length;
    const { id } = main(await agent.frames.upcoming(name, "before the restart", () => true));
    // From behind, as the end of the first process takes the shell of this call with it.
    await exec("(sleep 0.5; kill -TERM 1) > /dev/null 2>&1 &");
    const again = await agent.frames.next(
      name,
      "of the new container, with its files",
      (one) => main(one).id !== id && files(one).length > 0,
      60_000,
    );
    expect(digest(again, "file")).toMatchObject({ changed: null, included: true });
    expect(files(again).map(({ path }) => path)).not.toContain("/srv/app/new");
    expect(agent.frames.of(name).length).toBeGreaterThan(before);
  });
});
