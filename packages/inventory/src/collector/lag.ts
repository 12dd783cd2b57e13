/** Told of the two delays of a sample of events, seconds. */
export interface LagObserver {
  durable(seconds: number): void;
  visible(seconds: number): void;
}

const MOST = 10_000;

/** Follows when what was received became durable, and when it could be asked for. */
export interface LagMeter {
  /** One append became durable as `sequence`. */
  durable(sequence: number, receivedAt: number): void;
  applied(sequence: number): void;
  /** Seconds that the oldest event which is durable and not in the store has waited; 0 where there is none. */
  waiting(): number;
}

/** `now` in seconds, never goes back. */
export function createLagMeter(now: () => number, observer: LagObserver | null): LagMeter {
  let open: { readonly sequence: number; readonly receivedAt: number }[] = [];
  return {
    durable: (sequence, receivedAt) => {
      observer?.durable(now() - receivedAt);
      // A sample is enough where the store is far behind.
      if (open.length < MOST) open.push({ sequence, receivedAt });
    },
    applied: (sequence) => {
      const index = open.findIndex((one) => one.sequence > sequence);
      const done = index === -1 ? open : open.slice(0, index);
      open = index === -1 ? [] : open.slice(index);
      for (const { receivedAt } of done) observer?.visible(now() - receivedAt);
    },
    waiting: () => {
      const [oldest] = open;
      return oldest === undefined ? 0 : now() - oldest.receivedAt;
    },
  };
}
