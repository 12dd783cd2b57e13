import type { Envelope, FrameReason } from "@trawler/plugin-api";
import { retryable, TrawlerError } from "@trawler/plugin-api";
import { collectingEmitter, collectingLog, collectingMetrics, fakeEnvelope } from "@trawler/testkit";
import { afterEach, describe, expect, test, vi } from "vitest";
import { Pump } from "../src/pump.ts";
import { EnvelopeQueue } from "../src/queue.ts";

const all = { frames: 1000, bytes: 1e9 };

function queueOf(bounds: { frames: number; bytes: number }) {
  const dropped: string[] = [];
  const queue = new EnvelopeQueue(bounds, ({ reason, id }) => dropped.push(`${reason} ${Number(id.slice(-6))}`));
  return { queue, dropped };
}

function envelope(index: number, reason: FrameReason = "interval", size = 10): Envelope {
  return fakeEnvelope(index, { reason, bytes: new Uint8Array(size) });
}

const numbers = (envelopes: readonly Envelope[]): readonly number[] => envelopes.map(({ id }) => Number(id.slice(-6)));

describe("the queue", () => {
  test("drops the oldest interval first, then changed, started, and ended last", () => {
    const { queue, dropped } = queueOf({ frames: 4, bytes: 1e9 });
    const reasons = [
      "ended",
      "started",
      "changed",
      "interval",
      "interval",
      "ended",
      "ended",
      "ended",
      "ended",
    ] as const;
    reasons.forEach((reason, index) => {
      queue.push(envelope(index, reason));
    });
    expect(dropped).toEqual(["interval 3", "interval 4", "changed 2", "started 1", "ended 0"]);
    expect(numbers(queue.take(all))).toEqual([5, 6, 7, 8]);
  });

  test("is bounded in bytes, and an envelope over the bound alone is dropped", () => {
    const { queue, dropped } = queueOf({ frames: 100, bytes: 100 });
    for (let index = 0; index < 5; index++) queue.push(envelope(index, "interval", 40));
    expect(dropped).toEqual(["interval 0", "interval 1", "interval 2"]);
    expect(queue.bytes).toBe(80);
    queue.push(envelope(9, "ended", 101));
    expect(dropped.at(-1)).toBe("ended 9");
    expect(queue.frames).toBe(0);
  });

  test("never drops what is being written, and puts back in its place what was not taken", () => {
    const { queue, dropped } = queueOf({ frames: 3, bytes: 1e9 });
    for (let index = 0; index < 3; index++) queue.push(envelope(index));
    expect(numbers(queue.take({ frames: 2, bytes: 1e9 }))).toEqual([0, 1]);
    queue.push(envelope(3));
    queue.push(envelope(4));
    expect(dropped).toEqual(["interval 2", "interval 3"]);
    queue.settle(new Set([fakeEnvelope(1).id]));
    expect(numbers(queue.take(all))).toEqual([0, 4]);
  });
});

afterEach(() => vi.useRealTimers());

type Answer = NonNullable<NonNullable<Parameters<typeof collectingEmitter>[0]>["answer"]>;

/** Pushes `count` envelopes through a pump and stops it once the queue is empty. */
async function pumped(count: number, answer: Answer, options: { maxBytes?: number } = {}) {
  vi.useFakeTimers();
  const emitter = collectingEmitter({ ...options, answer });
  const metrics = collectingMetrics();
  const log = collectingLog();
  const pump = new Pump({ emitter, log, metrics, timeout: 1000 });
  for (let index = 0; index < count; index++) pump.push(fakeEnvelope(index));
  const stopping = new AbortController();
  const stopped = new AbortController();
  const running = pump.run(stopping.signal, stopped.signal);
  for (let waited = 0; pump.queue.frames > 0 && waited < 600; waited++) await vi.advanceTimersByTimeAsync(1000);
  stopping.abort();
  await running;
  return { emitter, metrics, log, writes: emitter.batches.map(numbers) };
}

