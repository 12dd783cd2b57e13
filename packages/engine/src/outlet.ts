import type { Envelope, Frame, Logger, NodeInfo, Workload } from "@trawler/plugin-api";
import { type Encoded, encode } from "./encode.ts";
import type { EmitterInstance, EngineMetrics } from "./options.ts";
import { Pump } from "./pump.ts";
import { fit } from "./shrink.ts";
import { settled } from "./wait.ts";

export interface OutletOptions {
  readonly emitters: readonly EmitterInstance[];
  readonly node: NodeInfo;
  readonly log: Logger;
  readonly metrics: EngineMetrics;
  /** Seconds. */
  readonly flushTimeout: number;
}

/** Where frames leave the engine: encoded once, made to fit, and put into each emitter's own queue. */
export class Outlet {
  readonly #options: OutletOptions;
  readonly #pumps: readonly Pump[];
  readonly #stopping: AbortController = new AbortController();
  readonly #stopped: AbortController = new AbortController();
  readonly #running: Promise<unknown>;
  #oversize = 0;

  constructor(options: OutletOptions) {
    const { emitters, log, metrics } = options;
    this.#options = options;
    this.#pumps = emitters.map((emitter) => new Pump({ emitter, log, metrics }));
    this.#running = Promise.all(this.#pumps.map((pump) => pump.run(this.#stopping.signal, this.#stopped.signal)));
  }

  /** What all emitters together have sent, lost and still hold, in envelopes and bytes. */
  stats(): { sent: number; lost: number; queued: number; bytes: number } {
    const sum = { sent: 0, lost: this.#oversize, queued: 0, bytes: 0 };
    for (const { sent, lost, queue } of this.#pumps) {
      sum.sent += sent;
      sum.lost += lost;
      sum.queued += queue.frames;
      sum.bytes += queue.bytes;
    }
    return sum;
  }

  /** Never waits: a queue that is full drops by its own rule. */
  send(workload: Workload, frame: Frame): void {
    const bytes = encode(frame);
    const fitted = new Map<number, readonly Encoded[] | null>();
    for (const pump of this.#pumps) {
      const { maxBytes } = pump;
      if (pump.takes(bytes)) {
        pump.push(this.#envelope(workload, { frame, bytes }));
        continue;
      }
      const parts = fitted.get(maxBytes) ?? fit(frame, bytes, maxBytes);
      fitted.set(maxBytes, parts);
      if (parts) for (const part of parts) pump.push(this.#envelope(workload, part));
      else this.#oversized(workload, frame, pump, bytes.length);
    }
  }

  /** Flushes for as long as the timeout allows, less what of it was `spent`; what is then still queued is counted as lost. */
  async close(spent = 0): Promise<void> {
    this.#stopping.abort();
    await settled(this.#running, Math.max(this.#options.flushTimeout * 1000 - spent, 0));
    this.#stopped.abort(new Error("the flush timeout has passed"));
    await settled(this.#running, 1000);
  }

  #envelope({ name, id: key }: Workload, { frame, bytes }: Encoded): Envelope {
    const { id: frameId, part, schema, reason } = frame;
    const id = part ? `${frameId}#${part.index}` : frameId;
    return { id, frameId, key, schema, reason, node: this.#options.node.name, name, bytes };
  }

  #oversized({ name, id: key }: Workload, { reason, id: frameId }: Frame, { id, maxBytes }: Pump, bytes: number): void {
    const { log, metrics } = this.#options;
    metrics.frame(reason, id, "rejected");
    metrics.framesLost("oversized", 1);
    this.#oversize++;
    const fields = { emitter: id, frameId, reason, name, key, bytes, maxBytes };
    log.warn(
      fields,
      `a frame of ${name} (${bytes} bytes) cannot be made to fit into ${maxBytes} bytes for emitter ${id}`,
    );
  }
}
