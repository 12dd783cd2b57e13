import { createApiClient, tokenTarget } from "@trawler/kube";
import { fakeStatus } from "@trawler/testkit";
import { describe, expect, test } from "vitest";
import { checkCluster, kindSpec } from "../src/index.ts";
import { bench, known, lists, PODS, pod, until, watches } from "./collector-harness.ts";

const gapReasons = (collector: { store: { gaps(): readonly { reason: string }[] } }): readonly string[] =>
  collector.store.gaps().map(({ reason }) => reason);

describe("from the wire to the record", () => {
  test("B2, B8: what exists is listed once, then followed; a pod that comes and goes at once is kept", async () => {
    await using world = await bench((api) => api.put(PODS, pod("a")));
    const { collector } = await world.start();
    await until("a watch", () => world.api.openWatches === 1);
    world.api.put(PODS, pod("b"));
    world.api.put(PODS, pod("b", { phase: "Failed", exit: 7 }));
    world.api.delete(PODS, "b");
    await until("both", () => known(collector).length === 2 && known(collector)[1] !== "b live");
    expect(known(collector)).toEqual(["a live", "b gone watch exact"]);
    expect(collector.store.query({ deleted: true }).records[0]).toMatchObject({
      exitCode: 7,
      phase: "Failed",
      node: "node-a",
    });
    expect(lists(world.api)).toBe(1);
    expect(collector.store.gaps()).toEqual([]);
    expect(collector.status().unready).toBeNull();
  });

  test("Failure 1: half a line and a cut connection: taken up where it stood, without a list", async () => {
    await using world = await bench((api) => api.put(PODS, pod("a")));
    let cut = true;
    world.api.fault = ({ verb }) => {
      if (verb !== "watch" || !cut) return undefined;
      cut = false;
      return {
        stream: (stream) => {
          stream.bytes('{"type":"ADDED","object":{"metadata":{"uid":"half"');
          setTimeout(() => stream.reset(), 5);
        },
      };
    };
    const { collector } = await world.start();
    await until("a second watch", () => world.api.openWatches === 1);
    world.api.put(PODS, pod("b"));
    await until("b", () => known(collector).includes("b live"));
    expect(known(collector)).toEqual(["a live", "b live"]);
    expect(lists(world.api)).toBe(1);
    expect(gapReasons(collector)).toEqual([]);
  });

  test("Failure 2, B15: a mute watch is given up and taken up where it stood: no list, no gap", async () => {
    await using world = await bench((api) => api.put(PODS, pod("a")));
    let mute = true;
    world.api.fault = ({ verb }) => {
      if (verb !== "watch" || !mute) return undefined;
      mute = false;
      return { stream: () => {} };
    };
    const { collector } = await world.start({ tuning: { idleTimeout: 50 } });
    await until("the mute watch", () => watches(world.api) > 0);
    world.api.put(PODS, pod("b"));
    await until("b", () => known(collector).includes("b live"));
    expect(lists(world.api)).toBe(1);
    expect(gapReasons(collector)).toEqual([]);
    expect(collector.status().kinds[0]?.reflector.restarts.idle).toBeGreaterThan(0);
  });

  test("Failure 3, B14, B20: 410 in the stream: a new list, what vanished is closed with bounds, and the gap is told", async () => {
    await using world = await bench((api) => {
      for (const uid of ["a", "b"]) api.put(PODS, pod(uid));
    });
    const { collector } = await world.start();
    await until("a watch", () => world.api.openWatches === 1);
    world.api.put(PODS, pod("c"));
    await until("c", () => known(collector).length === 3);
    world.api.silently(() => {
      world.api.delete(PODS, "a");
      world.api.put(PODS, pod("d"));
    });
    world.api.compact();
    world.api.breakWatches("end");
    await until("d", () => known(collector).includes("d live"));
    expect(known(collector)).toEqual(["a gone relist last", "b live", "c live", "d live"]);
    const [gap] = collector.store.gaps();
    expect(gap).toMatchObject({ stream: "pods", kind: "Pod", reason: "expired", fromVersion: "103" });
    const [gone] = collector.store.query({ deleted: true }).records;
    expect(gone?.end?.notBefore).toBeLessThanOrEqual(gone?.end?.notAfter ?? 0);
    expect(collector.store.query({ deleted: true })).toMatchObject({ complete: false, gaps: [{ id: gap?.id }] });
  });

  test("Failure 10, B1: the same name with another UID after a gap: two records", async () => {
    await using world = await bench((api) => api.put(PODS, pod("u1", { name: "web-0" })));
    const { collector } = await world.start();
    await until("a watch", () => world.api.openWatches === 1);
    world.api.silently(() => {
      world.api.delete(PODS, "u1");
      world.api.put(PODS, pod("u2", { name: "web-0" }));
    });
    world.api.compact();
    world.api.breakWatches("reset");
    await until("u2", () => known(collector).includes("u2 live"));
    expect(known(collector)).toEqual(["u1 gone replaced last", "u2 live"]);
  });

  test("Failure 11, B21: a list whose token expires half way derives no deletion", async () => {
    await using world = await bench((api) => {
      for (const uid of ["a", "b", "c", "d", "e"]) api.put(PODS, pod(uid));
    });
    let expired = 0;
    world.api.fault = ({ verb, query }) => {
      if (verb !== "list" || query.get("continue") !== "4" || expired > 0) return undefined;
      expired += 1;
      return { status: 410, body: fakeStatus(410, "Expired", "the continue token is too old") };
    };
    const { collector } = await world.start({ tuning: { pageSize: 2 } });
    await until("all", () => known(collector).length === 5 && collector.status().unready === null);
    expect(expired).toBe(1);
    expect(known(collector)).toEqual(["a live", "b live", "c live", "d live", "e live"]);
  });

  test("Failure 12a, B20: a list of a server that lags behind deletes nothing", async () => {
    await using world = await bench((api) => {
      for (const uid of ["a", "b"]) api.put(PODS, pod(uid));
    });
    const { collector } = await world.start();
    await until("a watch", () => world.api.openWatches === 1);
    world.api.put(PODS, pod("c"));
    await until("c", () => known(collector).includes("c live"));
    let stale = 0;
    world.api.fault = ({ verb }) => {
      if (verb !== "list" || stale > 0) return undefined;
      stale += 1;
      return { status: 200, body: { kind: "PodList", metadata: { resourceVersion: "101" }, items: [] } };
    };
    world.api.compact();
    world.api.resourceVersion += 1n;
    world.api.compact();
    world.api.breakWatches("end");
    await until("a further list", () => lists(world.api) === 3 && collector.status().unready === null);
    expect(stale).toBe(1);
    expect(known(collector)).toEqual(["a live", "b live", "c live"]);
    expect(collector.status().kinds[0]?.reflector.staleLists).toBe(1);
  });

  test("Failure 5, B26: versions that go back begin a new epoch: what the restored server has lives on", async () => {
    await using world = await bench((api) => {
      api.resourceVersion = 5000n;
      for (const uid of ["a", "b"]) api.put(PODS, pod(uid));
    });
    const { collector } = await world.start();
    await until("a watch", () => world.api.openWatches === 1);
    world.api.silently(() => {
      world.api.delete(PODS, "b");
      world.api.resourceVersion = 200n;
      world.api.put(PODS, pod("a", { note: "restored" }));
    });
    world.api.compact();
    world.api.fault = ({ verb, query }) =>
      verb === "watch" && (query.get("resourceVersion")?.length ?? 0) === 4
        ? { status: 410, body: fakeStatus(410, "Expired", "unknown version") }
        : undefined;
    world.api.breakWatches("reset");
    await until("the new epoch", () => gapReasons(collector).includes("restore"));
    await until("b's end", () => known(collector).includes("b gone relist last"));
    expect(known(collector)).toEqual(["a live", "b gone relist last"]);
    expect(collector.store.position("pods")).toMatchObject({ epoch: 1, resourceVersion: "201" });
    await until("a watch again", () => world.api.openWatches === 1);
    world.api.put(PODS, pod("c"));
    await until("c", () => known(collector).includes("c live"));
  });

  test("Failure 6, B33: a replay after the start changes nothing", async () => {
    await using world = await bench((api) => api.put(PODS, pod("a")));
    const { collector } = await world.start();
    await until("a watch", () => world.api.openWatches === 1);
    world.api.put(PODS, pod("a", { note: "1" }));
    await until("two updates", () => collector.store.query({}).records[0]?.updates === 2);
    const before = watches(world.api);
    world.api.breakWatches("end");
    await until("a watch again", () => watches(world.api) > before && world.api.openWatches === 1);
    world.api.put(PODS, pod("b"));
    await until("b", () => known(collector).includes("b live"));
    expect(collector.store.query({ name: "a" }).records[0]?.updates).toBe(2);
  });

  test("Failure 12, B22: a list that lacks most of what is known is read a second time before it counts", async () => {
    await using world = await bench((api) => {
      for (let index = 0; index < 60; index += 1) api.put(PODS, pod(`p${index}`));
    });
    const { collector } = await world.start();
    await until("all", () => known(collector).length === 60 && world.api.openWatches === 1);
    let empty = true;
    world.api.fault = ({ verb }) => {
      if (verb !== "list" || !empty) return undefined;
      empty = false;
      return { status: 200, body: { kind: "PodList", metadata: { resourceVersion: "900" }, items: [] } };
    };
    world.api.resourceVersion = 901n;
    world.api.compact();
    world.api.breakWatches("end");
    await until("a second list", () => lists(world.api) === 3 && collector.status().unready === null);
    expect(known(collector).filter((line) => line.endsWith("live"))).toHaveLength(60);
  });

  test("Failure 22, B11: bookmarks alone move the position, durably", async () => {
    await using world = await bench((api) => api.put(PODS, pod("a")));
    const { collector } = await world.start();
    await until("a watch", () => world.api.openWatches === 1);
    world.api.resourceVersion = 777n;
    world.api.bookmark();
    await until("the position", () => collector.store.position("pods")?.resourceVersion === "777");
    expect(known(collector)).toEqual(["a live"]);
  });

  test("Failure 17: what is no event and what has no identity is counted, never fatal", async () => {
    await using world = await bench((api) => api.put(PODS, pod("a")));
    let odd = true;
    world.api.fault = ({ verb }) => {
      if (verb !== "watch" || !odd) return undefined;
      odd = false;
      return {
        stream: (stream) => {
          stream.bytes('no json\n{"type":"ADDED","object":{"metadata":{}}}\n{"type":"WHAT","object":{}}\n[]\n');
          stream.event("ADDED", { metadata: { uid: "named-not", resourceVersion: "150" } });
          stream.end();
        },
      };
    };
    const { collector } = await world.start();
    await until("a watch", () => world.api.openWatches === 1);
    world.api.resourceVersion = 160n;
    world.api.put(PODS, pod("b", { name: "\u0000 \ud800", note: "__proto__" }));
    await until("b", () => known(collector).includes("b live"));
    expect(collector.status().kinds[0]?.reflector.malformed).toBeGreaterThanOrEqual(4);
    expect(collector.status().unready).toBeNull();
  });
});

