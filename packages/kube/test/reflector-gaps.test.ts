import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { type FakeStream, fakeStatus } from "@trawler/testkit";
import { describe, expect, test } from "vitest";
import type { TakenList } from "../src/reflector/types.ts";
import { PODS, pod, reflect, until, verbs } from "./reflector-harness.ts";

const opened = (harness: { api: { openWatches: number } }) => () => harness.api.openWatches === 1;

describe("gaps", () => {
  test("C04, B14, Failure 3: 410 when opening the watch causes one list, without a version, and a watch from there", async () => {
    await using harness = await reflect((api) => {
      api.put(PODS, pod("a"));
      api.fault = ({ verb, query }) => {
        if (verb !== "watch" || query.get("resourceVersion") !== "101") return undefined;
        api.resourceVersion = 250n;
        return { status: 410, body: fakeStatus(410, "Expired", "too old resource version: 101 (200)") };
      };
    });
    await until(opened(harness));
    expect(verbs(harness.api)).toEqual(["list", "watch@101", "list", "watch@250"]);
    expect(harness.api.requests[2]?.query.has("resourceVersion")).toBe(false);
    expect(harness.told).toEqual(["+a", "synced"]);
    expect(harness.reflector.snapshot().restarts.expired).toBe(1);
  });

  test("B14, Failure 3: an ERROR event with code 410 causes a list as well", async () => {
    let first = true;
    await using harness = await reflect((api) => {
      api.fault = ({ verb }) => {
        if (verb !== "watch" || !first) return undefined;
        first = false;
        return { stream: (stream) => stream.event("ERROR", fakeStatus(410, "Expired", "too old")) };
      };
    });
    await until(opened(harness));
    expect(verbs(harness.api)).toEqual(["list", "watch@100", "list", "watch@100"]);
  });

  test("B23, F20: a gap begins where the last list was asked for, or a bookmark sent: no open watch, half line, event or ERROR tells more", async () => {
    let time = 1_000_000;
    let pace = 10_000;
    const taken: TakenList[] = [];
    const fault: ((stream: FakeStream) => void)[] = [
      () => undefined,
      (stream) => stream.bytes('{"type":"ADDED","object":{"metadata":{"uid":"ha'),
      (stream) => stream.event("ADDED", { metadata: { uid: "c", name: "c", resourceVersion: "103" } }),
    ];
    await using harness = await reflect(
      (api) => {
        api.put(PODS, pod("a"));
        api.fault = ({ verb }) => {
          time += pace;
          if (verb !== "watch") return undefined;
          api.resourceVersion = 103n;
          const next = fault.shift();
          if (next !== undefined) return { stream: next };
          return taken.length < 2
            ? { stream: (stream) => stream.event("ERROR", fakeStatus(410, "Expired", "")) }
            : undefined;
        };
      },
      {
        clock: { now: () => time, monotonic: () => performance.now() / 1000 },
        idleTimeout: 30,
        resumeIdle: true,
        handler: { added: () => {}, updated: () => {}, removed: () => {}, listed: (list) => taken.push(list) },
      },
    );
    await until(() => taken.length === 2 && harness.api.openWatches === 1);
    expect(taken[0]).toMatchObject({ reason: "first", asOf: 1_000_000, to: 1_010_000 });
    expect(taken[1]).toMatchObject({ reason: "expired", from: 1_000_000, fromVersion: "103" });
    // Watches are opened anew while they are idle: that takes no time from here on, and a bookmark between two is lost.
    pace = 0;
    time += 50_000;
    const sent = time;
    await until(() => {
      harness.api.bookmark();
      return harness.reflector.snapshot().bookmarks > 0;
    });
    harness.api.compact();
    harness.api.resourceVersion += 1n;
    harness.api.compact();
    harness.api.breakWatches("end");
    await until(() => taken.length === 3);
    expect(taken[2]?.from).toBe(sent - 1000);
  });

  test("C06, F16: a pod deleted in the gap is removed once", async () => {
    await using harness = await reflect((api) => {
      api.put(PODS, pod("a"));
      api.put(PODS, pod("b"));
    });
    await until(opened(harness));
    harness.api.silently(() => harness.api.delete(PODS, "b"));
    harness.api.compact();
    harness.api.breakWatches("end");
    await until(() => harness.told.includes("-b") && harness.api.openWatches === 1);
    expect(harness.told).toEqual(["+a", "+b", "synced", "-b"]);
    expect([...harness.reflector.values()].map(({ uid }) => uid)).toEqual(["a"]);
  });

  test("C07, F18: same name, new UID across the gap: removed, then added", async () => {
    await using harness = await reflect((api) => api.put(PODS, pod("1111", "db-0")));
    await until(opened(harness));
    harness.api.silently(() => {
      harness.api.delete(PODS, "1111");
      harness.api.put(PODS, pod("2222", "db-0"));
    });
    harness.api.compact();
    harness.api.breakWatches("reset");
    await until(() => harness.told.includes("+2222"));
    expect(harness.told).toEqual(["+1111", "synced", "-1111", "+2222"]);
  });

  test("C09, B3: five deletions and a late older change make one removal", async () => {
    await using harness = await reflect((api) => {
      api.put(PODS, pod("a"));
      api.fault = ({ verb }) => {
        if (verb !== "watch") return undefined;
        const at = (version: string) => ({ ...pod("a"), metadata: { ...pod("a").metadata, resourceVersion: version } });
        return {
          stream: (stream) => {
            for (let index = 0; index < 5; index += 1) stream.event("DELETED", at("120"));
            stream.event("MODIFIED", at("110"));
            stream.event("ADDED", at("120"));
            stream.event("ADDED", { ...pod("b"), metadata: { ...pod("b").metadata, resourceVersion: "121" } });
          },
        };
      };
    });
    await until(() => harness.told.includes("+b"));
    expect(harness.told).toEqual(["+a", "synced", "-a", "+b"]);
    expect(harness.reflector.snapshot().staleIgnored).toBe(6);
  });

  test("C10, B11: a bookmark moves the position and reports no pod", async () => {
    await using harness = await reflect(() => undefined);
    await until(opened(harness));
    harness.api.resourceVersion = 905n;
    harness.api.bookmark();
    await until(() => harness.reflector.snapshot().bookmarks === 1);
    harness.api.breakWatches("end");
    await until(() => verbs(harness.api).length === 3);
    expect(verbs(harness.api)).toEqual(["list", "watch@100", "watch@905"]);
    expect(harness.told).toEqual(["synced"]);
  });

  test.each([false, true])(
    "C12, B8, F14a: 1,201 pods in pages; a server that ignores limit: %s",
    async (ignoreLimit) => {
      await using harness = await reflect(
        (api) => {
          for (let index = 0; index < 1201; index += 1) api.put(PODS, pod(`p${index}`));
        },
        { apiOptions: { ignoreLimit } },
      );
      await until(() => harness.told.includes("synced"));
      expect(harness.reflector.snapshot()).toMatchObject({ objects: 1201, lists: 1, listPages: ignoreLimit ? 1 : 3 });
      expect(harness.api.requests[0]?.query.get("limit")).toBe("500");
    },
  );

  test("B21, F7, Failure 11: an expired continue token starts the list again and removes nothing", async () => {
    let expired = 0;
    await using harness = await reflect(
      (api) => {
        for (let index = 0; index < 5; index += 1) api.put(PODS, pod(`p${index}`));
        api.fault = ({ query }) => {
          if (!query.has("continue") || expired >= 2) return undefined;
          expired += 1;
          return { status: 410, body: fakeStatus(410, "Expired", "continue parameter is too old") };
        };
      },
      { pageSize: 2 },
    );
    await until(() => harness.told.includes("synced"));
    expect(harness.reflector.snapshot()).toMatchObject({ objects: 5, lists: 1, listPages: 1 });
    expect(verbs(harness.api).slice(0, 5)).toEqual(["list", "page", "list", "page", "list"]);
    expect(harness.api.requests[4]?.query.has("limit")).toBe(false);
  });

  test("C13: a watch that is always too old backs off", async () => {
    await using harness = await reflect((api) => {
      api.put(PODS, pod("a"));
      api.fault = ({ verb }) => (verb === "watch" ? { status: 410 } : undefined);
    });
    await until(() => harness.waits.length >= 10);
    const { lists, objects } = harness.reflector.snapshot();
    expect(objects).toBe(1);
    expect(lists).toBeGreaterThanOrEqual(10);
    expect(harness.told).toEqual(["+a", "synced"]);
  });

  test("C13: round after round of lists keeps no more than one of them", async () => {
    setFlagsFromString("--expose-gc");
    const collectGarbage: () => void = runInNewContext("gc");
    const note = "x".repeat(2000);
    let rounds = 0;
    const heaps: number[] = [];
    await using harness = await reflect((api) => {
      for (let index = 0; index < 1000; index += 1) api.put(PODS, pod(`p${index}`, `p${index}`, note));
      api.fault = ({ verb }) => {
        if (verb !== "watch") return undefined;
        rounds += 1;
        collectGarbage();
        heaps.push(process.memoryUsage().heapUsed);
        return { status: 410 };
      };
    });
    await until(() => rounds >= 12);
    expect(harness.reflector.snapshot().objects).toBe(1000);
    // 2 MB a list: ten kept ones would be 20.
    const [early = 0, late = 0] = [heaps[1], heaps.at(-1)];
    expect(late - early).toBeLessThan(8e6);
    expect(harness.told.filter((word) => word !== "synced")).toHaveLength(1000);
  });

  test("B13, F1, F15, C13: the pauses double up to a cap, and the first three stay below five seconds together", async () => {
    await using harness = await reflect(
      (api) => {
        api.fault = ({ verb }) => (verb === "watch" ? { status: 410 } : undefined);
      },
      { random: () => 1 },
    );
    await until(() => harness.waits.length >= 10);
    expect(harness.waits.slice(0, 10)).toEqual([100, 800, 1600, 3200, 6400, 12800, 25600, 30000, 30000, 30000]);
  });

  test("B20, B26, F10, Failure 5: a list older than the position removes nothing; a third one in a row is a server gone back", async () => {
    await using harness = await reflect((api) => {
      api.put(PODS, pod("a"));
      api.resourceVersion = 500n;
    });
    await until(opened(harness));
    harness.api.silently(() => harness.api.delete(PODS, "a"));
    harness.api.resourceVersion = 450n;
    const lost: boolean[] = [];
    harness.api.fault = ({ verb }) => {
      if (verb === "list") lost.push(harness.told.includes("-a"));
      return verb === "watch" && harness.reflector.snapshot().epoch === 0 ? { status: 410 } : undefined;
    };
    harness.api.breakWatches("end");
    await until(() => harness.told.includes("-a") && harness.told.at(-1) === "back");
    expect(lost).toEqual([false, false, false]);
    expect(harness.reflector.snapshot()).toMatchObject({ epoch: 1, staleLists: 3, resourceVersion: "450" });
  });

  test("B22, Failure 12: a list that lost most of what was known is read twice before anything is removed", async () => {
    await using harness = await reflect((api) => {
      for (let index = 0; index < 60; index += 1) api.put(PODS, pod(`p${index}`));
    });
    await until(opened(harness));
    let empty = true;
    harness.api.fault = ({ verb, query }) => {
      if (verb === "watch" && query.get("resourceVersion") === "160") return { status: 410 };
      if (verb !== "list" || !empty) return undefined;
      empty = false;
      return { status: 200, body: { kind: "PodList", metadata: { resourceVersion: "170" }, items: [] } };
    };
    harness.api.resourceVersion = 180n;
    harness.api.breakWatches("end");
    await until(() => harness.reflector.snapshot().resourceVersion === "180");
    expect(harness.reflector.snapshot().objects).toBe(60);
    expect(harness.told.filter((word) => word.startsWith("-"))).toEqual([]);
  });

  test("B34, Failure 17: an object that cannot be understood is set aside; the rest goes on", async () => {
    await using harness = await reflect((api) => {
      api.put(PODS, pod("a"));
      api.fault = ({ verb }) =>
        verb === "watch"
          ? {
              stream: (stream) => {
                stream.bytes('{"type":"ADDED","object":{"metadata":{"uid":"x"\n');
                stream.bytes('{"type":"MODIFIED","object":null}\n');
                stream.event("ADDED", { metadata: { uid: "b", name: "b", resourceVersion: "200" } });
              },
            }
          : undefined;
    });
    await until(() => harness.told.includes("+b"));
    expect(harness.reflector.snapshot().malformed).toBe(2);
  });
});
