import { createHash } from "node:crypto";
import { expect, test } from "vitest";
import { missingPackages } from "../src/apt.ts";
import { parseAuditLine } from "../src/audit.ts";
import { archiveFiles } from "../src/image-archive.ts";
import { canonicalName } from "../src/images.ts";
import { parseChains, removalScript } from "../src/iptables.ts";
import { mountsBelow } from "../src/leftovers.ts";
import { parseStat } from "../src/process.ts";
import { parseRecord } from "../src/supervise.ts";
import { testbedUnsupported } from "../src/unsupported.ts";
import { waitUntil } from "../src/wait.ts";

test("a process name with brackets and blanks does not move the start time", () => {
  const line = "42 (a) b) S 1 42 42 0 -1 4194560 1 0 0 0 5 6 0 0 20 0 1 0 98765 1000 10 18446744073709551615";
  expect(parseStat(line)).toEqual({ state: "S", startTime: "98765" });
  expect(parseStat("")).toBeUndefined();
});

test("a pid file that is something else is no record", () => {
  expect(parseRecord('{"pid":"1"}')).toBeUndefined();
  expect(parseRecord("null")).toBeUndefined();
});

test("a package that was removed but configured counts as missing", () => {
  expect(missingPackages(["runc", "kcat", "socat"], "installed runc\nconfig-files kcat\n")).toEqual(["kcat", "socat"]);
});

test("mounts below a folder come deepest last mounted first, and no neighbour with a longer name", () => {
  const line = (path: string): string => `36 25 0:32 / ${path} rw shared:1 - tmpfs tmpfs rw`;
  const text = ["/", "/t", "/t/a\\040b", "/t2", "/t/a\\040b/c"].map(line).join("\n");
  expect(mountsBelow(text, "/t")).toEqual(["/t/a b/c", "/t/a b", "/t"]);
});

const saved = `*nat
:PREROUTING ACCEPT [0:0]
:CNI-DN-1 - [0:0]
:CNI-HOSTPORT-DNAT - [0:0]
:OTHER - [0:0]
-A PREROUTING -m addrtype --dst-type LOCAL -j CNI-HOSTPORT-DNAT
-A PREROUTING -j OTHER
-A CNI-HOSTPORT-DNAT -p tcp -m comment --comment "dnat name: \\"testbed\\"" -j CNI-DN-1
COMMIT
`;

test("only chains of the node that were not there before are removed, with the rules that lead to them", () => {
  expect(parseChains(saved)).toContain("nat/OTHER");
  expect(removalScript(saved, []).split("\n")).toEqual([
    "*nat",
    "-D PREROUTING -m addrtype --dst-type LOCAL -j CNI-HOSTPORT-DNAT",
    '-D CNI-HOSTPORT-DNAT -p tcp -m comment --comment "dnat name: \\"testbed\\"" -j CNI-DN-1',
    "-F CNI-DN-1",
    "-F CNI-HOSTPORT-DNAT",
    "-X CNI-DN-1",
    "-X CNI-HOSTPORT-DNAT",
    "COMMIT",
    "",
  ]);
  expect(removalScript(saved, parseChains(saved))).toBe("");
});

test("short image names get Docker's registry, full ones stay", () => {
  expect(canonicalName("shop/pause-menu:1")).toBe("docker.io/shop/pause-menu:1");
  expect(canonicalName("redis:7")).toBe("docker.io/library/redis:7");
  expect(canonicalName("registry.example.test/infra/sandbox:7")).toBe("registry.example.test/infra/sandbox:7");
});

test("an archive lists each image with its configuration and layer", () => {
  const digest = (text: string): string => createHash("sha256").update(text).digest("hex");
  const files = archiveFiles([{ name: "a/b:1", layer: "ff", entrypoint: ["/x"], ports: [80] }], "amd64", digest);
  const [config = ""] = [...files.keys()];
  expect(JSON.parse(files.get("manifest.json") ?? "")).toEqual([
    { Config: config, RepoTags: ["a/b:1"], Layers: ["ff.tar"] },
  ]);
  expect(JSON.parse(files.get(config) ?? "")).toMatchObject({
    rootfs: { diff_ids: ["sha256:ff"] },
    config: { ExposedPorts: { "80/tcp": {} } },
  });
});

test("a watch is counted when it starts, anything else when it is answered", () => {
  const event = (verb: string, stage: string): string =>
    JSON.stringify({
      verb,
      stage,
      user: { username: "trawler-agent" },
      objectRef: { resource: "pods" },
      requestURI: "/api/v1/pods",
      responseStatus: { code: 200 },
      requestReceivedTimestamp: "2026-01-01T00:00:00.000000Z",
    });
  expect(parseAuditLine(event("watch", "ResponseStarted"))).toMatchObject({
    verb: "watch",
    resource: "pods",
    status: 200,
  });
  expect(parseAuditLine(event("watch", "ResponseComplete"))).toBeUndefined();
  expect(parseAuditLine(event("list", "ResponseComplete"))).toMatchObject({ user: "trawler-agent", verb: "list" });
});

test("where the testbed cannot run, the reason is one sentence", () => {
  const world = { platform: "linux", uid: 0, has: () => true };
  expect(testbedUnsupported(world)).toBeUndefined();
  expect(testbedUnsupported({ ...world, platform: "darwin" })).toContain("needs Linux");
  expect(testbedUnsupported({ ...world, uid: 1000 })).toContain("needs root");
  expect(testbedUnsupported({ ...world, has: (command) => command !== "go" })).toContain("go");
});

test("a wait ends with what it waited for and the last error", async () => {
  let calls = 0;
  expect(await waitUntil("x", () => ++calls >= 3 && "done", { deadline: 5000, every: 1 })).toBe("done");
  const failing = (): never => {
    throw new Error("refused");
  };
  await expect(waitUntil("the broker", failing, { deadline: 5, every: 1 })).rejects.toThrow(/the broker: refused/);
});
