import { getEventListeners } from "node:events";
import { fakeStatus } from "@trawler/testkit";
import { describe, expect, test } from "vitest";
import { PODS, pod, reflect, until, verbs } from "./reflector-harness.ts";

const opened = (harness: { api: { openWatches: number } }) => () => harness.api.openWatches === 1;

describe("connection", () => {
  test("C01: a mute watch is given up, and the next list shows what it hid", async () => {
    let first = true;
    await using harness = await reflect(
      (api) => {
        api.put(PODS, pod("a"));
        api.fault = ({ verb }) => {
          if (verb !== "watch" || !first) return undefined;
          first = false;
          return { stream: (stream) => stream.event("MODIFIED", { metadata: { uid: "a", resourceVersion: "102" } }) };
        };
      },
      { idleTimeout: 1_000 },
    );
    await until(() => harness.told.includes("~a"));
    harness.api.silently(() => harness.api.put(PODS, pod("b")));
    await until(() => harness.told.includes("+b"));
    expect(harness.reflector.snapshot().restarts).toMatchObject({ idle: 1, error: 0 });
    expect(harness.told).toEqual(["+a", "synced", "~a", "+b"]);
  });

  test("C03, Failure 1: a reset inside a line leaves no half line behind", async () => {
    let first = true;
    await using harness = await reflect((api) => {
      api.fault = ({ verb }) => {
        if (verb !== "watch" || !first) return undefined;
        first = false;
        return {
          stream: (stream) => {
            stream.bytes('{"type":"MODIFIED","object":{"kind":"Pod","metadata":{"name":"web-0"');
            setTimeout(() => stream.reset(), 20);
          },
        };
      };
    });
    await until(opened(harness));
    harness.api.put(PODS, pod("web-0"));
    await until(() => harness.told.includes("+web-0"));
    expect(harness.reflector.snapshot()).toMatchObject({ malformed: 0, lists: 1 });
    expect(verbs(harness.api)).toEqual(["list", "watch@100", "watch@100"]);
  });

  test("C15, B16, Failure 20: 403 for ever backs off and says once which verb on which resource is missing", async () => {
    await using harness = await reflect(
      (api) => {
        api.fault = () => ({
          status: 403,
          body: fakeStatus(403, "Forbidden", "pods is forbidden: no list at the cluster scope"),
        });
      },
      { random: () => 1 },
    );
    await until(() => harness.waits.length >= 12);
    expect(harness.told).toEqual(["away"]);
    expect(harness.away[0]).toBe(
      "list pods: 403, our role does not allow it: pods is forbidden: no list at the cluster scope",
    );
    expect(harness.waits.slice(0, 12)).toEqual([
      100, 800, 1600, 3200, 6400, 12800, 25600, 51200, 102400, 204800, 300000, 300000,
    ]);
    expect(harness.reflector.snapshot()).toMatchObject({ state: "away", away: { code: "TRAWLER_DENIED" } });
    harness.api.fault = null;
    await until(() => harness.told.includes("back"));
    expect(harness.told).toEqual(["away", "synced", "back"]);
  });

  test("B16: a kind that the server does not have is asked for again after 5 minutes at most, and followed once it is there", async () => {
    await using harness = await reflect(
      (api) => {
        api.fault = () => ({ status: 404, body: fakeStatus(404, "NotFound", "the server could not find it") });
      },
      { random: () => 1 },
    );
    await until(() => harness.waits.length >= 13);
    expect(harness.told).toEqual(["away"]);
    expect(harness.away[0]).toContain("list pods: 404");
    expect(harness.waits[0]).toBe(100);
    expect(Math.max(...harness.waits)).toBe(300_000);
    harness.api.fault = null;
    harness.api.put(PODS, pod("a"));
    await until(() => harness.told.includes("back"));
    await until(() => harness.told.includes("+a"));
  });

  test("C15: a role without watch still lists, and says so", async () => {
    await using harness = await reflect((api) => {
      api.put(PODS, pod("a"));
      api.fault = ({ verb }) => (verb === "watch" ? { status: 403 } : undefined);
    });
    await until(() => harness.waits.length >= 3);
    expect(harness.told).toEqual(["+a", "synced", "away"]);
    expect(harness.away[0]).toContain("watch pods: 403");
    expect(harness.reflector.snapshot().lists).toBe(1);
  });

  test("B16: a server that denies for a moment after a long outage is asked again at once", async () => {
    let answers = 0;
    await using harness = await reflect(
      (api) => {
        api.fault = () => {
          answers += 1;
          if (answers > 22) return undefined;
          return answers > 20 ? { status: 403 } : { status: 503 };
        };
      },
      { random: () => 1 },
    );
    await until(() => harness.told.includes("back"));
    expect(harness.waits.slice(18, 22)).toEqual([30000, 30000, 100, 800]);
  });

  test("C16: fifty reconnects leave at most two sockets and no listener", async () => {
    await using harness = await reflect(() => undefined);
    for (let round = 1; round <= 50; round += 1) {
      await until(() => harness.api.openWatches === 1 && harness.reflector.snapshot().watches >= round);
      harness.api.breakWatches(round % 2 === 0 ? "end" : "reset");
    }
    await until(() => harness.reflector.snapshot().watches >= 51 && harness.api.openWatches === 1);
    expect(harness.api.sockets.peak).toBeLessThanOrEqual(2);
    expect(getEventListeners(harness.signal, "abort").length).toBe(1);
  });

  test("C21: after the server was away, earlier pods are not new and later ones are seen", async () => {
    await using harness = await reflect((api) => {
      api.put(PODS, pod("a"));
      api.put(PODS, pod("b"));
    });
    await until(opened(harness));
    await harness.api.stop();
    await until(() => harness.told.includes("away") && harness.waits.length > 5);
    expect(harness.away[0]).toMatch(/^watch pods: cannot reach http:\/\/127\.0\.0\.1:\d+: ECONNREFUSED$/);
    await harness.api.start();
    await until(() => harness.told.includes("back"));
    harness.api.put(PODS, pod("c"));
    await until(() => harness.told.includes("+c"));
    expect(harness.told).toEqual(["+a", "+b", "synced", "away", "back", "+c"]);
    expect(harness.reflector.snapshot().lists).toBe(1);
  });

  test("C22: a server that cannot be reached at the start is waited for", async () => {
    await using harness = await reflect((api) => {
      api.put(PODS, pod("a"));
      api.fault = () => ({ reset: true });
    });
    await until(() => harness.waits.length >= 5);
    expect(harness.told).toEqual(["away"]);
    expect(harness.reflector.snapshot()).toMatchObject({ state: "away", objects: 0 });
    harness.api.fault = null;
    await until(() => harness.told.includes("back"));
    expect(harness.told).toEqual(["away", "+a", "synced", "back"]);
  });

  test("B12, Failure 30: a normal end of the watch goes on from the position at once, without a list", async () => {
    await using harness = await reflect(() => undefined, { random: () => 1 });
    const uids = ["a", "b", "c", "d"];
    for (const [index, uid] of uids.entries()) {
      await until(() => harness.api.openWatches === 1 && harness.reflector.snapshot().watches === index + 1);
      harness.api.put(PODS, pod(uid));
      await until(() => harness.told.includes(`+${uid}`));
      harness.api.breakWatches("end");
    }
    await until(() => harness.api.openWatches === 1 && harness.reflector.snapshot().watches === 5);
    expect(verbs(harness.api)).toEqual(["list", "watch@100", "watch@101", "watch@102", "watch@103", "watch@104"]);
    expect(harness.waits).toEqual([100, 100, 100, 100]);
  });

  test("B16, Failure 29: 429 is asked again no sooner than the server says", async () => {
    let left = 2;
    await using harness = await reflect((api) => {
      api.fault = () => {
        left -= 1;
        return left < 0 ? undefined : { status: 429, headers: { "retry-after": "7" } };
      };
    });
    await until(opened(harness));
    expect(harness.waits.slice(0, 2).every((wait) => wait >= 7000)).toBe(true);
  });

  test("B16, F6: a server that is behind our version keeps the position", async () => {
    let left = 3;
    const body = {
      ...fakeStatus(504, "Timeout", "Too large resource version"),
      details: { causes: [{ reason: "ResourceVersionTooLarge" }], retryAfterSeconds: 1 },
    };
    await using harness = await reflect((api) => {
      api.fault = ({ verb }) => {
        if (verb !== "watch" || left === 0) return undefined;
        left -= 1;
        return { status: 504, body };
      };
    });
    await until(opened(harness));
    expect(verbs(harness.api)).toEqual(["list", "watch@100", "watch@100", "watch@100", "watch@100"]);
  });

  test("B45, F8: a line over the bound is skipped and the watch goes on", async () => {
    await using harness = await reflect(
      (api) => {
        api.fault = ({ verb }) =>
          verb === "watch"
            ? {
                stream: (stream) => {
                  stream.event("ADDED", pod("big", "big", "x".repeat(50_000)));
                  stream.event("ADDED", pod("small"));
                },
              }
            : undefined;
      },
      { maxLineBytes: 10_000 },
    );
    await until(() => harness.told.includes("+small"));
    expect(harness.told).toEqual(["synced", "+small"]);
    expect(harness.reflector.snapshot()).toMatchObject({ oversized: 1, malformed: 0 });
  });

  test.each([
    ["a list cut in its middle", '{"kind":"PodList","metadata":{"resourceVersion":"7"},"items":[{"meta'],
    ["no list at all", '{"kind":"PodList","items":[]}'],
    ["a page that leads to itself", '{"metadata":{"resourceVersion":"7","continue":"same"},"items":[]}'],
  ])("B21: %s removes nothing and is asked for again", async (_, body) => {
    await using harness = await reflect((api) => api.put(PODS, pod("a")));
    await until(opened(harness));
    let left = 4;
    harness.api.fault = ({ verb, query }) => {
      if (left === 0) return undefined;
      if (verb === "watch") return query.get("resourceVersion") === "101" ? { status: 410 } : undefined;
      left -= 1;
      return { status: 200, body };
    };
    harness.api.breakWatches("end");
    await until(() => left === 0 && harness.told.at(-1) === "back");
    expect(harness.told).toEqual(["+a", "synced", "away", "back"]);
  });

  test("B8, F2, F3: the watch asks for bookmarks, a bounded time, and only this node's pods", async () => {
    await using harness = await reflect(() => undefined);
    await until(opened(harness));
    const query = harness.api.requests[1]?.query;
    expect(query?.get("allowWatchBookmarks")).toBe("true");
    expect(query?.get("fieldSelector")).toBe("spec.nodeName=node-a");
    const seconds = Number(query?.get("timeoutSeconds"));
    expect(seconds).toBeGreaterThanOrEqual(300);
    expect(seconds).toBeLessThanOrEqual(600);
  });

  test("a fault of the handler ends the reflector with that fault", async () => {
    const harness = await reflect((api) => api.put(PODS, pod("a")), {
      handler: {
        added: () => {
          throw new Error("broken handler");
        },
        updated: () => undefined,
        removed: () => undefined,
      },
    });
    await until(() => harness.reflector.snapshot().objects === 1);
    await expect(harness[Symbol.asyncDispose]()).rejects.toThrow("broken handler");
  });
});
