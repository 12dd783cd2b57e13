import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { appendFileSync, mkdirSync, readdirSync, renameSync, symlinkSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { errorCode, errorMessage } from "@trawler/plugin-api";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { decodePath, openHostFileSystem, type RootedFileSystem } from "../../src/index.ts";
import { Child } from "./child.ts";
import { HOSTILE_NAMES, HostileTree, SECRET } from "./hostile.ts";

let tree: HostileTree;

beforeAll(async () => {
  tree = await HostileTree.make();
}, 120_000);

afterAll(async () => {
  await tree[Symbol.asyncDispose]();
}, 120_000);

function openDescriptors(): number {
  return readdirSync("/proc/self/fd").length;
}

const SWAP = fileURLToPath(new URL("./swap.mjs", import.meta.url));
const DENIED = fileURLToPath(new URL("./denied.ts", import.meta.url));

/** The content, or the code of the failure, whose message must be worded in the member's paths. */
async function outcome(work: Promise<string>): Promise<string> {
  try {
    return await work;
  } catch (error) {
    expect(errorMessage(error)).not.toContain(tree.folder);
    expect(errorMessage(error)).not.toContain("/proc/self/fd");
    return errorCode(error) ?? `uncoded: ${errorMessage(error)}`;
  }
}

for (const resolver of ["openat2", "walk"] as const) {
  describe(`rooted files resolved by ${resolver}`, { timeout: 60_000 }, () => {
    let files: RootedFileSystem;
    let before = 0;

    beforeAll(async () => {
      before = openDescriptors();
      files = await openHostFileSystem(tree.root, { resolver });
    });

    afterAll(async () => {
      await files[Symbol.asyncDispose]();
      expect(openDescriptors()).toBeLessThanOrEqual(before);
    });

    test("links inside the root are followed as the member would", async () => {
      for (const path of ["/etc/os-release", "etc//./os-release/", "/etc/relative", "/etc/absolute", "/etc/above"]) {
        expect(await files.readText(path), path).toBe("ID=inside\n");
      }
      expect(await files.readText("/../../etc/../../etc/os-release")).toBe("ID=inside\n");
      expect(await files.readText("/loop/folder/folder/0")).toBe("ID=inside\n");
    });

    test("no link leads out of the root", async () => {
      for (const name of ["absolute", "relative", "near", "chain", "shadow", "magic", "environ"]) {
        expect(await outcome(files.readText(`/escape/${name}`)), name).toBe("TRAWLER_UNSUPPORTED");
      }
      const top = (await files.list("/escape/up")).entries.map((entry) => entry.path);
      expect(top).toContain("/escape/up/etc");
      expect(top).not.toContain("/escape/up/secret");
    });

    test("a loop of links ends, and more than forty of them are refused", async () => {
      for (const name of ["a", "self", "wide", "60"]) {
        expect(await outcome(files.readText(`/loop/${name}`)), name).toBe("TRAWLER_REFUSED");
      }
      expect(await files.readText("/loop/30")).toBe("ID=inside\n");
    });

    test("C78: a FIFO, a socket, a device and links to them are never opened, yet listed with their type", async () => {
      const paths = ["/etc/app.conf", "/etc/fifo-link", "/run/x.sock", "/etc"];
      if (tree.devices) paths.push("/etc/hosts", "/dev/zero", "/dev/block");
      for (const path of paths) expect(await outcome(files.readText(path)), path).toBe("TRAWLER_REFUSED");
      const types = new Map((await files.list("/etc")).entries.map((entry) => [entry.path, entry.type]));
      expect(types.get("/etc/app.conf")).toBe("fifo");
      expect(types.get("/etc/hosts")).toBe("symlink");
      expect((await files.stat("/run/x.sock")).type).toBe("socket");
      expect(await files.stat("/etc/fifo-link")).toMatchObject({ type: "symlink", link: "app.conf" });
      expect(await outcome(files.list("/etc/app.conf").then(String))).toBe("TRAWLER_UNSUPPORTED");
    });

    test("C79: of a sparse file only the cap is read, and its size is exact", async () => {
      const { bytes, size, truncated } = await files.read("/big/sparse", { maxBytes: 100_000 });
      expect(bytes.length).toBe(100_000);
      expect(truncated).toBe(true);
      expect(size).toBeGreaterThanOrEqual(8 * 1024 ** 3);
      expect(await outcome(files.readText("/big/sparse"))).toBe("TRAWLER_LIMIT");
    });

    test("the cap is exact: a file of that size is whole, one byte more is cut", async () => {
      writeFileSync(tree.at("exact"), Buffer.alloc(70_000, 1));
      expect(await files.read("/exact", { maxBytes: 70_000 })).toMatchObject({ truncated: false, size: 70_000 });
      expect((await files.read("/exact", { maxBytes: 69_999 })).bytes.length).toBe(69_999);
      expect((await files.read("/exact", { maxBytes: 69_999 })).truncated).toBe(true);
      expect((await files.read("/etc/empty", { maxBytes: 0 })).truncated).toBe(false);
      expect((await files.read("/exact")).bytes.every((byte) => byte === 1)).toBe(true);
    });

    test("a part from an offset on, and nothing beyond the end", async () => {
      writeFileSync(tree.at("parts"), "0123456789");
      const part = async (offset: number, maxBytes?: number): Promise<string> => {
        const { bytes, truncated } = await files.read("/parts", { offset, ...(maxBytes && { maxBytes }) });
        return `${Buffer.from(bytes)}${truncated ? "…" : ""}`;
      };
      expect(await part(4, 3)).toBe("456…");
      expect(await part(7, 3)).toBe("789");
      expect(await part(10)).toBe("");
      expect(await part(1e15)).toBe("");
    });

    test("digests are those of the bytes, at most of the cap, and only of regular files", async () => {
      const bytes = Buffer.alloc(700_000, "trawler");
      writeFileSync(tree.at("digested"), bytes);
      const of = (algorithm: string, max = bytes.length): string =>
        createHash(algorithm).update(bytes.subarray(0, max)).digest("hex");
      const whole = { size: bytes.length, truncated: false };
      expect(await files.digest("/digested", { algorithm: "sha256" })).toEqual({ digest: of("sha256"), ...whole });
      expect(await files.digest("/digested", { algorithm: "md5" })).toEqual({ digest: of("md5"), ...whole });
      const exact = await files.digest("/digested", { algorithm: "md5", maxBytes: bytes.length });
      expect(exact.truncated).toBe(false);
      const cut = await files.digest("/digested", { algorithm: "sha256", maxBytes: 300_000 });
      expect(cut).toEqual({ digest: of("sha256", 300_000), size: bytes.length, truncated: true });
      expect(await outcome(files.digest("/etc/app.conf", { algorithm: "md5" }).then(String))).toBe("TRAWLER_REFUSED");
      expect(await outcome(files.digest("/escape/near", { algorithm: "md5" }).then(String))).toBe(
        "TRAWLER_UNSUPPORTED",
      );
    });

    test("parity P3: a walk leaves out what is excluded, with all below it", async () => {
      mkdirSync(tree.at("pruned/a/b"), { recursive: true });
      for (const path of ["pruned/x.pyc", "pruned/a/y.pyc", "pruned/a/b/z", "pruned/k"])
        writeFileSync(tree.at(path), "");
      const walked: string[] = [];
      for await (const batch of files.walk("/pruned", { exclude: ["/**/*.pyc", "/pruned/a/b"] })) {
        walked.push(...batch.map(({ path }) => path));
      }
      expect(walked).toEqual(["/pruned/a", "/pruned/k"]);
    });

    test("C79: a file that grows while it is read ends at the cap", async () => {
      writeFileSync(tree.at("growing"), "");
      const grow = setInterval(() => appendFileSync(tree.at("growing"), Buffer.alloc(1_000_000)), 0);
      try {
        await expect.poll(async () => (await files.read("/growing", { maxBytes: 3_000_000 })).truncated).toBe(true);
        expect((await files.read("/growing", { maxBytes: 3_000_000 })).bytes.length).toBe(3_000_000);
      } finally {
        clearInterval(grow);
        writeFileSync(tree.at("growing"), "");
      }
    });

    test("C81: names of any bytes are listed, read and walked without loss", async () => {
      const { entries } = await files.list("/names");
      const names = entries.map((entry) => decodePath(entry.path.slice("/names/".length)));
      expect(new Set(names.map((name) => name.toString("hex")))).toEqual(
        new Set(HOSTILE_NAMES.map((name) => name.toString("hex"))),
      );
      for (const entry of entries) {
        const { bytes } = await files.read(entry.path);
        expect(Buffer.from(bytes)).toEqual(decodePath(entry.path.slice("/names/".length)));
      }
      const walked: string[] = [];
      for await (const batch of files.walk("/names")) for (const { path } of batch) walked.push(path);
      expect(walked.toSorted()).toEqual(entries.map((entry) => entry.path).toSorted());
    });

    test("a folder of 100,000 entries is capped, and so is a walk", async () => {
      const listed = await files.list("/many");
      expect(listed.entries.length).toBe(10_000);
      expect(listed.truncated).toBe(true);
      expect(listed.entries.map((entry) => entry.path)).toEqual(listed.entries.map((entry) => entry.path).toSorted());
      let count = 0;
      const walk = async (): Promise<string> => {
        for await (const batch of files.walk("/many", { maxEntries: 5_000 })) count += batch.length;
        return "whole";
      };
      expect(await outcome(walk())).toBe("TRAWLER_LIMIT");
      expect(count).toBe(5_000);
    });

    test("a deep tree is walked to its bound, each folder before what it holds", async () => {
      const paths: string[] = [];
      const walk = async (maxDepth: number): Promise<string> => {
        paths.length = 0;
        for await (const batch of files.walk("/deep", { maxDepth })) for (const { path } of batch) paths.push(path);
        return "whole";
      };
      expect(await outcome(walk(20))).toBe("TRAWLER_LIMIT");
      expect(paths.length).toBe(20);
      expect(await outcome(walk(250))).toBe("whole");
      expect(paths.length).toBe(tree.deep);
      expect(paths).toEqual(paths.toSorted());
    });

    test("a name that cannot be, a missing file and a file used as a folder are plain answers", async () => {
      expect(await outcome(files.readText("/none"))).toBe("TRAWLER_UNSUPPORTED");
      expect(await outcome(files.readText("/etc/os-release/x"))).toBe("TRAWLER_UNSUPPORTED");
      expect(await outcome(files.readText("/etc\0/os-release"))).toBe("TRAWLER_REFUSED");
      expect(await outcome(files.readText("/etc\\x00"))).toBe("TRAWLER_REFUSED");
      expect(await outcome(files.readText(`/${"x".repeat(300)}`))).toBe("TRAWLER_REFUSED");
      expect(await outcome(files.readText(`/${"x/".repeat(3_000)}`))).toBe("TRAWLER_REFUSED");
      expect(await outcome(files.list("/none").then(String))).toBe("TRAWLER_UNSUPPORTED");
      expect(await outcome(files.list("/etc/os-release").then(String))).toBe("TRAWLER_UNSUPPORTED");
      expect(await files.stat("/")).toMatchObject({ path: "/", type: "directory" });
    });

    test("C82: what permissions close is denied and counted, the rest is given", () => {
      // Root passes over permissions, so the reader runs without that right.
      const args = ["--conditions=@trawler/source", DENIED, tree.root, resolver];
      const drop = ["--inh-caps=-all", "--bounding-set=-dac_override,-dac_read_search", process.execPath];
      const output = tree.devices
        ? execFileSync("setpriv", [...drop, ...args], { encoding: "utf8" })
        : execFileSync(process.execPath, args, { encoding: "utf8" });
      expect(JSON.parse(output)).toMatchObject({
        unreadable: "TRAWLER_DENIED",
        sealed: "TRAWLER_DENIED",
        inside: "TRAWLER_DENIED",
        walk: "TRAWLER_DENIED",
        hasSealed: true,
        hasOther: true,
      });
    });

    test("a folder swapped for a link to the node's, in a race, is never read through", async () => {
      mkdirSync(tree.at("race", resolver, "folder"), { recursive: true });
      writeFileSync(tree.at("race", resolver, "folder/secret"), "inside");
      symlinkSync(tree.folder, tree.at("race", resolver, "link"));
      const swapped = [tree.at("race", resolver, "folder"), tree.at("race", resolver, "link")];
      await using _ = await Child.start(process.execPath, [SWAP, "exchange", ...swapped]);
      const seen = new Map<string, number>();
      for (let turn = 0; turn < 1_500; turn++) {
        const got = await outcome(files.readText(`/race/${resolver}/${turn % 2 === 0 ? "folder" : "link"}/secret`));
        seen.set(got, (seen.get(got) ?? 0) + 1);
      }
      expect(seen.has(SECRET)).toBe(false);
      expect([...seen.keys()].filter((key) => key !== "inside" && key !== "TRAWLER_UNSUPPORTED")).toEqual([]);
      expect(seen.get("inside")).toBeGreaterThan(0);
      expect(seen.get("TRAWLER_UNSUPPORTED")).toBeGreaterThan(0);
      for (let turn = 0; turn < 50; turn++) {
        for await (const batch of files.walk(`/race/${resolver}`)) {
          for (const status of batch) expect(status.path).not.toContain("/root");
        }
      }
    });

    test("a folder moved above where `..` was taken from does not open what lies above the root", async () => {
      mkdirSync(tree.at("race", resolver, "a/b/c"), { recursive: true });
      mkdirSync(`${tree.folder}/outside-${resolver}`);
      const swapped = [tree.at("race", resolver, "a/b"), `${tree.folder}/outside-${resolver}`];
      await using _ = await Child.start(process.execPath, [SWAP, "exchange", ...swapped]);
      const up = "../".repeat(12);
      for (let turn = 0; turn < 1_500; turn++) {
        const got = await outcome(files.readText(`/race/${resolver}/a/b/c/${up}secret`));
        expect(got).toBe("TRAWLER_UNSUPPORTED");
      }
    });

    test("C82: a file that comes and goes while its folder is walked is there or is not", async () => {
      mkdirSync(tree.at("race", resolver, "blink"), { recursive: true });
      for (let index = 0; index < 50; index++) writeFileSync(tree.at("race", resolver, "blink", `f${index}`), "");
      const blinking = tree.at("race", resolver, "blink/f50");
      await using _ = await Child.start(process.execPath, [SWAP, "blink", blinking]);
      for (let turn = 0; turn < 100; turn++) {
        let count = 0;
        for await (const batch of files.walk(`/race/${resolver}/blink`)) count += batch.length;
        expect(count === 50 || count === 51).toBe(true);
      }
    });

    test("a time no calendar has does not break the status", async () => {
      writeFileSync(tree.at("future"), "");
      execFileSync("touch", ["-d", "@15000000000", tree.at("future")]);
      expect((await files.stat("/future")).modified).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
    });

    test("an aborted call and a closed access answer at once, with codes", async () => {
      const signal = AbortSignal.abort();
      expect(await outcome(files.readText("/etc/os-release", { signal }))).toBe("TRAWLER_PLUGIN_TIMEOUT");
      const closing = await openHostFileSystem(tree.root, { resolver });
      const walk = closing.walk("/", { maxEntries: 200_000 });
      await walk.next();
      await closing[Symbol.asyncDispose]();
      await closing[Symbol.asyncDispose]();
      expect(await outcome(walk.next().then(String))).toBe("TRAWLER_GONE");
      expect(await outcome(closing.readText("/etc/os-release"))).toBe("TRAWLER_GONE");
      const slow = await openHostFileSystem(tree.root, { resolver, timeout: 0 });
      expect(await outcome(slow.list("/many", { maxEntries: 100_000 }).then(String))).toBe("TRAWLER_PLUGIN_TIMEOUT");
      await slow[Symbol.asyncDispose]();
    });

    test("1,000 mixed operations leave no descriptor open", async () => {
      const paths = ["/etc/os-release", "/escape/absolute", "/loop/a", "/etc/app.conf", "/none", "/deep", "/loop/20"];
      const start = openDescriptors();
      for (let turn = 0; turn < 1_000; turn++) {
        const path = paths[turn % paths.length] ?? "/";
        if (turn % 5 === 0) await outcome(files.list(path).then(String));
        else if (turn % 5 === 1) await outcome(files.stat(path).then(String));
        else if (turn % 5 === 2) {
          const walk = files.walk(path, { maxDepth: 8 });
          await outcome(walk.next().then(String));
          await walk.return(undefined);
        } else await outcome(files.readText(path));
      }
      await expect.poll(openDescriptors).toBeLessThanOrEqual(start);
    });
  });
}

test("the two ways give the same tree", async () => {
  const walks = await Promise.all(
    (["openat2", "walk"] as const).map(async (resolver) => {
      await using files = await openHostFileSystem(tree.root, { resolver });
      const found: unknown[] = [];
      for (const folder of ["/etc", "/escape", "/loop", "/names", "/deep", "/run", "/big", "/dev"]) {
        for await (const batch of files.walk(folder, { maxDepth: 256 })) found.push(...batch);
      }
      return found;
    }),
  );
  expect(walks[0]?.length).toBeGreaterThan(tree.deep);
  expect(walks[0]).toEqual(walks[1]);
});

test("a folder that is renamed stays the root: the descriptor is what counts", async () => {
  const files = await openHostFileSystem(tree.root);
  renameSync(tree.root, `${tree.root}-moved`);
  try {
    expect(await files.readText("/etc/absolute")).toBe("ID=inside\n");
  } finally {
    renameSync(`${tree.root}-moved`, tree.root);
    await files[Symbol.asyncDispose]();
  }
});
