import { releaseUnused } from "@trawler/linux";

/** Milliseconds after which what the start needed is given back, and between later times. */
const FIRST = 20_000;
const AGAIN = 600_000;

/** Keeps the process as small as its work: collects garbage and gives unused memory back, first when the start is over. */
export function keepSmall(collect: (() => void) | undefined = globalThis.gc): Disposable {
  const release = (): void => {
    collect?.();
    void releaseUnused().catch(() => undefined);
  };
  const first = setTimeout(release, FIRST).unref();
  const again = setInterval(release, AGAIN).unref();
  return {
    [Symbol.dispose]: () => {
      clearTimeout(first);
      clearInterval(again);
    },
  };
}