describe("stop and start", () => {
  test("B52: a restart goes on from where it stood: no list, and what went meanwhile is exact", async () => {
    await using world = await bench((api) => api.put(PODS, pod("a")));
    const first = await world.start();
    await until("a watch", () => world.api.openWatches === 1);
    world.api.put(PODS, pod("b"));
    await until("b", () => known(first.collector).includes("b live"));
    await first.stop();
    world.api.put(PODS, pod("c"));
    world.api.delete(PODS, "c");
    world.api.delete(PODS, "a");
    const { collector } = await world.start();
    await until("a's end", () => known(collector).includes("a gone watch exact"));
    expect(known(collector)).toEqual(["a gone watch exact", "b live", "c gone watch exact"]);
    expect(lists(world.api)).toBe(1);
    expect(gapReasons(collector)).toEqual([]);
  });

  test("B23: away for longer than the server remembers: a list, a gap of the restart, ends with bounds", async () => {
    await using world = await bench((api) => {
      for (const uid of ["a", "b"]) api.put(PODS, pod(uid));
    });
    const first = await world.start();
    await until("both", () => known(first.collector).length === 2 && world.api.openWatches === 1);
    await first.stop();
    world.api.delete(PODS, "a");
    world.api.compact();
    const { collector } = await world.start();
    await until("a's end", () => known(collector).includes("a gone relist last"));
    expect(known(collector)).toEqual(["a gone relist last", "b live"]);
    expect(gapReasons(collector)).toEqual(["restart"]);
  });

  test("Failure 9, F17: received and durable, not yet in the store when the process ended: known to the next list", async () => {
    await using world = await bench((api) => api.put(PODS, pod("a")));
    const first = await world.start({ flushMilliseconds: 5000 });
    await until("a watch", () => world.api.openWatches === 1);
    world.api.put(PODS, pod("b"));
    await until("b in the queue", () => first.collector.queue.status().durable >= 3);
    await first.stop();
    world.api.silently(() => world.api.delete(PODS, "b"));
    world.api.compact();
    const { collector } = await world.start();
    await until("b's end", () => known(collector).includes("b gone relist last"));
  });

  test("B26: another cluster behind the same folder is refused", async () => {
    await using world = await bench();
    const client = createApiClient({ target: tokenTarget({ server: world.api.url }) });
    let uid = "one";
    world.api.fault = ({ path }) =>
      path === "/api/v1/namespaces"
        ? { status: 200, body: { items: [{ metadata: { uid, name: "kube-system" } }] } }
        : undefined;
    const { signal } = new AbortController();
    await checkCluster(client, world.folder.path, signal);
    await checkCluster(client, world.folder.path, signal);
    uid = "two";
    await expect(checkCluster(client, world.folder.path, signal)).rejects.toMatchObject({ code: "TRAWLER_REFUSED" });
    client[Symbol.dispose]();
  });
});