describe("the pump", () => {
  test("C136: sends again only what the emitter names, in the old order", async () => {
    let first = true;
    const { writes, emitter } = await pumped(4, async ([, one, , three]) => {
      if (!first || !one || !three) return undefined;
      first = false;
      return { retry: [three.id, one.id] };
    });
    expect(writes).toEqual([
      [0, 1, 2, 3],
      [1, 3],
    ]);
    expect(numbers(emitter.envelopes)).toEqual([0, 2, 1, 3]);
  });

  test("tries the whole batch again on a retryable error, for as long as it takes", async () => {
    let left = 20;
    const { writes, metrics, log } = await pumped(2, async () => {
      if (left-- > 0) throw retryable("broker away");
      return undefined;
    });
    expect(writes).toHaveLength(21);
    expect(metrics.counts.get("frame interval collecting sent")).toBe(2);
    expect(log.lines.map(({ level }) => level)).toEqual(["warn", "info"]);
  });

  test("counts and names what is never accepted, and the frames after it pass", async () => {
    const { metrics, log, emitter } = await pumped(
      3,
      async ([first]) => {
        if (Number(first?.id.slice(-6)) !== 0) return undefined;
        return { rejected: [{ id: first?.id ?? "", code: "MESSAGE_TOO_LARGE", message: "1.4 MB is over the limit" }] };
      },
      { maxBytes: 1000 },
    );
    expect(numbers(emitter.envelopes)).toEqual([1, 2]);
    expect(metrics.counts.get("lost rejected")).toBe(1);
    expect(log.lines).toMatchObject([
      {
        level: "warn",
        fields: { name: "shop/cart-0", code: "MESSAGE_TOO_LARGE", bytes: fakeEnvelope(0).bytes.length, maxBytes: 1000 },
      },
    ]);
  });

  test("finds the one frame that an emitter breaks on, and loses no other", async () => {
    const { emitter, metrics } = await pumped(5, async (batch) => {
      if (numbers(batch).includes(2)) throw new TypeError("cannot encode");
      return undefined;
    });
    expect(numbers(emitter.envelopes)).toEqual([0, 1, 3, 4]);
    expect(metrics.counts.get("lost rejected")).toBe(1);
  });

  test("never writes twice at once: a write that hangs is waited for", async () => {
    let running = 0;
    let most = 0;
    let calls = 0;
    const { metrics } = await pumped(1, async () => {
      most = Math.max(most, ++running);
      if (calls++ === 0) await new Promise((resolve) => setTimeout(resolve, 60_000));
      running--;
      return undefined;
    });
    expect(most).toBe(1);
    expect(metrics.counts.get("frame interval collecting sent")).toBe(1);
  });

  test("a stop does not wait for a retry that is far away: what waits is tried at once", async () => {
    vi.useFakeTimers();
    let away = true;
    const emitter = collectingEmitter({
      answer: async () => {
        if (away) throw retryable("broker away");
        return undefined;
      },
    });
    const log = collectingLog();
    const pump = new Pump({ emitter, log, metrics: collectingMetrics() });
    pump.push(fakeEnvelope(0));
    const stopping = new AbortController();
    const running = pump.run(stopping.signal, new AbortController().signal);
    // Waits have grown to their cap.
    await vi.advanceTimersByTimeAsync(300_000);
    const tried = emitter.batches.length;
    away = false;
    stopping.abort();
    await vi.advanceTimersByTimeAsync(0);
    await running;
    expect(emitter.batches).toHaveLength(tried + 1);
    expect(numbers(emitter.envelopes)).toEqual([0]);
  });

  test("says once that the queue is full, and counts each frame that is dropped", async () => {
    const metrics = collectingMetrics();
    const log = collectingLog();
    const pump = new Pump({ emitter: collectingEmitter({ queue: { bytes: 1e6, frames: 2 } }), log, metrics });
    for (let index = 0; index < 5; index++) pump.push(fakeEnvelope(index));
    expect(metrics.counts.get("lost overflow")).toBe(3);
    expect(log.lines.filter(({ level }) => level === "warn")).toMatchObject([{ fields: { emitter: "collecting" } }]);
  });

  test("takes what is over its limit where the emitter counts it as smaller, unless it cannot tell", () => {
    const emitter = collectingEmitter({ maxBytes: 100 });
    const options = { emitter, log: collectingLog(), metrics: collectingMetrics() };
    expect(new Pump(options).takes(new Uint8Array(101))).toBe(false);
    emitter.instance.sizeOf = ({ length }) => length / 10;
    expect(new Pump(options).takes(new Uint8Array(1000))).toBe(true);
    expect(new Pump(options).takes(new Uint8Array(1001))).toBe(false);
    emitter.instance.sizeOf = () => {
      throw new Error("no codec");
    };
    expect(new Pump(options).takes(new Uint8Array(101))).toBe(false);
  });

  test("gives up nothing but what the flush leaves, which is counted and told", async () => {
    vi.useFakeTimers();
    const metrics = collectingMetrics();
    const log = collectingLog();
    const emitter = collectingEmitter({
      answer: async () => {
        throw new TrawlerError("TRAWLER_UNAVAILABLE", "away");
      },
    });
    const pump = new Pump({ emitter, log, metrics });
    for (let index = 0; index < 7; index++) pump.push(envelope(index));
    const stopped = new AbortController();
    const running = pump.run(AbortSignal.abort(), stopped.signal);
    await vi.advanceTimersByTimeAsync(10_000);
    stopped.abort(new Error("flushed long enough"));
    await running;
    expect(metrics.counts.get("lost shutdown")).toBe(7);
    expect(log.lines.at(-1)).toMatchObject({ level: "warn", fields: { emitter: "collecting", frames: 7 } });
  });
});
