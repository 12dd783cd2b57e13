import type { EngineMetrics } from "@trawler/engine";
import type { Clock } from "@trawler/plugin-api";

/** What the agent says of itself once a minute. */
export interface Tally {
  readonly pods: number;
  /** Written since the last line by the emitter that wrote most, as each writes all. */
  readonly frames: number;
  readonly lost: number;
  readonly skipped: number;
  /** Envelopes that wait now. */
  readonly queued: number;
  /** Seconds since the fullest queue was last empty. */
  readonly lag: number;
}

/** Adds up the engine's counts for the log line, and hands each on. */
export class Tallying implements EngineMetrics {
  readonly #next: EngineMetrics | null;
  readonly #clock: Clock;
  readonly #subjects = new Map<string, number>();
  readonly #queues = new Map<string, { frames: number; emptyAt: number }>();
  readonly #sent = new Map<string, number>();
  #lost = 0;
  #skipped = 0;

  constructor(clock: Clock, next: EngineMetrics | null) {
    this.#clock = clock;
    this.#next = next;
  }

  /** The counts since the last call. */
  take(): Tally {
    const now = this.#clock.monotonic();
    const queues = [...this.#queues.values()];
    const tally = {
      pods: sum(this.#subjects.values()),
      frames: Math.max(0, ...this.#sent.values()),
      lost: this.#lost,
      skipped: this.#skipped,
      queued: sum(queues.map(({ frames }) => frames)),
      lag: Math.max(0, ...queues.map(({ frames, emptyAt }) => (frames === 0 ? 0 : Math.round(now - emptyAt)))),
    };
    this.#sent.clear();
    this.#lost = 0;
    this.#skipped = 0;
    return tally;
  }

  crawlDuration: EngineMetrics["crawlDuration"] = (...args) => this.#next?.crawlDuration(...args);
  problem: EngineMetrics["problem"] = (...args) => this.#next?.problem(...args);

  frame: EngineMetrics["frame"] = (reason, emitter, result) => {
    if (result === "sent") this.#sent.set(emitter, (this.#sent.get(emitter) ?? 0) + 1);
    this.#next?.frame(reason, emitter, result);
  };

  framesLost: EngineMetrics["framesLost"] = (reason, count) => {
    this.#lost += count;
    this.#next?.framesLost(reason, count);
  };

  slotsSkipped: EngineMetrics["slotsSkipped"] = (count) => {
    this.#skipped += count;
    this.#next?.slotsSkipped(count);
  };

  gauge: EngineMetrics["gauge"] = (name, labels, value) => {
    const key = JSON.stringify(labels);
    if (name === "subjects") this.#subjects.set(key, value);
    if (name === "queue_frames") {
      const now = this.#clock.monotonic();
      const queue = this.#queues.get(key) ?? { frames: 0, emptyAt: now };
      if (value === 0 || queue.frames === 0) queue.emptyAt = now;
      queue.frames = value;
      this.#queues.set(key, queue);
    }
    this.#next?.gauge(name, labels, value);
  };
}

function sum(values: Iterable<number>): number {
  let total = 0;
  for (const value of values) total += value;
  return total;
}