describe("kinds", () => {
  const JOBS = "/apis/batch/v1/jobs";
  const kinds = [
    kindSpec({ apiVersion: "v1", resource: "pods", kind: "Pod" }),
    kindSpec({ apiVersion: "batch/v1", resource: "jobs", kind: "Job", required: false }),
  ];

  test("Failure 20, B17: a kind that the role does not allow stops no other, and says why", async () => {
    await using world = await bench((api) => api.put(PODS, pod("a")));
    world.api.fault = ({ path }) =>
      path === JOBS ? { status: 403, body: fakeStatus(403, "Forbidden", "jobs is forbidden") } : undefined;
    const { collector } = await world.start({ kinds });
    await until("a", () => known(collector).includes("a live"));
    const jobs = () => collector.status().kinds.find(({ stream }) => stream === "jobs.batch");
    await until("the reason", () => jobs()?.state === "away");
    expect(jobs()?.reason).toContain("403");
    expect(collector.status().unready).toBeNull();
  });

  test("B50: a required kind that is away makes it not ready, by its name", async () => {
    await using world = await bench((api) => api.put(PODS, pod("a")));
    const { collector } = await world.start();
    await until("ready", () => collector.status().unready === null);
    await world.api.stop();
    await until("not ready", () => collector.status().unready?.startsWith("pods ") === true);
    await world.api.start();
    await until("ready again", () => collector.status().unready === null);
    expect(lists(world.api)).toBe(1);
  });

  test("B39, B41: a refresh is one request, carries the object, and touches nothing else", async () => {
    await using world = await bench((api) => {
      api.put(PODS, pod("a"));
      api.put(PODS, pod("b"));
      api.put("/api/v1/namespaces/shop/pods", pod("a", { note: "newer" }));
    });
    const { collector } = await world.start();
    await until("both", () => known(collector).length === 2);
    const before = world.api.requests.length;
    const { signal } = new AbortController();
    expect(await collector.refresh({ kind: "pod", namespace: "shop", name: "a" }, signal)).toBe("a");
    expect(world.api.requests).toHaveLength(before + 1);
    expect(collector.store.query({ name: "a" }).records[0]?.annotations["note"]).toBe("newer");
    expect(known(collector)).toEqual(["a live", "b live"]);
    for (const target of [
      { kind: "Pod", namespace: "shop", name: "nobody" },
      { kind: "Pod", namespace: "shop", name: "../../secrets" },
      { kind: "Secret", namespace: "shop", name: "a" },
    ]) {
      await expect(collector.refresh(target, signal)).rejects.toMatchObject({ code: "TRAWLER_UNSUPPORTED" });
    }
  });

  test("B46: managed fields and kubectl's copy are not carried", async () => {
    const LAST = "kubectl.kubernetes.io/last-applied-configuration";
    await using world = await bench((api) => {
      const made = pod("a");
      const metadata = {
        ...made.metadata,
        managedFields: [{ manager: "x" }],
        annotations: { [LAST]: "{}", kept: "yes" },
      };
      api.put(PODS, { ...made, metadata });
    });
    const { collector } = await world.start();
    await until("a", () => known(collector).includes("a live"));
    const queued = await collector.queue.read(0, 10).catch(() => []);
    const [detail] = collector.store.show("a");
    expect(JSON.stringify([queued, detail?.object])).not.toContain("managedFields");
    expect(detail?.annotations).toEqual({ kept: "yes" });
  });
});

