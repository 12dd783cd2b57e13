import type { FileSystemAccess } from "@trawler/plugin-api";
import { TrawlerError } from "@trawler/plugin-api";
import { expect, test } from "vitest";
import { folderNames } from "../src/folder-name.ts";
import { findRuntimeLog } from "../src/index.ts";
import { locationFault, locationsOfEnvironment, parseLocations, plainPath } from "../src/locations.ts";
import { dockerContainer } from "./node.ts";

const { signal } = new AbortController();

/** A node with these regular files and links. */
function node(files: Readonly<Record<string, "file" | "fifo" | `/${string}`>>): Pick<FileSystemAccess, "stat"> {
  return {
    stat: (path) => {
      const found = files[path];
      if (found === undefined) return Promise.reject(new TrawlerError("TRAWLER_UNSUPPORTED", "no such file"));
      const link = found.startsWith("/") ? found : null;
      const type = link === null ? (found === "fifo" ? "fifo" : "file") : "symlink";
      const none = { size: 0, mode: 0, userId: 0, groupId: 0, hostUserId: 0, hostGroupId: 0 };
      return Promise.resolve({ ...none, path, type, link, modified: "", changed: "", accessed: "" });
    },
  };
}

test("parity C18: the engine's log is at its usual place, else where the engine says, else nowhere", async () => {
  const usual = "/var/lib/docker/containers/abc/abc-json.log";
  const find = async (files: Parameters<typeof node>[0], told: string | null = "/a/b/c/log.json") => {
    const workload = dockerContainer("web", "abc", told);
    const [container] = workload.containers;
    return container && (await findRuntimeLog(node(files), workload, container, signal))?.path;
  };
  expect(await find({ [usual]: "file", "/a/b/c/log.json": "file" })).toBe(usual);
  expect(await find({ "/a/b/c/log.json": "file" })).toBe("/a/b/c/log.json");
  expect(await find({})).toBeUndefined();
  expect(await find({}, null)).toBeUndefined();
  expect(await find({ [usual]: "fifo", "/a/b/c/log.json": "/etc/shadow", "/etc/shadow": "file" })).toBeUndefined();
  expect(await find({ "/a/../log.json": "file" }, "/a/../log.json")).toBeUndefined();
});

test("a pod's log is at the kubelet's place, and where that is the engine's link, where it leads", async () => {
  const own = dockerContainer("main", "abc");
  const resource = { "k8s.namespace.name": "shop", "k8s.pod.name": "cart-0" };
  const pod = { ...own, kind: "pod" as const, resource, handle: { podUid: "u-1" } };
  const [container] = own.containers;
  if (container === undefined) throw new Error("no container");
  const place = "/var/log/pods/shop_cart-0_u-1/main/0.log";
  const json = "/data/docker/containers/abc/abc-json.log";
  const find = (files: Parameters<typeof node>[0]) => findRuntimeLog(node(files), pod, container, signal);
  expect(await find({ [place]: "file" })).toEqual({ path: place, type: "cri" });
  expect(await find({ [place]: json, [json]: "file" })).toEqual({ path: json, type: "docker-json" });
  expect(await find({ [place]: "/etc/shadow", "/etc/shadow": "file" })).toBeNull();
});

test("locations are separated by commas, each once, and bounded", () => {
  expect(parseLocations(" /a, /b,,/a ,")).toEqual(["/a", "/b"]);
  expect(parseLocations(Array.from({ length: 5000 }, (_, n) => `/${n}`).join(","))).toHaveLength(64);
  expect(locationsOfEnvironment("PATH=/bin\0LOG_LOCATIONS=/a,/b\0SECRET=x\0")).toBe("/a,/b");
  expect(locationsOfEnvironment("XLOG_LOCATIONS=/a\0redis-server *:6379")).toBeNull();
});

test("paths that no link is made for are told apart from those that may be looked for", () => {
  for (const path of ["/a", "/a/./b", "//a", "/a..b/..c"]) expect(locationFault(path)).toBeNull();
  for (const path of [
    "a",
    "",
    "/..",
    "/a/../b",
    "/a/..",
    "/",
    "/./",
    "/a\nb",
    `/${"x".repeat(256)}`,
    "/x".repeat(2100),
  ])
    expect(locationFault(path), path).not.toBeNull();
  expect(plainPath("//a/./b/")).toBe("/a/b");
});

test("a container's folder is named by a template, and a name is never hidden or a way up", () => {
  const web = dockerContainer("web", "a");
  const name = (text: string, template?: string) => {
    const workload = dockerContainer(text, "a");
    const [container] = workload.containers;
    return container && folderNames(template)({ ...web, ...workload }, container);
  };
  expect(name("web")).toBe("web");
  expect(name("web", "x/{container}/{id}")).toBe("x/web/a");
  expect(name("../../etc")).toBe("_._.._etc");
  expect(name("..")).toBe("_.");
  expect(name(".index.json")).toBe("_index.json");
  expect(name("a b$(c)")).toBe("a_b__c_");
});
