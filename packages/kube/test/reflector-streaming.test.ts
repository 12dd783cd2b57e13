import type { FakeApi, FakeStream } from "@trawler/testkit";
import { describe, expect, test } from "vitest";
import type { ReflectorOptions } from "../src/index.ts";
import { PODS, pod, reflect, type Seen, until } from "./reflector-harness.ts";

const auto: Partial<ReflectorOptions<Seen>> = { streamingList: "auto" };

/** `stream`, `list`, `page`, `watch@12`: what was asked, in order. */
function asked({ requests }: FakeApi): string[] {
  return requests.map(({ verb, query }) =>
    query.get("sendInitialEvents") === "true"
      ? "stream"
      : verb === "watch"
        ? `watch@${query.get("resourceVersion")}`
        : query.has("continue")
          ? "page"
          : verb,
  );
}

/** The list has ended, and the watch that follows it is open. */
function watching(api: FakeApi): boolean {
  return api.openWatches === 1 && asked(api).at(-1)?.startsWith("watch") === true;
}

const end = (version: number): object => ({
  kind: "Pod",
  metadata: { resourceVersion: String(version), annotations: { "k8s.io/initial-events-end": "true" } },
});
const item = (uid: string, version: number): object => {
  const object = pod(uid);
  return { ...object, metadata: { ...object.metadata, resourceVersion: String(version) } };
};

/** Answers the streaming lists one after another with these, then as the model does. */
function script(api: FakeApi, ...answers: readonly ((stream: FakeStream) => void)[]): void {
  const left = [...answers];
  api.fault = ({ query }) => {
    const stream = query.get("sendInitialEvents") === "true" ? left.shift() : undefined;
    return stream === undefined ? undefined : { stream };
  };
}

describe("B9: the list as a stream", () => {
  test("B9, F11: asks for it consistent and with its end marked, and watches from there", async () => {
    await using bench = await reflect((api) => {
      for (const uid of ["a", "b"]) api.put(PODS, pod(uid));
    }, auto);
    const { api, told, reflector } = bench;
    await until(() => watching(api) && told.includes("synced"));
    api.put(PODS, pod("c"));
    await until(() => told.includes("+c"));
    expect(told).toEqual(["+a", "+b", "synced", "+c"]);
    expect(asked(api)).toEqual(["stream", "watch@102"]);
    const [first] = api.requests;
    expect(Object.fromEntries(first?.query ?? [])).toMatchObject({
      watch: "true",
      allowWatchBookmarks: "true",
      resourceVersionMatch: "NotOlderThan",
      fieldSelector: "spec.nodeName=node-a",
    });
    expect(first?.query.has("resourceVersion")).toBe(false);
    expect(reflector.snapshot()).toMatchObject({ lists: 1, streamedLists: 1, refusedStreams: 0 });
  });

  test("B9: off unless it is asked for", async () => {
    await using bench = await reflect((api) => api.put(PODS, pod("a")));
    await until(() => watching(bench.api));
    expect(asked(bench.api)).toEqual(["list", "watch@101"]);
  });

  test.each([
    ["422 of a server without it", 422],
    ["400", 400],
    ["403 of a role that may list only", 403],
    ["410", 410],
  ])("B9, Failure 23: %s: pages within the same attempt, and for the hour after it", async (_, status) => {
    const clock = { hours: 0 };
    await using bench = await reflect(
      (api) => {
        api.put(PODS, pod("a"));
        api.fault = ({ query }) => (query.get("sendInitialEvents") === "true" ? { status } : undefined);
      },
      { ...auto, clock: { now: () => Date.now(), monotonic: () => performance.now() / 1000 + clock.hours * 3600 } },
    );
    const { api, told, away, reflector } = bench;
    await until(() => watching(api));
    expect(asked(api)).toEqual(["stream", "list", "watch@101"]);
    expect(away).toEqual([]);
    const relist = async (): Promise<void> => {
      const { lists } = reflector.snapshot();
      api.compact();
      api.silently(() => api.put(PODS, pod("a", "a", `${lists}`)));
      api.compact();
      api.breakWatches("end");
      await until(() => reflector.snapshot().lists > lists && watching(api));
    };
    await relist();
    expect(reflector.snapshot()).toMatchObject({ lists: 2, refusedStreams: 1 });
    clock.hours = 1.01;
    await relist();
    expect(reflector.snapshot()).toMatchObject({ lists: 3, refusedStreams: 2 });
    expect(told.filter((word) => word === "-a")).toEqual([]);
  });

  test.each([
    ["cut by its end", (stream: FakeStream) => stream.end()],
    [
      "reset inside a line",
      (stream: FakeStream) => {
        stream.bytes('{"type":"ADD');
        stream.reset();
      },
    ],
    [
      "ended by an error, as of a server whose etcd is too old",
      (stream: FakeStream) => stream.event("ERROR", { code: 500 }),
    ],
    ["with a line that is no event", (stream: FakeStream) => stream.bytes("{]\n")],
  ])("B9, Failure 23: a stream that is %s before its mark takes nothing away, and pages follow", async (_, breakIt) => {
    await using bench = await reflect((api) => {
      for (const uid of ["a", "b"]) api.put(PODS, pod(uid));
    }, auto);
    const { api, told, reflector } = bench;
    await until(() => watching(api));
    // The next list is needed, and its stream shows `a` only.
    script(api, (stream) => {
      stream.event("ADDED", item("a", 101));
      breakIt(stream);
    });
    api.silently(() => api.put(PODS, pod("x")));
    api.compact();
    api.breakWatches("end");
    await until(() => told.includes("+x"));
    expect(told.filter((word) => word.startsWith("-"))).toEqual([]);
    expect(asked(api).filter((word) => !word.startsWith("watch"))).toEqual(["stream", "stream", "list"]);
    expect(reflector.snapshot()).toMatchObject({ streamedLists: 1, refusedStreams: 1 });
  });

  test("Failure 23: a server that never marks the end is given up, and nothing is concluded", async () => {
    await using bench = await reflect(
      (api) => {
        api.streamingList = "endless";
        api.put(PODS, pod("a"));
      },
      { ...auto, requestTimeout: 50 },
    );
    await until(() => bench.told.includes("synced"));
    expect(asked(bench.api).slice(0, 2)).toEqual(["stream", "list"]);
    expect(bench.told).toEqual(["+a", "synced"]);
  });

  test("B14, B20: after a gap what the stream lacks has gone, and what changed while it came is told in order", async () => {
    const ends: string[] = [];
    await using bench = await reflect((api) => {
      for (const uid of ["a", "b", "c"]) api.put(PODS, pod(uid));
    }, auto);
    const { api, told, reflector } = bench;
    await until(() => watching(api));
    script(api, (stream) => {
      stream.event("ADDED", item("a", 101));
      stream.event("ADDED", item("c", 103));
      stream.event("MODIFIED", item("a", 201));
      stream.event("DELETED", item("c", 202));
      stream.event("BOOKMARK", end(203));
    });
    api.resourceVersion = 203n;
    api.compact();
    api.breakWatches("end");
    await until(() => reflector.snapshot().lists === 2 && watching(api));
    ends.push(...told.slice(told.indexOf("synced") + 1));
    expect(ends).toEqual(["-b", "~a", "-c"]);
    expect(asked(api).at(-1)).toBe("watch@203");
  });

  test("B20: a stream older than the position is not used; pages are asked for", async () => {
    await using bench = await reflect((api) => {
      for (const uid of ["a", "b"]) api.put(PODS, pod(uid));
    }, auto);
    const { api, told, reflector } = bench;
    await until(() => watching(api));
    script(api, (stream) => {
      stream.event("ADDED", item("a", 101));
      stream.event("BOOKMARK", end(101));
    });
    api.compact();
    api.silently(() => api.put(PODS, pod("x")));
    api.compact();
    api.breakWatches("end");
    await until(() => told.includes("+x"));
    expect(told.filter((word) => word.startsWith("-"))).toEqual([]);
    expect(reflector.snapshot()).toMatchObject({ staleLists: 1, epoch: 0 });
  });

  test("B22: a stream that lacks most of what is known counts once pages agree", async () => {
    await using bench = await reflect((api) => {
      for (let index = 0; index < 120; index += 1) api.put(PODS, pod(`p-${index}`));
    }, auto);
    const { api, told, reflector } = bench;
    await until(() => watching(api));
    script(api, (stream) => stream.event("BOOKMARK", end(500)));
    api.resourceVersion = 500n;
    api.compact();
    api.breakWatches("end");
    await until(() => reflector.snapshot().lists === 3 && watching(api));
    expect(told.filter((word) => word.startsWith("-"))).toEqual([]);
  });
});

