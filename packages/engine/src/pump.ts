import { type Envelope, errorCode, errorMessage, type Logger, type WriteResult } from "@trawler/plugin-api";
import { Guard } from "./guard.ts";
import type { EmitterInstance, EngineMetrics } from "./options.ts";
import { EnvelopeQueue, type QueueBounds } from "./queue.ts";
import { Backoff, delay } from "./wait.ts";

export interface PumpOptions {
  readonly emitter: EmitterInstance;
  readonly log: Logger;
  readonly metrics: EngineMetrics;
  /** Milliseconds that one write may take. */
  readonly timeout?: number;
}

const WRITE_TIMEOUT = 60_000;
const BATCH: QueueBounds = { frames: 500, bytes: 4 * 1_048_576 };
/** Frames of one slot come close together; this long a first one waits for company. */
const LINGER = 20;
const FIRST_RETRY = 100;
/** So that frames flow again soon after a sink is back, without a flood of attempts while it is away. */
const LAST_RETRY = 15_000;
/** What may pass by itself: the same batch is tried again as long as the queue holds it. */
const RETRYABLE: ReadonlySet<string> = new Set([
  "TRAWLER_RETRY",
  "TRAWLER_UNAVAILABLE",
  "TRAWLER_PLUGIN_TIMEOUT",
  "TRAWLER_PLUGIN_STUCK",
]);

/** Writes one emitter's queue, a batch at a time and never two at once. Nothing here slows another emitter or the crawl. */
export class Pump {
  readonly queue: EnvelopeQueue;
  readonly id: string;
  readonly maxBytes: number;
  readonly #options: PumpOptions;
  readonly #guard: Guard;
  readonly #backoff: Backoff = new Backoff(FIRST_RETRY, LAST_RETRY);
  /** Envelopes still to be written alone, after a write failed in a way that one of them may have caused. */
  #alone = 0;
  #failing = false;
  #overflowing = false;
  #sent = 0;
  #lostCount = 0;

