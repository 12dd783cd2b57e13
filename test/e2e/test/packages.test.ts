import { readFileSync } from "node:fs";
import type { Frame } from "@trawler/plugin-api";
import { kubectl, redisImage } from "@trawler/testbed";
import { afterAll, beforeAll, expect, test } from "vitest";
import { Agent } from "../src/agent.ts";
import { container } from "../src/frames.ts";
import { idle, pod } from "../src/manifests.ts";
import { apply } from "../src/node.ts";
import { onNode } from "../src/suite.ts";
import { frameValidator } from "../src/validate.ts";

const fixture = (path: string): Buffer =>
  readFileSync(new URL(`../../../plugins/crawler-package/testdata/${path}`, import.meta.url));

/** A line of shell that makes a file of these bytes, packed by gzip or not. */
const put = (path: string, bytes: Buffer, packed: boolean): string =>
  `mkdir -p ${path.slice(0, path.lastIndexOf("/"))}; echo ${bytes.toString("base64")} | base64 -d ${packed ? "| gunzip " : ""}> ${path}`;

const APK = put("/lib/apk/db/installed", fixture("alpine/rootfs/lib/apk/db/installed"), false);
const RPM = put("/usr/lib/sysimage/rpm/rpmdb.sqlite", fixture("rpmdb.sqlite.gz"), true);
const BERKELEY = put("/var/lib/rpm/Packages", fixture("Packages.little.gz"), true);

/** Small enough to be made by a line of shell each. */
const LANGUAGES = [
  put(
    "/usr/local/lib/python3.11/site-packages/Foo_Bar-1.0rc1.dist-info/METADATA",
    Buffer.from("Name: Foo-Bar\nVersion: 1.0rc1\n"),
    false,
  ),
  put("/app/package.json", Buffer.from('{"name":"shop","version":"1.0.0"}'), false),
  put("/app/node_modules/@acme/tool/package.json", Buffer.from('{"name":"@acme/tool","version":"0.0.1"}'), false),
  put("/usr/local/bundle/specifications/rake-12.3.0.gemspec", Buffer.from("# rake\n"), false),
  put(
    "/app/myfile.jar",
    readFileSync(new URL("../../../plugins/crawler-jar/testdata/fixture/rootfs/app/myfile.jar", import.meta.url)),
    false,
  ),
].join("; ");
const CRAWLERS = {
  package: {},
  "python-package": {},
  "node-package": {},
  "ruby-package": {},
  jar: { algorithm: "md5", every: "2s" },
  image: {},
};

interface Package {
  readonly name: string;
  readonly version: string;
  readonly architecture: string;
  readonly size: number;
  readonly state: string | null;
  readonly drift: boolean | null;
}

const main = (frame: Frame) => container(frame, "main");
const valuesOf = <V>(frame: Frame, type: string): V[] =>
  main(frame).features.flatMap((one) => (one.type === type ? [one.value as V] : []));
const packages = (frame: Frame) => valuesOf<Package>(frame, "package");
const named = (frame: Frame, name: string) => packages(frame).find((one) => one.name === name);