describe("B9: bytes kept, page by page", () => {
  test("are told in portions; a deletion that comes within is exact, and told after the list", async () => {
    const told: string[] = [];
    await using bench = await reflect(
      (api) => {
        script(api, (stream) => {
          for (let index = 0; index < 7; index += 1) stream.event("ADDED", item(`p-${index}`, 101 + index));
          stream.event("DELETED", item("p-3", 120));
          stream.event("BOOKMARK", end(121));
        });
        api.resourceVersion = 121n;
        api.compact();
      },
      {
        ...auto,
        pageSize: 3,
        byPage: true,
        raw: (_bytes, meta) => ({ uid: meta.uid, name: meta.uid, note: null }),
        handler: {
          added: ({ uid }) => told.push(`+${uid}`),
          updated: () => {},
          removed: ({ uid }, { by, exact }) => told.push(`-${uid} ${by} ${exact}`),
          listed: ({ resourceVersion }) => told.push(`listed ${resourceVersion}`),
        },
      },
    );
    await until(() => told.length === 9);
    expect(told.slice(0, 7)).toEqual(["+p-0", "+p-1", "+p-2", "+p-3", "+p-4", "+p-5", "+p-6"]);
    expect(told.slice(7)).toEqual(["listed 121", "-p-3 watch true"]);
    expect(bench.reflector.snapshot()).toMatchObject({ listPages: 3, objects: 6, resourceVersion: "121" });
  });

  test("a line over the bound leaves its identity", async () => {
    const seen: unknown[] = [];
    await using bench = await reflect(
      (api) => {
        script(api, (stream) => {
          stream.event("ADDED", { ...item("big", 101), filler: "x".repeat(5000) });
          stream.event("BOOKMARK", end(121));
        });
        api.resourceVersion = 121n;
        api.compact();
      },
      {
        ...auto,
        maxLineBytes: 2000,
        byPage: true,
        raw: (_bytes, meta) => {
          seen.push(meta);
          return { uid: meta.uid, name: meta.uid, note: null };
        },
      },
    );
    await until(() => bench.told.includes("+big"));
    expect(seen).toEqual([{ uid: "big", resourceVersion: "101", truncated: true }]);
  });
});
