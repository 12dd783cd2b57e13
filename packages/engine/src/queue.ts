import type { Envelope, FrameReason } from "@trawler/plugin-api";

export interface QueueBounds {
  readonly bytes: number;
  readonly frames: number;
}

/** Lost first: figures come again, the end of a pod does not. */
const LOSS_ORDER: readonly FrameReason[] = ["interval", "changed", "started", "ended"];

interface Entry {
  readonly envelope: Envelope;
  inFlight: boolean;
}

/**
 * One emitter's envelopes in the order of their frames, so in order per key too. Bounded in bytes and in number: what
 * is over is dropped, the oldest `interval` first and `ended` last, never what is being written.
 */
export class EnvelopeQueue {
  readonly #bounds: QueueBounds;
  readonly #onDrop: (dropped: Envelope) => void;
  #entries: Entry[] = [];
  #bytes = 0;
  #wake: (() => void) | null = null;

  constructor(bounds: QueueBounds, onDrop: (dropped: Envelope) => void) {
    this.#bounds = bounds;
    this.#onDrop = onDrop;
  }

  get frames(): number {
    return this.#entries.length;
  }

  get bytes(): number {
    return this.#bytes;
  }

  push(envelope: Envelope): void {
    this.#entries.push({ envelope, inFlight: false });
    this.#bytes += envelope.bytes.length;
    while (this.#entries.length > this.#bounds.frames || this.#bytes > this.#bounds.bytes) {
      const victim = this.#victim();
      if (victim < 0) break;
      const [dropped] = this.#entries.splice(victim, 1);
      if (!dropped) break;
      this.#bytes -= dropped.envelope.bytes.length;
      this.#onDrop(dropped.envelope);
    }
    this.#wake?.();
  }

  /** The oldest envelopes, marked as being written: at most `frames` and `bytes`, but always one. */
  take(bounds: QueueBounds): readonly Envelope[] {
    const taken: Envelope[] = [];
    let bytes = 0;
    for (const entry of this.#entries) {
      bytes += entry.envelope.bytes.length;
      if (taken.length >= bounds.frames || (bytes > bounds.bytes && taken.length > 0)) break;
      entry.inFlight = true;
      taken.push(entry.envelope);
    }
    return taken;
  }

  /** Ends a write: these ids are done with, all others that were being written wait again, in their old place. */
  settle(done: ReadonlySet<string>): void {
    this.#entries = this.#entries.filter((entry) => {
      const finished = entry.inFlight && done.has(entry.envelope.id);
      if (finished) this.#bytes -= entry.envelope.bytes.length;
      entry.inFlight = false;
      return !finished;
    });
  }

  /** Resolves once there is something to take, or when `signal` aborts. */
  async wait(signal: AbortSignal): Promise<void> {
    if (this.#entries.length > 0 || signal.aborted) return;
    const woken = Promise.withResolvers<void>();
    const wake = (): void => woken.resolve();
    this.#wake = wake;
    signal.addEventListener("abort", wake, { once: true });
    await woken.promise;
    signal.removeEventListener("abort", wake);
    this.#wake = null;
  }

  #victim(): number {
    for (const reason of LOSS_ORDER) {
      const index = this.#entries.findIndex(({ envelope, inFlight }) => !inFlight && envelope.reason === reason);
      if (index >= 0) return index;
    }
    return -1;
  }
}
