import { execFileSync } from "node:child_process";
import {
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { expect, test } from "vitest";
import { LinkFolder, prepareFolder, readIndex } from "../src/index.ts";
import { dockerContainer, TestNode } from "./node.ts";

const { signal } = new AbortController();

/** What each link of a folder shows, by its path. */
function contents(folder: string): Record<string, string> {
  if (!existsSync(folder)) return {};
  const links = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((name) =>
    lstatSync(join(folder, name)).isSymbolicLink(),
  );
  return Object.fromEntries(links.sort().map((name) => [name, readFileSync(join(folder, name), "utf8")]));
}

function states(node: TestNode): Record<string, string> {
  return Object.fromEntries((readIndex(node.links)?.logs ?? []).map(({ path, state }) => [path, state]));
}

test("parity L1: the container's locations, the usual ones and the engine's log are linked, a path with .. is not", async () => {
  await using node = new TestNode();
  const json = node.write("engine/a-json.log", "json");
  for (const name of ["var/log/1", "var/log/2", "var/log/messages", "etc/csf_env.properties", "srv/3", "srv/4"])
    node.write(`root-a/${name}`, name);
  node.environment.set("a", "/var/log/1,/var/log/2,../../as");
  const linker = await node.linker();
  const web = dockerContainer("web", "a");
  expect(await linker.pass([web], signal)).toMatchObject({ linked: 4, refused: 1, failed: 0 });
  expect(contents(join(node.links, "web"))).toEqual({
    "etc/csf_env.properties": "etc/csf_env.properties",
    "var/log/1": "var/log/1",
    "var/log/2": "var/log/2",
    "var/log/messages": "var/log/messages",
  });
  expect(readlinkSync(join(node.links, "web/var/log/2"))).toMatch(new RegExp(`^/proc/${process.pid}/fd/\\d+$`));

  const annotated = { ...web, annotations: { "trawler.dev/logs": "/srv/3", "trawler.dev/logs.web": " /srv/4 " } };
  expect(await linker.pass([annotated], signal)).toMatchObject({ linked: 6 });
  const logged = dockerContainer("web", "a", json.slice(node.folder.length));
  expect(await linker.pass([{ ...annotated, containers: logged.containers }], signal)).toMatchObject({ linked: 7 });
  expect(readlinkSync(join(node.links, "web/docker.log"))).toBe("/engine/a-json.log");
  expect(node.told.filter((text) => text.includes("../../as"))).toEqual(['"../../as": it is not absolute']);
});

test("parity L2: a link that cannot be set or removed fails by itself, and nothing foreign is touched", async () => {
  await using node = new TestNode();
  node.write("root-a/var/log/messages", "of a");
  node.write("root-b/var/log/messages", "of b");
  // Where the links of one are to go stand others' files: in place of its folder, and in place of a link.
  mkdirSync(join(node.links, "b/var/log"), { recursive: true });
  writeFileSync(join(node.links, "a"), "foreign");
  writeFileSync(join(node.links, "b/var/log/messages"), "foreign too");
  const linker = await node.linker();
  node.write("root-c/var/log/messages", "of c");
  const all = ["a", "b", "c"].map((id) => dockerContainer(id, id));
  expect(await linker.pass(all, signal)).toMatchObject({ failed: 2 });
  expect(contents(node.links)).toEqual({ "c/var/log/messages": "of c" });
  expect(readFileSync(join(node.links, "a"), "utf8")).toBe("foreign");
  expect(readFileSync(join(node.links, "b/var/log/messages"), "utf8")).toBe("foreign too");

  rmSync(join(node.links, "a"));
  expect(await linker.pass(all, signal)).toMatchObject({ failed: 1 });
  expect(contents(node.links)).toEqual({ "a/var/log/messages": "of a", "c/var/log/messages": "of c" });
  // A link that another has turned is no longer ours.
  rmSync(join(node.links, "c/var/log/messages"));
  symlinkSync("/dev/null", join(node.links, "c/var/log/messages"));
  expect(await linker.pass([], signal)).toMatchObject({ failed: 0 });
  expect(readlinkSync(join(node.links, "c/var/log/messages"))).toBe("/dev/null");
  expect(existsSync(join(node.links, "a"))).toBe(false);
});

test("parity L5: of three locations the good one is linked, two are told, and the index lists all in their order", async () => {
  await using node = new TestNode();
  node.write("root-a/var/log/good_log_path.log", "good");
  node.write("root-a/var/log/messages", "messages");
  node.write("engine/a-json.log", "json");
  node.environment.set("a", "/var/log/../log/x.log,/var/log/good_log_path.log,../log/y.log");
  const linker = await node.linker();
  const web = dockerContainer("web", "a", "/engine/a-json.log");
  for (let pass = 0; pass < 3; pass++) await linker.pass([web], signal);
  expect(node.told).toEqual(['"/var/log/../log/x.log": it holds ..', '"../log/y.log": it is not absolute']);
  const logs = readIndex(node.links)?.logs.map(({ path, state, type }) => [path, state, type]);
  expect(logs).toEqual([
    ["/var/log/../log/x.log", "refused", null],
    ["/var/log/good_log_path.log", "linked", null],
    ["../log/y.log", "refused", null],
    ["/var/log/messages", "linked", null],
    ["/etc/csf_env.properties", "absent", null],
    ["/engine/a-json.log", "linked", "docker-json"],
  ]);
  expect(readIndex(node.links)?.logs[1]).toMatchObject({ container: "web", containerId: "a", pod: null, reason: null });
});

test("parity L6: links go with their container and appear anew for another of its name, a default asked for twice too", async () => {
  await using node = new TestNode();
  const linker = await node.linker();
  node.environment.set("a", "/var/log/messages,/var/log/messages").set("b", "/var/log/messages");
  node.write("root-a/var/log/messages", "first");
  node.write("root-b/var/log/messages", "second");
  await linker.pass([dockerContainer("web", "a")], signal);
  expect(contents(node.links)).toEqual({ "web/var/log/messages": "first" });
  await linker.pass([], signal);
  expect(readdirSync(node.links)).toEqual([".index.json"]);
  await linker.pass([dockerContainer("web", "b")], signal);
  expect(contents(node.links)).toEqual({ "web/var/log/messages": "second" });
  // In one pass as well.
  await linker.pass([dockerContainer("web", "a")], signal);
  expect(contents(node.links)).toEqual({ "web/var/log/messages": "first" });
  await linker[Symbol.asyncDispose]();
  expect(readdirSync(node.links)).toEqual([".index.json"]);
});

test("parity L7: a pattern stands for each file that it names, and for those that come later", async () => {
  await using node = new TestNode();
  const linker = await node.linker({ paths: ["/data/test*.log"] });
  for (const name of ["test1.log", "test2.log", "other.log"]) node.write(`root-a/data/${name}`, name);
  await linker.pass([dockerContainer("web", "a")], signal);
  expect(Object.keys(contents(node.links))).toEqual(["web/data/test1.log", "web/data/test2.log"]);
  node.write("root-a/data/test3.log", "later");
  rmSync(node.at("root-a/data/test1.log"));
  await linker.pass([dockerContainer("web", "a")], signal);
  expect(contents(node.links)).toEqual({ "web/data/test2.log": "test2.log", "web/data/test3.log": "later" });
});

test("a file that was rotated is linked anew, and what was linked can be read until then", async () => {
  await using node = new TestNode();
  const linker = await node.linker();
  const file = node.write("root-a/var/log/messages", "old");
  await linker.pass([dockerContainer("web", "a")], signal);
  const link = join(node.links, "web/var/log/messages");
  const before = readlinkSync(link);
  await linker.pass([dockerContainer("web", "a")], signal);
  expect(readlinkSync(link)).toBe(before);
  renameSync(file, `${file}.1`);
  expect(readFileSync(link, "utf8")).toBe("old");
  await linker.pass([dockerContainer("web", "a")], signal);
  expect([existsSync(link), states(node)["/var/log/messages"]]).toEqual([false, "absent"]);
  writeFileSync(file, "new");
  await linker.pass([dockerContainer("web", "a")], signal);
  expect(readFileSync(link, "utf8")).toBe("new");
});

test("what is no regular file, or leads out of the root, is refused, and a swap after the check changes nothing", async () => {
  await using node = new TestNode();
  const secret = node.write("secret", "SECRET OF THE NODE");
  const root = (path: string): string => node.at("root-a", path);
  mkdirSync(root("logs/folder"), { recursive: true });
  symlinkSync(secret, root("logs/absolute"));
  symlinkSync("../../secret", root("logs/relative"));
  symlinkSync("/proc/1/root/etc/shadow", root("logs/magic"));
  symlinkSync("loop", root("logs/loop"));
  execFileSync("mkfifo", [root("logs/fifo")]);
  const server = createServer().listen(root("logs/socket"));
  await new Promise((resolve) => server.once("listening", resolve));
  node.write("root-a/logs/good", "good");
  symlinkSync("/logs/good", root("logs/inside"));
  const linker = await node.linker({ paths: ["/logs/*", "/logs/new\nline"] });
  const web = dockerContainer("web", "a");
  await linker.pass([web], signal);
  expect(contents(node.links)).toEqual({ "web/logs/good": "good", "web/logs/inside": "good" });
  expect(states(node)).toEqual({
    "/logs/absolute": "absent",
    "/logs/relative": "absent",
    "/logs/magic": "absent",
    "/logs/loop": "refused",
    "/logs/fifo": "refused",
    "/logs/socket": "refused",
    "/logs/folder": "refused",
    "/logs/good": "linked",
    "/logs/inside": "linked",
    "/logs/new\nline": "refused",
  });
  rmSync(root("logs/good"));
  symlinkSync(secret, root("logs/good"));
  expect(contents(node.links)).toEqual({ "web/logs/good": "good", "web/logs/inside": "good" });
  await linker.pass([web], signal);
  expect(contents(node.links)).toEqual({});
  server.close();
});

test("links and held files are bounded, for one container and in all", async () => {
  await using node = new TestNode();
  for (const id of ["a", "b"]) for (let n = 0; n < 6; n++) node.write(`root-${id}/logs/${n}`, `${id}${n}`);
  const linker = await node.linker({ paths: ["/logs/*"], perContainer: 4, inAll: 6 });
  const both = [dockerContainer("a", "a"), dockerContainer("b", "b")];
  expect(await linker.pass(both, signal)).toMatchObject({ linked: 6, refused: 6 });
  const reasons = (readIndex(node.links)?.logs ?? []).map(({ container, reason }) => `${container}: ${reason}`);
  expect(new Set(reasons)).toEqual(
    new Set(["a: null", "a: the container has 4 links", "b: null", "b: no more than 6 files are held open"]),
  );
  // What one gives back another gets.
  await linker.pass(both.slice(1), signal);
  expect(await linker.pass(both.slice(1), signal)).toMatchObject({ linked: 4 });
});

test("a container whose patterns take too long keeps its links, is left alone for a while, and delays no other", async () => {
  await using node = new TestNode();
  const linker = await node.linker({ paths: ["/logs/*"] });
  for (const id of ["a", "b"]) node.write(`root-${id}/logs/1`, id);
  const both = [dockerContainer("a", "a"), dockerContainer("b", "b")];
  await linker.pass(both, signal);
  node.slow.set("a", 0);
  node.write("root-b/logs/2", "more");
  for (let pass = 0; pass < 3; pass++) await linker.pass(both, signal);
  expect(contents(node.links)).toEqual({ "a/logs/1": "a", "b/logs/1": "b", "b/logs/2": "more" });
  expect(node.slow.get("a")).toBe(1);
  expect(node.told).toEqual([
    "the runtime keeps no log of it in a file",
    "the runtime keeps no log of it in a file",
    "its files cannot be looked at: stopped at its deadline",
  ]);
  await linker.pass(both.slice(1), signal);
  expect(Object.keys(contents(node.links))).toEqual(["b/logs/1", "b/logs/2"]);
});

test("of a run that was killed go the links into its process alone, and only what the index names", async () => {
  await using node = new TestNode();
  prepareFolder(node.links);
  const entry = {
    state: "linked" as const,
    reason: null,
    type: null,
    path: "/x",
    container: "web",
    containerId: "a",
    pod: null,
    namespace: null,
    podUid: null,
  };
  new LinkFolder(node.links).apply([
    { ...entry, link: "web/log", target: "/proc/1/fd/3" },
    { ...entry, link: "web/turned", target: "/proc/1/fd/4" },
    { ...entry, link: "web/docker.log", target: "/engine/a-json.log" },
  ]);
  rmSync(join(node.links, "web/turned"));
  symlinkSync("/elsewhere", join(node.links, "web/turned"));
  symlinkSync("/proc/1/fd/3", join(node.links, "web/foreign"));
  writeFileSync(join(node.links, ".link.next"), "");

  const folder = new LinkFolder(node.links);
  const left = (): string[] => readdirSync(join(node.links, "web")).sort();
  expect(left()).toEqual(["docker.log", "foreign", "turned"]);
  expect([folder.size, existsSync(join(node.links, ".link.next"))]).toEqual([1, false]);
  folder.apply([]);
  expect(left()).toEqual(["foreign", "turned"]);
});

test("an index that names what is not below the folder, or that is none, makes nothing ours", async () => {
  await using node = new TestNode();
  prepareFolder(node.links);
  symlinkSync("/proc/1/fd/3", node.at("outside"));
  const index = join(node.links, ".index.json");
  const text = { logs: [], leaving: [{ link: "../outside", target: "/proc/1/fd/3" }, 7, { link: "/x" }] };
  writeFileSync(index, JSON.stringify(text));
  expect(new LinkFolder(node.links).size).toBe(0);
  writeFileSync(index, "{ no index");
  expect(new LinkFolder(node.links).size).toBe(0);
  expect(lstatSync(node.at("outside")).isSymbolicLink()).toBe(true);
});

test("a folder that others may write to is refused", async () => {
  await using node = new TestNode();
  execFileSync("mkdir", ["-m", "0777", node.links]);
  expect(() => prepareFolder(node.links)).toThrow(expect.objectContaining({ code: "TRAWLER_REFUSED" }));
});