onNode("packages of what is installed in a container", "e2e-packages", (namespace) => {
  let agent: Agent;
  const exec = async (name: string, ...command: readonly string[]): Promise<string> =>
    (await kubectl(["exec", "-n", namespace, name, "--", ...command], undefined, { deadline: 60_000 })).stdout;
  const listed = (name: string) =>
    agent.frames.next(`${namespace}/${name}`, "with packages", (frame) => packages(frame).length > 0);
  /** What dpkg-query says, run in the container: our answers must be the same. */
  const oracle = async (): Promise<readonly string[]> => {
    const format = "${db:Status-Status} ${Package} ${Architecture} ${Version} ${Installed-Size}\\n";
    const lines = (await exec("debian", "dpkg-query", "-W", `-f=${format}`)).split("\n").filter((line) => line !== "");
    return lines.filter((line) => !line.startsWith("config-files ")).sort();
  };
  const said = (frame: Frame): readonly string[] =>
    packages(frame)
      .map((one) => `${one.state} ${one.name} ${one.architecture} ${one.version} ${one.size / 1024}`)
      .sort();

  beforeAll(async () => {
    await apply(
      pod(namespace, "debian", { containers: [{ image: redisImage, command: ["sleep", "3600"] }] }),
      pod(namespace, "alpine", { containers: [{ script: `${APK}; ${idle}` }] }),
      pod(namespace, "rpm", { containers: [{ script: `${RPM}; ${idle}` }] }),
      pod(namespace, "berkeley", { containers: [{ script: `${BERKELEY}; ${idle}` }] }),
      pod(namespace, "languages", { containers: [{ script: `${LANGUAGES}; ${idle}` }] }),
      pod(namespace, "bare"),
    );
    await kubectl(["wait", "-n", namespace, "--for=condition=Ready", "pod", "--all", "--timeout=100s"], undefined, {
      deadline: 110_000,
    });
    agent = await Agent.start({
      every: "1s",
      crawlers: CRAWLERS,
      environment: { include: { namespaces: [namespace] } },
    });
  });
  afterAll(() => agent?.[Symbol.asyncDispose]());

  test("a Debian pod's packages are those of its dpkg-query, and none of them is drift", async () => {
    const frame = await listed("debian");
    expect(said(frame)).toEqual(await oracle());
    expect(new Set(packages(frame).map(({ drift }) => drift))).toEqual(new Set([false]));
    expect(valuesOf(frame, "packageDatabase")).toMatchObject([{ format: "dpkg-status", drift: false }]);
  });

  test("what apt-get installs in a pod is in a next frame, as drift, and frames in between say that nothing changed", async () => {
    const quiet = await agent.frames.upcoming(
      `${namespace}/debian`,
      "without a change",
      (frame) => main(frame).digests?.["package"]?.changed === false,
    );
    expect(packages(quiet)).toEqual([]);
    const control =
      "Package: late-comer\\nVersion: 1.5-2\\nArchitecture: all\\nInstalled-Size: 12\\nMaintainer: x <x@example.test>\\nDescription: late\\n";
    const build = `mkdir -p /tmp/late/DEBIAN; printf '${control}' > /tmp/late/DEBIAN/control; dpkg-deb -b /tmp/late /tmp/late.deb`;
    await exec("debian", "sh", "-c", `${build} && apt-get install -y /tmp/late.deb`);
    const frame = await agent.frames.next(`${namespace}/debian`, "with what was installed", (one) =>
      packages(one).some(({ name, state }) => name === "late-comer" && state === "installed"),
    );
    expect(main(frame).digests?.["package"]).toMatchObject({ changed: true });
    expect(named(frame, "late-comer")).toMatchObject({ version: "1.5-2", drift: true });
    expect(named(frame, "base-files")).toMatchObject({ drift: false });
    expect(valuesOf(frame, "packageDatabase")).toMatchObject([{ drift: true }]);
    expect(said(frame)).toEqual(await oracle());
  });

  test("what was removed, its settings kept, is in a next frame no more", async () => {
    await exec("debian", "dpkg", "--remove", "late-comer");
    const frame = await agent.frames.upcoming(
      `${namespace}/debian`,
      "without what was removed",
      (one) => packages(one).length > 0 && named(one, "late-comer") === undefined,
    );
    expect(said(frame)).toEqual(await oracle());
  });

  test("parity O11: a root like Alpine's has its packages", async () => {
    const frame = await listed("alpine");
    expect(packages(frame).map(({ name }) => name)).toEqual(["alpine-baselayout", "busybox", "musl", "ssl_client"]);
    expect(named(frame, "musl")).toMatchObject({ version: "1.2.5-r9", architecture: "x86_64", size: 667_648 });
  });

  test.each(["rpm", "berkeley"])("a root like Fedora's or CentOS's has its packages: %s", async (name) => {
    const frame = await listed(name);
    const found = packages(frame).map((one) => `${one.name} ${one.version} ${one.architecture} ${one.size}`);
    expect(found).toEqual([
      "tiny 2:0.9~rc1-4.el9 x86_64 2",
      "trawler-noarch 2:1.2.3-4.el9 noarch 2",
      "trawler-sample 2:1.2.3-4.el9 x86_64 1692",
    ]);
  });

  test("parity P26, P27, P28, P24: packages of languages, an archive and the image of a container", async () => {
    const frame = await agent.frames.next(
      `${namespace}/languages`,
      "with all of them",
      (one) => new Set(main(one).features.map(({ type }) => type)).size === 5,
    );
    expect(main(frame).features.map(({ type, key }) => `${type} ${key}`)).toEqual([
      "pythonPackage /usr/local/lib/python3.11/site-packages/Foo_Bar-1.0rc1.dist-info",
      "nodePackage /app",
      "nodePackage /app/node_modules/@acme/tool",
      "rubyPackage /usr/local/bundle/specifications/rake-12.3.0.gemspec",
      "jar /app/myfile.jar",
      "image image",
    ]);
    expect(valuesOf<{ digest: string }>(frame, "jar")[0]?.digest).toBe("md5:48ac85a26ffa7ff5cefdd5c73a9fb888");
    expect(valuesOf(frame, "image")).toMatchObject([
      { registry: "registry.example.test", name: "busybox", tag: "1.35" },
    ]);
  });

  test("a container without packages is silent, and every frame is valid", async () => {
    const frame = await agent.frames.next(`${namespace}/bare`, "of an interval", ({ reason }) => reason === "interval");
    expect(main(frame)).toMatchObject({ features: [{ type: "image" }], problems: [] });
    const validate = frameValidator();
    for (const one of agent.frames.all) expect(validate(one)).toEqual([]);
  });
});
