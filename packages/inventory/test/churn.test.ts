import { type FakeAnswer, fakeStatus } from "@trawler/testkit";
import { describe, expect, test } from "vitest";
import type { Gap } from "../src/index.ts";
import { bench, known, PODS, pod, until } from "./collector-harness.ts";
import { numbers } from "./script.ts";

interface Life {
  readonly made: number;
  gone: number | null;
  /** The server's versions: the last one before it was made, and that of its end. */
  readonly from: bigint;
  to: bigint | null;
}

/** Whether all of it was within the gap: by our clock, as a query asks, and by the server's versions, which are exact. */
function lies({ made, gone, from, to }: Life, gap: Gap): boolean {
  if (gone === null || to === null || gap.fromVersion === null || gap.toVersion === null) return false;
  const byVersion = BigInt(gap.fromVersion) <= from && to <= BigInt(gap.toVersion);
  return byVersion && gap.from <= made && gone <= gap.to;
}

describe("B57: a churn of short lives", () => {
  test.each([1, 2, 3])(
    "resets, half lines, mute watches and 410s (seed %i): each pod has one record, or lies in a gap",
    { timeout: 120_000 },
    async (seed) => {
      await using world = await bench();
      const random = numbers(seed);
      const lives = new Map<string, Life>();
      const faults: readonly (() => FakeAnswer)[] = [
        () => ({ reset: true }),
        () => ({ stream: () => {} }),
        () => ({ status: 410, body: fakeStatus(410, "Expired", "too old resource version") }),
        () => ({ status: 429, headers: { "retry-after": "0" } }),
        () => ({
          stream: (stream) => {
            stream.bytes('{"type":"ADDED","object":{"metadata":{"uid":"ha');
            stream.reset();
          },
        }),
      ];
      let running = await world.start({ tuning: { idleTimeout: 40 } });
      // What was before the first list was never to be known.
      await until("a watch", () => world.api.openWatches === 1);
      world.api.fault = ({ verb }) =>
        verb === "watch" && random() < 0.4 ? faults[Math.floor(random() * faults.length)]?.() : undefined;
      const alive: string[] = [];
      for (let step = 0; step < 400; step += 1) {
        const uid = random() < 0.5 ? undefined : alive.splice(Math.floor(random() * alive.length), 1)[0];
        if (uid === undefined) {
          const made = `u${lives.size}`;
          lives.set(made, { made: Date.now(), from: world.api.resourceVersion, gone: null, to: null });
          alive.push(made);
          world.api.put(PODS, pod(made));
        } else {
          world.api.put(PODS, pod(uid, { phase: "Failed", exit: 1 }));
          world.api.delete(PODS, uid);
          const life = lives.get(uid);
          if (life !== undefined) Object.assign(life, { gone: Date.now(), to: world.api.resourceVersion });
        }
        if (random() < 0.2) world.api.bookmark();
        if (random() < 0.05) world.api.breakWatches(random() < 0.5 ? "end" : "reset");
        if (step % 150 === 149) {
          await running.stop();
          running = await world.start({ tuning: { idleTimeout: 40 } });
        }
        if (random() < 0.1) await new Promise((resolve) => setTimeout(resolve, 1));
      }
      world.api.fault = null;
      const { collector } = running;
      const recorded = (): ReadonlyMap<string, string> =>
        new Map(known(collector).map((line) => [line.split(" ")[0] ?? "", line.includes(" live") ? "live" : "gone"]));
      const unexplained = (): readonly string[] => {
        const records = recorded();
        const gaps = collector.store.gaps();
        return [...lives].flatMap(([uid, life]) => {
          const state = records.get(uid);
          if (state === (life.gone === null ? "live" : "gone")) return [];
          return state === undefined && gaps.some((gap) => lies(life, gap)) ? [] : [`${uid} ${state ?? "missing"}`];
        });
      };
      await until("every pod to be explained", () => unexplained().length === 0).catch(() => undefined);
      expect(unexplained()).toEqual([]);
      expect(known(collector)).toHaveLength(recorded().size);
      expect(collector.status().writer.quarantined).toBe(0);
    },
  );
});

describe("whatever goes wrong by chance (Failure 1, 2, 3, 4, 29, 30)", () => {
  test.each([11, 12, 13])(
    "B2, B25, F20: what was ever put on the wire is recorded to its last version, or lies in a gap (seed %i)",
    { timeout: 120_000 },
    async (seed) => {
      await using world = await bench();
      const random = numbers(seed);
      const { collector } = await world.start({ tuning: { idleTimeout: 300 } });
      await until("a watch", () => world.api.openWatches === 1);
      world.api.chaos = { seed, every: 8 };
      const lives = new Map<string, Life>();
      const alive: string[] = [];
      for (let step = 0; step < 400; step += 1) {
        const uid = random() < 0.5 ? undefined : alive.splice(Math.floor(random() * alive.length), 1)[0];
        if (uid === undefined) {
          alive.push(`u${step}`);
          lives.set(`u${step}`, { made: Date.now(), from: world.api.resourceVersion, gone: null, to: null });
          world.api.put(PODS, pod(`u${step}`));
        } else {
          world.api.put(PODS, pod(uid, { phase: "Failed", exit: 1 }));
          world.api.delete(PODS, uid);
          Object.assign(lives.get(uid) ?? {}, { gone: Date.now(), to: world.api.resourceVersion });
        }
        // Now and then it is given the time to catch up, so that not all of it is one gap.
        if (random() < 0.05) await until("a watch", () => world.api.openWatches === 1);
      }
      world.api.chaos = null;
      const unexplained = (): readonly string[] => {
        const { records } = collector.store.query({ between: [0, 9e15], limit: 100_000 });
        const known = new Map(records.map((record) => [record.uid, record]));
        const gaps = collector.store.gaps();
        return [...world.api.told].flatMap(([uid, { last, deleted }]) => {
          const record = known.get(uid);
          // One that a list found gone stands as it was last received; its end is in the gap before that list.
          const isRelisted = record?.end?.evidence === "relist" && gaps.length > 0;
          const isWhole = isRelisted || BigInt(record?.resourceVersion ?? 0) >= last;
          if (record !== undefined && isWhole && (record.end !== null || !deleted)) return [];
          const life = lives.get(uid);
          const inGap = life !== undefined && gaps.some((gap) => lies(life, gap));
          if (record === undefined && inGap) return [];
          return [`${uid} told to ${last}, deleted ${deleted}: ${record?.resourceVersion} ${record?.end?.evidence}`];
        });
      };
      await until("every object to be explained", () => unexplained().length === 0).catch(() => undefined);
      expect(unexplained()).toEqual([]);
      expect(world.api.told.size).toBeGreaterThan(10);
      const { watches } = collector.status().kinds[0]?.reflector ?? { watches: 0 };
      expect(watches).toBeGreaterThan(1);
    },
  );
});
