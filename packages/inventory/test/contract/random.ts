import { expect, test } from "vitest";
import type { ObjectEvent, RecordDetail } from "../../src/index.ts";
import type { OpenLedger } from "../harness.ts";
import { numbers, oracle, script } from "../script.ts";

const everything = { between: [0, 9e15], limit: 100_000 } as const;

/** The same events with earlier ones said again here and there, as reconnects and lists do. */
function replayed(events: readonly ObjectEvent[], random: () => number): readonly ObjectEvent[] {
  return events.flatMap((event, index) => {
    if (random() > 0.2) return [event];
    const from = Math.max(0, index - Math.floor(random() * 30));
    return [event, ...events.slice(from, index + 1)];
  });
}

async function apply(open: OpenLedger, events: readonly ObjectEvent[], size: () => number) {
  await using book = await open();
  for (let at = 0; at < events.length; ) {
    const count = Math.max(1, Math.floor(size()));
    await book.apply(...events.slice(at, at + count));
    at += count;
  }
  const { records } = await book.store.query(everything);
  const details: RecordDetail[] = [];
  for (const { uid } of records) details.push(...(await book.store.show(uid)));
  return details;
}

/** Random lives against a simple model, `rounds` times. */
export function randomContract(open: OpenLedger, rounds: number): void {
  test("B31, B33: whatever the batches and the repetitions, the records are the same, and those of a simple model", async () => {
    const seed = Math.floor(Math.random() * 2 ** 31);
    const random = numbers(seed);
    for (let round = 0; round < rounds; round += 1) {
      const events = script(seed + round, 400);
      const reference = await apply(open, events, () => 1);
      const told = reference
        .map(({ uid, updates, resourceVersion, end, exitCode }) => ({
          uid,
          updates,
          resourceVersion,
          gone: end !== null,
          exitCode,
        }))
        .sort((a, b) => a.uid.localeCompare(b.uid));
      expect(told, `seed ${seed}, round ${round}`).toEqual(oracle(events));
      expect(await apply(open, events, () => events.length)).toEqual(reference);
      expect(await apply(open, replayed(events, random), () => random() * 60), `seed ${seed}, round ${round}`).toEqual(
        reference,
      );
    }
  });
}
