/** How far the server's clock is from ours, milliseconds; positive = the server's is ahead. */
export interface ClockSkew {
  readonly milliseconds: number;
  /** The truth is at most so far from it. */
  readonly uncertainty: number;
}

export interface SkewMeter {
  /** One answer: its `Date`, and our wall clock when the request went and when the answer's head was there. */
  observe(date: string | undefined, sentAt: number, receivedAt: number): void;
  /** Null before the first answer that says a time. */
  estimate(): ClockSkew | null;
}

/** `Date` is cut to whole seconds (RFC 9110, 5.6.7). */
const RESOLUTION = 1000;

/** Narrows the skew down by each answer; begins anew where one contradicts what was known, as after a step of a clock. */
export function createSkewMeter(): SkewMeter {
  let known: readonly [number, number] | null = null;
  return {
    observe: (date, sentAt, receivedAt) => {
      const said = date === undefined ? Number.NaN : Date.parse(date);
      // Our own clock was stepped while we waited: nothing can be said.
      if (Number.isNaN(said) || receivedAt < sentAt) return;
      const low = said - receivedAt;
      const high = said + RESOLUTION - sentAt;
      const from = Math.max(low, known?.[0] ?? low);
      const to = Math.min(high, known?.[1] ?? high);
      known = from <= to ? [from, to] : [low, high];
    },
    estimate: () => {
      if (known === null) return null;
      const [from, to] = known;
      return { milliseconds: Math.round((from + to) / 2), uncertainty: Math.ceil((to - from) / 2) };
    },
  };
}
