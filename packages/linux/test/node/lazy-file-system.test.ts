import { type FileSystemAccess, TrawlerError } from "@trawler/plugin-api";
import { expect, test } from "vitest";
import { LazyFileSystem } from "../../src/node/lazy-file-system.ts";

const gone = (): TrawlerError => new TrawlerError("TRAWLER_GONE", "has ended");

/** A file system that answers with its own number, and what was opened and closed. */
function world(failures: readonly TrawlerError[] = []) {
  const left = [...failures];
  const seen = { opened: 0, closed: 0, failRead: false };
  const files = new LazyFileSystem(async () => {
    seen.opened += 1;
    const failure = left.shift();
    if (failure !== undefined) throw failure;
    const number = seen.opened;
    const access: FileSystemAccess & AsyncDisposable = {
      read: async () => ({ bytes: new Uint8Array([number]), size: 1, truncated: false }),
      readText: async () => {
        if (seen.failRead) throw gone();
        return `${number}`;
      },
      stat: async () => Promise.reject(new TrawlerError("TRAWLER_UNSUPPORTED", "absent")),
      list: async () => ({ entries: [], truncated: false }),
      walk: async function* () {
        yield [];
      },
      digest: async () => ({ digest: `${number}`, size: 1, truncated: false }),
      fileSystems: async () => ({ fileSystems: [], truncated: false }),
      [Symbol.asyncDispose]: async () => {
        seen.closed += 1;
      },
    };
    return access;
  }, gone);
  return { files, seen };
}

test("opens with the first call, once for all who call", async () => {
  const { files, seen } = world();
  expect(seen.opened).toBe(0);
  expect(await Promise.all([files.readText("/a"), files.readText("/b")])).toEqual(["1", "1"]);
  expect(await files.digest("/a", { algorithm: "md5" })).toMatchObject({ digest: "1" });
  expect(await files.fileSystems()).toMatchObject({ truncated: false });
  for await (const batch of files.walk("/")) expect(batch).toEqual([]);
  expect((await files.list("/")).entries).toEqual([]);
  expect(seen).toMatchObject({ opened: 1, closed: 0 });
});

test("a failed opening fails the call, and the next one tries again", async () => {
  const { files, seen } = world([new TrawlerError("TRAWLER_REFUSED", "not set up yet")]);
  await expect(files.readText("/a")).rejects.toMatchObject({ code: "TRAWLER_REFUSED" });
  expect(await files.readText("/a")).toBe("2");
  expect(seen.opened).toBe(2);
});

test("what has gone is let go; other errors keep it open", async () => {
  const { files, seen } = world();
  await expect(files.stat("/a")).rejects.toMatchObject({ code: "TRAWLER_UNSUPPORTED" });
  expect(seen.closed).toBe(0);
  seen.failRead = true;
  await expect(files.readText("/a")).rejects.toMatchObject({ code: "TRAWLER_GONE" });
  expect(seen.closed).toBe(1);
});

test("closed, it opens no more; closing is safe twice", async () => {
  const { files, seen } = world();
  await files.read("/a");
  await files[Symbol.asyncDispose]();
  await files[Symbol.asyncDispose]();
  await expect(files.read("/a")).rejects.toMatchObject({ code: "TRAWLER_GONE" });
  expect(seen).toMatchObject({ opened: 1, closed: 1 });
});
