import { fakeStatus } from "./fake-api-answers.ts";
import type { FakeAnswer, FakeChaos, FakeStream } from "./fake-api-types.ts";

/** What goes wrong is done to these. */
export interface Victims {
  streams(): readonly FakeStream[];
  /** Open watches are told nothing any more, as over a connection whose other end has gone. */
  mute(): void;
  /** How the next request is answered instead of by the model. */
  next(answer: FakeAnswer): void;
}

/** Call it after each event: once in `every` of them, on the average, something goes wrong. The same for the same seed. */
export function createChaos({ seed, every }: FakeChaos, victims: Victims): () => void {
  const random = seeded(seed);
  const gone = fakeStatus(410, "Expired", "too old resource version");
  const each = (what: (stream: FakeStream) => void) => (): void => victims.streams().forEach(what);
  const mishaps: readonly (() => void)[] = [
    each((stream) => stream.end()),
    each((stream) => stream.reset()),
    each((stream) => {
      stream.bytes('{"type":"ADDED","object":{"metadata":{"uid":"ha');
      stream.reset();
    }),
    each((stream) => {
      stream.event("ERROR", gone);
      stream.end();
    }),
    () => victims.mute(),
    ...[410, 429, 503, 504].map((status) => (): void => {
      victims.next({ status, body: fakeStatus(status, status === 410 ? "Expired" : "", "") });
      each((stream) => stream.reset())();
    }),
  ];
  return () => {
    if (random() * every < 1) mishaps[Math.floor(random() * mishaps.length)]?.();
  };
}

/** Numbers in [0, 1): xorshift. */
function seeded(seed: number): () => number {
  let state = seed >>> 0 || 1;
  return () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) / 2 ** 32;
  };
}
