export interface Backoff {
  /** Milliseconds to wait before the next attempt, after one more failure. */
  next(): number;
  reset(): void;
}

/** First retry within 100 ms, then 0.8 s doubled up to the cap, each with full jitter. */
export function createBackoff(random: () => number, capSeconds = 30): Backoff {
  let failures = 0;
  return {
    next: () => {
      failures += 1;
      const seconds = failures === 1 ? 0.1 : Math.min(capSeconds, 0.8 * 2 ** Math.min(failures - 2, 20));
      return Math.round(random() * seconds * 1000);
    },
    reset: () => {
      failures = 0;
    },
  };
}
