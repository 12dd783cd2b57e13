import { describe, expect, test } from "vitest";
import { absent, bytes, type OpenLedger, object, pod } from "../harness.ts";

/** What a store makes of events. */
export function recordsContract(open: OpenLedger): void {
  describe("identity", () => {
    test("B1, Failure 10: the same name with a new UID is a new record, and the old one is closed as replaced", async () => {
      await using book = await open();
      await book.apply(object("listed", "u1", 10, { name: "web-0" }));
      await book.apply(object("listed", "u2", 20, { name: "web-0" }));
      const [old] = await book.store.show("u1");
      expect(old?.end).toMatchObject({ evidence: "replaced", finalState: "last" });
      expect(old?.end?.notBefore).toBe(1_800_000_000_010);
      expect((await book.store.query({})).records.map(({ uid }) => uid)).toEqual(["u2"]);
    });

    test("B1: a deletion that arrives after the replacement makes the end exact", async () => {
      await using book = await open();
      await book.apply(object("added", "u1", 10, { name: "web-0" }), object("added", "u2", 20, { name: "web-0" }));
      await book.apply(object("deleted", "u1", 15, { name: "web-0", exit: 3 }));
      expect((await book.store.show("u1"))[0]).toMatchObject({
        exitCode: 3,
        end: { evidence: "watch", finalState: "exact" },
      });
    });

    test("B2, B31, B32: created and deleted inside one batch leaves one record with its final state", async () => {
      await using book = await open();
      await book.apply(
        object("added", "u1", 10, { node: null, phase: "Pending" }),
        object("modified", "u1", 11),
        object("deleted", "u1", 12, { exit: 7, phase: "Failed" }),
      );
      const [record] = await book.store.show("u1");
      expect(record).toMatchObject({
        exitCode: 7,
        phase: "Failed",
        node: "node-a",
        updates: 3,
        firstSeenAt: 1_800_000_000_010,
        end: { evidence: "watch", finalState: "exact", observedAt: 1_800_000_000_012 },
      });
      expect(record?.containers).toMatchObject([
        { container: "main", exitCode: 7, reason: "Error", finishedAt: "2026-01-01T00:00:03Z" },
      ]);
      expect(record?.transitions.map(({ what }) => what)).toEqual([
        "phase Pending",
        "main: running",
        "phase Running",
        "node node-a",
        "phase Failed",
        "main: terminated Error exit 7",
        "deleted",
      ]);
    });

    test("B2, F14: a deletion alone, of an object never seen, is a record", async () => {
      await using book = await open();
      await book.apply(object("deleted", "u1", 12, { exit: 0 }));
      expect(await book.store.show("u1")).toMatchObject([
        { exitCode: 0, end: { evidence: "watch", finalState: "exact" } },
      ]);
    });

    test("B3: a deleted UID is never opened again, and the late event is counted", async () => {
      await using book = await open();
      await book.apply(object("added", "u1", 10), object("deleted", "u1", 12), object("modified", "u1", 11));
      await book.apply(object("modified", "u1", 13), object("added", "u1", 14));
      expect(await book.store.show("u1")).toMatchObject([{ end: { evidence: "watch" }, resourceVersion: "12" }]);
      expect(await book.store.status()).toMatchObject({ staleIgnored: 3, live: 0, deleted: 1 });
    });

    test("B4: init containers, restarts, addresses, owner and resources stay with a deleted pod", async () => {
      await using book = await open();
      const whole = {
        kind: "Pod",
        metadata: {
          uid: "u1",
          name: "db-0",
          namespace: "shop",
          resourceVersion: "9",
          creationTimestamp: "2026-01-01T00:00:00Z",
          deletionTimestamp: "2026-01-01T00:05:30Z",
          deletionGracePeriodSeconds: 30,
          labels: { app: "db" },
          ownerReferences: [{ kind: "StatefulSet", name: "db", uid: "o1", controller: true, apiVersion: "apps/v1" }],
        },
        spec: {
          nodeName: "node-b",
          serviceAccountName: "db",
          initContainers: [{ name: "prepare", image: "busybox" }],
          containers: [{ name: "main", image: "db:1", resources: { requests: { cpu: "250m", memory: "64Mi" } } }],
          ephemeralContainers: [{ name: "debug", image: "tools" }],
        },
        status: {
          phase: "Failed",
          qosClass: "Burstable",
          podIPs: [{ ip: "10.0.0.7" }],
          hostIP: "192.0.2.1",
          initContainerStatuses: [
            {
              name: "prepare",
              containerID: "containerd://i1",
              restartCount: 0,
              state: { terminated: { exitCode: 0 } },
            },
          ],
          containerStatuses: [
            {
              name: "main",
              containerID: "containerd://c3",
              restartCount: 2,
              state: { terminated: { exitCode: 137, reason: "OOMKilled" } },
              lastState: { terminated: { exitCode: 1, reason: "Error", containerID: "containerd://c2" } },
            },
          ],
        },
      };
      await book.apply(object("deleted", "u1", 9, { payload: bytes(whole) }));
      const [record] = await book.store.show("u1");
      expect(record).toMatchObject({
        name: "db-0",
        node: "node-b",
        owners: [{ kind: "StatefulSet", name: "db" }],
        serviceAccount: "db",
        qosClass: "Burstable",
        podIps: ["10.0.0.7"],
        hostIps: ["192.0.2.1"],
        labels: { app: "db" },
        exitCode: 137,
        deletionTimestamp: "2026-01-01T00:05:30Z",
        deletionGraceSeconds: 30,
        resources: { main: { cpuRequest: 0.25, memoryRequest: 67_108_864, cpuLimit: null } },
      });
      expect(record?.containers.map(({ container, type }) => [container, type])).toEqual([
        ["prepare", "init"],
        ["main", "app"],
        ["debug", "ephemeral"],
      ]);
      expect(record?.instances.map(({ id, exitCode }) => [id, exitCode])).toEqual([
        ["c2", 1],
        ["i1", 0],
        ["c3", 137],
      ]);
    });

    test("B5, F12, Failure 27: a deletion timestamp is not an end", async () => {
      await using book = await open();
      await book.apply(object("modified", "u1", 10, { metadata: { deletionTimestamp: "2036-01-01T00:00:00Z" } }));
      const [record] = await book.store.show("u1");
      expect(record?.end).toBeNull();
      expect(record?.deletionTimestamp).toBe("2036-01-01T00:00:00Z");
      await book.apply(object("deleted", "u1", 11, { receivedAt: 1_900_000_000_000 }));
      expect((await book.store.show("u1"))[0]?.end?.observedAt).toBe(1_900_000_000_000);
    });

    test("each run of a container that restarts is kept once, the first and the latest of many", async () => {
      await using book = await open();
      for (let run = 0; run < 300; run += 1) {
        await book.apply(
          object("modified", "u1", 10 + 2 * run, { restarts: run }),
          object("modified", "u1", 11 + 2 * run, { restarts: run, exit: 1 }),
        );
      }
      const [record] = await book.store.show("u1");
      const runs = record?.instances.map(({ restarts }) => restarts) ?? [];
      expect(runs.length).toBe(128);
      expect(runs.slice(0, 3)).toEqual([0, 1, 2]);
      expect(runs.at(-1)).toBe(299);
      expect(record?.transitions.length).toBe(128);
    });
  });

  describe("order", () => {
    test("B33, Failure 6, Failure 7: a replay changes nothing, an older version is ignored and counted", async () => {
      await using book = await open();
      await book.apply(object("added", "u1", 9), object("modified", "u1", 10, { phase: "Running" }));
      const before = await book.store.show("u1");
      await book.apply(
        object("added", "u1", 9, { phase: "Pending" }),
        object("modified", "u1", 10, { phase: "Failed" }),
      );
      expect(await book.store.show("u1")).toEqual(before);
      expect((await book.store.status()).staleIgnored).toBe(1);
    });

    test("B33, F9: versions above 2^53 are compared exactly", async () => {
      await using book = await open();
      await book.apply(object("added", "u1", "90071992547409930", { receivedAt: 1 }));
      await book.apply(object("modified", "u1", "90071992547409931", { receivedAt: 2, phase: "Failed" }));
      await book.apply(object("modified", "u1", "90071992547409929", { receivedAt: 3, phase: "Pending" }));
      expect(await book.store.show("u1")).toMatchObject([{ phase: "Failed", resourceVersion: "90071992547409931" }]);
    });

    test("B42: a list neither downgrades a newer record nor takes away one that is newer than it", async () => {
      await using book = await open();
      await book.apply(object("modified", "u1", 500, { phase: "Failed" }));
      await book.apply(object("listed", "u1", 450, { phase: "Running" }), absent("u1", 450, 1, 2));
      expect(await book.store.show("u1")).toMatchObject([{ phase: "Failed", end: null }]);
      expect((await book.store.status()).staleIgnored).toBe(2);
    });

    test("B20, F16, Failure 8: absent from a later list: closed with its last state and with bounds", async () => {
      await using book = await open();
      await book.apply(object("added", "u1", 10));
      await book.apply(absent("u1", 40, 1_800_000_001_000, 1_800_000_009_000));
      expect((await book.store.show("u1"))[0]?.end).toEqual({
        observedAt: 1_800_000_009_000,
        evidence: "relist",
        finalState: "last",
        notBefore: 1_800_000_001_000,
        notAfter: 1_800_000_009_000,
      });
    });

    test("Failure 9, F17: closed by a relist though it was only in the same batch", async () => {
      await using book = await open();
      await book.apply(object("added", "u1", 10), absent("u1", 40, 100, 200));
      expect(await book.store.status()).toMatchObject({ live: 0, deleted: 1 });
    });

    test("a conclusion from a list gives way to the server's word that the object lives", async () => {
      await using book = await open();
      await book.apply(object("added", "u1", 10), absent("u1", 40, 100, 200));
      await book.apply(object("modified", "u1", 39));
      expect((await book.store.show("u1"))[0]?.end?.evidence).toBe("relist");
      await book.apply(object("modified", "u1", 41));
      expect((await book.store.show("u1"))[0]?.end).toBeNull();
    });

    test("Failure 26: force-deleted and created again at once: two records in order", async () => {
      await using book = await open();
      await book.apply(
        object("added", "u1", 10, { name: "web-0" }),
        object("deleted", "u1", 11, { name: "web-0", exit: 137 }),
        object("added", "u2", 12, { name: "web-0" }),
      );
      expect(
        (await book.store.query({ between: [0, 9e15] })).records.map(({ uid, end }) => [uid, end?.evidence]),
      ).toEqual([
        ["u2", undefined],
        ["u1", "watch"],
      ]);
    });

    test("Failure 28: pods absent with their node gone say so", async () => {
      await using book = await open();
      const node = bytes({ kind: "Node", metadata: { uid: "n1", name: "node-a", resourceVersion: "5" } });
      await book.apply(object("listed", "n1", 5, { kind: "Node", stream: "nodes", payload: node }));
      await book.apply(object("added", "u1", 10), object("added", "u2", 11, { node: "node-b" }));
      await book.apply(object("deleted", "n1", 20, { kind: "Node", stream: "nodes", payload: node }));
      await book.apply(absent("u1", 40, 1, 2), absent("u2", 40, 1, 2));
      expect((await book.store.show("u1"))[0]?.end?.evidence).toBe("node");
      expect((await book.store.show("u2"))[0]?.end?.evidence).toBe("relist");
    });
  });

  describe("positions", () => {
    test("B10, F5, F19: items of a list do not move the position; its end, watch events and bookmarks do", async () => {
      await using book = await open();
      await book.apply(object("listed", "u1", 300), object("listed", "u2", 200));
      expect(await book.store.position("pods")).toBeNull();
      const at = { stream: "pods", epoch: 0, receivedAt: 5 };
      await book.apply({ ...at, type: "synced", resourceVersion: "310", asOf: 3 });
      await book.apply(object("modified", "u1", 320), object("modified", "u2", 315));
      // Not as of the event: others that happened before it arrived may follow it.
      expect(await book.store.position("pods")).toMatchObject({ resourceVersion: "320", asOf: 3 });
      await book.apply({ ...at, type: "bookmark", resourceVersion: "400", asOf: 4 });
      expect(await book.store.position("pods")).toEqual({
        stream: "pods",
        resourceVersion: "400",
        epoch: 0,
        asOf: 4,
      });
      expect([...(await book.store.known("Pod"))]).toEqual([
        { uid: "u1", resourceVersion: "320" },
        { uid: "u2", resourceVersion: "315" },
      ]);
    });

    test("B26, F10, Failure 5: after a restored etcd older versions count again, and the position goes back with them", async () => {
      await using book = await open();
      const at = { stream: "pods", receivedAt: 5 };
      await book.apply(object("listed", "u1", 900), object("listed", "u2", 901), {
        ...at,
        epoch: 0,
        type: "synced",
        resourceVersion: "1000",
        asOf: 5,
      });
      await book.apply(object("deleted", "u2", 950));
      await book.apply(
        object("listed", "u1", 500, { epoch: 1, phase: "Failed" }),
        object("listed", "u2", 501, { epoch: 1 }),
        {
          ...at,
          epoch: 1,
          type: "synced",
          resourceVersion: "600",
          asOf: 5,
        },
      );
      expect(await book.store.show("u1")).toMatchObject([
        { epoch: 0, phase: "Failed", resourceVersion: "500", end: null },
      ]);
      expect(await book.store.show("u2")).toMatchObject([
        { epoch: 0, end: { evidence: "watch" } },
        { epoch: 1, end: null },
      ]);
      expect(await book.store.position("pods")).toMatchObject({ resourceVersion: "600", epoch: 1 });
    });
  });

  describe("hostile objects", () => {
    test("B34, Failure 17: what cannot be understood is set aside, its identity stays, and the rest is applied", async () => {
      await using book = await open();
      await book.apply(
        object("added", "u1", 10),
        object("added", "bad1", 11, { payload: bytes('{"metadata":{"uid":"bad1"') }),
        object("added", "bad2", 12, { payload: bytes({ metadata: { uid: "bad2", name: 7 } }) }),
        object("added", "bad3", 13, { payload: bytes("[]") }),
        object("added", "u2", 14, { name: "a\u0000b" }),
        object("added", "u3", 15, { metadata: { labels: { ["__proto__"]: "x", constructor: "y", lone: "\ud800" } } }),
      );
      expect(await book.store.status()).toMatchObject({ quarantined: 3, live: 6 });
      expect(await book.store.show("bad1")).toMatchObject([{ uid: "bad1", name: "bad1", truncated: true }]);
      expect(Object.keys((await book.store.show("u3"))[0]?.labels ?? {})).toContain("constructor");
    });

    test("Failure 17: NUL, halves of surrogate pairs and prototypes are kept as they are, in whatever field", async () => {
      await using book = await open();
      const odd = "a\u0000b\ud800c\u001a";
      const labels = { [odd]: odd, ["__proto__"]: "x", big: "9007199254740993" };
      const owner = { kind: odd, name: odd, uid: "o" };
      const uid = "a\u0000b\u001a";
      await book.apply(
        object("added", uid, 1, {
          name: odd,
          node: odd,
          owner,
          metadata: { namespace: odd, labels, generation: 2 ** 60 },
        }),
        object("added", '\u001a"plain"', 2, { name: "plain" }),
      );
      expect((await book.store.query({ name: odd, node: odd, namespace: odd })).records).toMatchObject([
        { uid, name: odd, node: odd, namespace: odd, owners: [owner] },
      ]);
      expect((await book.store.show(uid))[0]?.labels).toEqual({ ...labels });
      expect((await book.store.query({ owner: { kind: odd, name: odd } })).records).toHaveLength(1);
      expect([...(await book.store.known("Pod"))].map((one) => one.uid).sort()).toEqual(['\u001a"plain"', uid].sort());
      await book.apply(object("deleted", uid, 3, { name: odd, metadata: { namespace: odd } }));
      expect((await book.store.feed(null, 10)).entries.map((one) => one.uid)).toContain(uid);
      expect(await book.store.purge({ days: 0, rows: 0 }, 9e15, 10)).toBe(1);
      expect((await book.store.feed(null, 10)).entries.find((one) => one.uid === uid)).toMatchObject({ record: null });
      expect(await book.store.status()).toMatchObject({ live: 1, deleted: 0, quarantined: 0 });
    });

    test("Failure 16: an object of 3 MB comes back as it was", async () => {
      await using book = await open();
      const spec = { blob: Array.from({ length: 60_000 }, (_, index) => `${index} \u0000 ${Math.sqrt(index)} ü`) };
      const large = bytes({ kind: "Widget", metadata: { uid: "w", name: "w", resourceVersion: "1" }, spec });
      expect(large.length).toBeGreaterThan(1.9e6);
      await book.apply(object("added", "w", 1, { kind: "Widget", stream: "widgets", payload: large }));
      expect((await book.store.show("w"))[0]?.object?.["spec"]).toEqual(spec);
    });

    test("B43: absurd times neither order nor end anything", async () => {
      await using book = await open();
      await book.apply(object("added", "u1", 10, { createdAt: "9999-12-31T23:59:59Z" }));
      await book.apply(object("added", "u2", 11, { createdAt: "0001-01-01T00:00:00Z" }));
      await book.apply(object("added", "u3", 12, { createdAt: "yesterday" }));
      expect((await book.store.query({ between: [1_800_000_000_010, 1_800_000_000_020] })).records.length).toBe(3);
    });

    test("B45: an object too large to keep leaves its identity", async () => {
      await using book = await open();
      await book.apply(object("added", "u1", 10, { payload: new Uint8Array(0), truncated: true }));
      await book.apply(object("deleted", "u1", 11, { payload: new Uint8Array(0), truncated: true }));
      expect(await book.store.show("u1")).toMatchObject([{ truncated: true, end: { finalState: "last" } }]);
      expect((await book.store.status()).quarantined).toBe(0);
    });

    test("B46, B48: managed fields, the last applied configuration and values of variables are not kept", async () => {
      await using book = await open();
      await book.apply(
        object("added", "u1", 10, {
          env: [
            { name: "PASSWORD", value: "hunter2" },
            { name: "IP", valueFrom: { fieldRef: { fieldPath: "status.podIP" } } },
          ],
          metadata: {
            managedFields: [{ manager: "kubectl" }],
            annotations: {
              "kubectl.kubernetes.io/last-applied-configuration": '{"password":"hunter2"}',
              long: "x".repeat(10_000),
            },
          },
        }),
      );
      const text = JSON.stringify(await book.store.show("u1"));
      expect(text).not.toContain("hunter2");
      expect(text).not.toContain("managedFields");
      expect(text).toContain("PASSWORD");
      expect(text).toContain("status.podIP");
      expect(text.length).toBeLessThan(20_000);
    });

    test("Failure 16: objects above 64 KiB stand out of line, once, and go with the last record that holds them", async () => {
      await using book = await open();
      const spec = { blob: "abcdefgh".repeat(20_000) };
      const large = (version: number): Uint8Array =>
        bytes({
          kind: "Widget",
          metadata: { uid: "same", name: "w", resourceVersion: "1" },
          spec: { ...spec, version },
        });
      const shape = { kind: "Widget", stream: "widgets" };
      await book.apply(
        object("added", "w1", 1, { ...shape, payload: large(1) }),
        object("added", "w2", 2, { ...shape, payload: large(1) }),
      );
      const [one] = await book.store.show("w1");
      expect(one?.payload).toMatch(/^[0-9a-f]{64}$/);
      expect((await book.store.show("w2"))[0]?.payload).toBe(one?.payload);
      expect(one?.object?.["spec"]).toMatchObject(spec);
      await book.apply(object("deleted", "w1", 3, { ...shape, payload: large(2) }));
      expect((await book.store.show("w2"))[0]?.object).not.toBeNull();
      expect(await book.store.purge({ days: 0, rows: 0 }, 9e15, 100)).toBe(1);
      expect((await book.store.show("w2"))[0]?.object).not.toBeNull();
    });
  });

  test("a pod that runs again under the same UID shows what it is now", async () => {
    await using book = await open();
    await book.apply(
      object("added", "u1", 1),
      object("modified", "u1", 2, { payload: bytes(pod("u1", 2, { exit: 0 })) }),
    );
    expect((await book.store.query({})).records).toMatchObject([{ uid: "u1", exitCode: 0, end: null }]);
  });
}
