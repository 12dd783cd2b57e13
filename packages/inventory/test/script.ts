import type { ObjectEvent } from "../src/index.ts";
import { object } from "./harness.ts";

/** Numbers in [0, 1) that are the same for the same seed. */
export function numbers(seed: number): () => number {
  let state = seed >>> 0 || 1;
  return () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) / 2 ** 32;
  };
}

/** What a cluster does: pods come, change and go, many within a few events. The version of event i is i + 1. */
export function script(seed: number, length: number): readonly ObjectEvent[] {
  const random = numbers(seed);
  const alive: { readonly uid: string; readonly name: string; restarts: number }[] = [];
  const events: ObjectEvent[] = [];
  let born = 0;
  while (events.length < length) {
    const version = events.length + 1;
    const index = Math.floor(random() * alive.length);
    const pod = alive[index];
    if (pod === undefined || random() < 0.35) {
      born += 1;
      const next = { uid: `u${born}`, name: `p${born % 97}-${born}`, restarts: 0 };
      alive.push(next);
      events.push(object("added", next.uid, version, { name: next.name, node: null, phase: "Pending" }));
    } else if (random() < 0.5) {
      pod.restarts += random() < 0.3 ? 1 : 0;
      events.push(object("modified", pod.uid, version, { name: pod.name, restarts: pod.restarts }));
    } else {
      alive.splice(index, 1);
      const exit = Math.floor(random() * 200);
      events.push(
        object("deleted", pod.uid, version, { name: pod.name, restarts: pod.restarts, exit, phase: "Failed" }),
      );
    }
  }
  return events;
}

export interface Expected {
  readonly uid: string;
  readonly updates: number;
  readonly resourceVersion: string | null;
  readonly gone: boolean;
  readonly exitCode: number | null;
}

/** What must be known afterwards, by the simplest means. */
export function oracle(events: readonly ObjectEvent[]): readonly Expected[] {
  const known = new Map<string, Expected>();
  for (const { uid, type, resourceVersion, payload } of events) {
    const text = new TextDecoder().decode(payload);
    const exit = /"exitCode":(\d+)/.exec(text)?.[1];
    known.set(uid, {
      uid,
      updates: (known.get(uid)?.updates ?? 0) + 1,
      resourceVersion,
      gone: type === "deleted",
      exitCode: exit === undefined ? null : Number(exit),
    });
  }
  return [...known.values()].sort((a, b) => a.uid.localeCompare(b.uid));
}