  constructor(options: PumpOptions) {
    const { id, instance, queue } = options.emitter;
    this.#options = options;
    this.id = id;
    this.maxBytes = instance.maxBytes ?? Number.POSITIVE_INFINITY;
    this.#guard = new Guard(`emitter ${id}`);
    this.queue = new EnvelopeQueue(queue, (dropped) => this.#lost("overflow", dropped));
  }

  get sent(): number {
    return this.#sent;
  }

  /** Envelopes that were dropped, refused or left over. */
  get lost(): number {
    return this.#lostCount;
  }

  /** Whether it goes as it is. How large that is says the emitter, where its limit does not count the plain bytes. */
  takes(bytes: Uint8Array): boolean {
    if (bytes.length <= this.maxBytes) return true;
    const { instance } = this.#options.emitter;
    try {
      return (instance.sizeOf?.(bytes) ?? bytes.length) <= this.maxBytes;
    } catch {
      return false;
    }
  }

  push(envelope: Envelope): void {
    this.queue.push(envelope);
    this.#gauge();
  }

  /**
   * Writes until `signal` aborts; once `stopping` aborts, ends as soon as the queue is empty. A stop does not wait for a
   * retry that is far away: what waits is tried at once, and again with short waits first.
   */
  async run(stopping: AbortSignal, signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      await this.queue.wait(stopping);
      if (this.queue.frames === 0) return;
      if (this.queue.frames < BATCH.frames && !this.#failing) await delay(LINGER, stopping);
      const pause = await this.#writeOnce(signal);
      this.#gauge();
      if (pause === 0) continue;
      const hurried = stopping.aborted;
      await delay(pause, hurried ? signal : stopping);
      if (!hurried && stopping.aborted) this.#backoff.reset();
    }
    this.#leave();
  }

  /** Counts and tells what the flush could not write. */
  #leave(): void {
    const left = this.queue.take({ frames: Number.POSITIVE_INFINITY, bytes: Number.POSITIVE_INFINITY });
    if (left.length === 0) return;
    for (const envelope of left) this.#lost("shutdown", envelope);
    const fields = { emitter: this.id, frames: left.length, bytes: this.queue.bytes };
    this.#options.log.warn(
      fields,
      `emitter ${this.id} did not take ${left.length} frames before the stop: they are lost`,
    );
  }

  /** One write; answers how long to wait before the next. */
  async #writeOnce(signal: AbortSignal): Promise<number> {
    const batch = this.queue.take(this.#alone > 0 ? { ...BATCH, frames: 1 } : BATCH);
    if (batch.length === 0) return 0;
    const { emitter, log, timeout = WRITE_TIMEOUT } = this.#options;
    try {
      const result = await this.#guard.call("write", timeout, signal, (deadline) =>
        emitter.instance.write(batch, { signal: deadline, log }),
      );
      if (this.#alone > 0) this.#alone--;
      return this.#accept(batch, result ?? {});
    } catch (error) {
      return this.#refuse(batch, error, signal);
    }
  }

  #accept(batch: readonly Envelope[], { rejected = [], retry = [] }: WriteResult): number {
    const again = new Set(retry);
    const refused = new Map(rejected.map((one) => [one.id, one]));
    const done = new Set<string>();
    for (const envelope of batch) {
      const refusal = refused.get(envelope.id);
      if (!refusal && again.has(envelope.id)) continue;
      done.add(envelope.id);
      if (refusal) this.#rejected(envelope, refusal.code, refusal.message);
      else {
        this.#sent++;
        this.#options.metrics.frame(envelope.reason, this.id, "sent");
      }
    }
    this.queue.settle(done);
    if (done.size === batch.length) return this.#recovered();
    for (const { id, reason } of batch) if (!done.has(id)) this.#options.metrics.frame(reason, this.id, "retried");
    if (done.size > 0) this.#backoff.reset();
    return this.#backoff.next();
  }

  #refuse(batch: readonly Envelope[], error: unknown, signal: AbortSignal): number {
    const { log, metrics } = this.#options;
    const code = errorCode(error) ?? "TRAWLER_PLUGIN_FAILED";
    const [only] = batch;
    if (signal.aborted || RETRYABLE.has(code)) {
      this.queue.settle(new Set());
      for (const { reason } of batch) metrics.frame(reason, this.id, "retried");
      if (!this.#failing) {
        const fields = { emitter: this.id, code, frames: this.queue.frames, bytes: this.queue.bytes };
        log.warn(fields, `emitter ${this.id} does not take frames; they wait: ${errorMessage(error)}`);
      }
      this.#failing = true;
      return this.#backoff.next();
    }
    if (batch.length === 1 && only) {
      this.queue.settle(new Set([only.id]));
      this.#rejected(only, code, errorMessage(error));
      if (this.#alone > 0) this.#alone--;
      return 0;
    }
    this.queue.settle(new Set());
    this.#alone = batch.length;
    const fields = { emitter: this.id, code, frames: batch.length };
    log.warn(fields, `emitter ${this.id} failed; each frame of the batch is tried alone: ${errorMessage(error)}`);
    return 0;
  }

  #recovered(): number {
    if (this.#failing) this.#options.log.info({ emitter: this.id }, `emitter ${this.id} takes frames again`);
    this.#failing = false;
    this.#overflowing = false;
    this.#backoff.reset();
    return 0;
  }

  #rejected(envelope: Envelope, code: string, message: string): void {
    const { log, metrics } = this.#options;
    metrics.frame(envelope.reason, this.id, "rejected");
    metrics.framesLost("rejected", 1);
    this.#lostCount++;
    const { frameId, reason, name, key, bytes } = envelope;
    const fields = { emitter: this.id, code, frameId, reason, name, key, bytes: bytes.length, maxBytes: this.maxBytes };
    log.warn(fields, `emitter ${this.id} never took a frame of ${name} (${bytes.length} bytes): ${message}`);
  }

  #lost(why: "overflow" | "shutdown", { reason, name, key }: Envelope): void {
    const { log, metrics } = this.#options;
    metrics.framesLost(why, 1);
    this.#lostCount++;
    log.debug({ emitter: this.id, why, reason, name, key }, "frame lost");
    if (why !== "overflow" || this.#overflowing) return;
    this.#overflowing = true;
    const fields = { emitter: this.id, frames: this.queue.frames, bytes: this.queue.bytes };
    log.warn(fields, `the queue of emitter ${this.id} is full: frames are dropped, the oldest of interval first`);
  }

  #gauge(): void {
    const { metrics } = this.#options;
    metrics.gauge("queue_frames", { emitter: this.id }, this.queue.frames);
    metrics.gauge("queue_bytes", { emitter: this.id }, this.queue.bytes);
  }
}