describe("B9: the first list as a stream", () => {
  test("the same records, and a deletion that came with it is exact; a restart asks for no list", async () => {
    await using world = await bench((api) => {
      for (const uid of ["a", "b", "c"]) api.put(PODS, pod(uid));
      let first = true;
      api.fault = ({ query }) => {
        if (query.get("sendInitialEvents") !== "true" || !first) return undefined;
        first = false;
        const meta = (uid: string, resourceVersion: string) => ({
          ...pod(uid, { phase: "Failed", exit: 3 }),
          metadata: { uid, name: uid, namespace: "shop", resourceVersion },
        });
        return {
          stream: (stream) => {
            for (const uid of ["a", "b", "c"]) stream.event("ADDED", meta(uid, "101"));
            stream.event("DELETED", meta("b", "104"));
            const annotations = { "k8s.io/initial-events-end": "true" };
            stream.event("BOOKMARK", { kind: "Pod", metadata: { resourceVersion: "104", annotations } });
          },
        };
      };
    });
    const tuning = { streamingList: "auto" } as const;
    const first = await world.start({ tuning });
    await until("all", () => known(first.collector).length === 3 && known(first.collector).join().includes("gone"));
    expect(known(first.collector)).toEqual(["a live", "b gone watch exact", "c live"]);
    await until("a watch", () => world.api.openWatches === 1);
    await first.stop();
    const asked = world.api.requests.length;
    const second = await world.start({ tuning });
    await until("a watch", () => world.api.openWatches === 1);
    expect(lists(world.api)).toBe(0);
    expect(world.api.requests.slice(asked).some(({ query }) => query.has("sendInitialEvents"))).toBe(false);
    expect(second.collector.store.gaps()).toEqual([]);
  });
});
