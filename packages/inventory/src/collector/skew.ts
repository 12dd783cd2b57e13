import { readFile, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type ApiClient, type ClockSkew, isRecord } from "@trawler/kube";
import type { Clock } from "@trawler/plugin-api";

/** Of this machine against the server: it stands beside the queue, whatever the store is. */
const FILE = "clock-skew.json";
const EVERY = 5_000;
/** Smaller changes, milliseconds, are not written. */
const WORTH = 100;

export interface StoredSkew extends ClockSkew {
  /** Our wall clock, milliseconds, when it was measured. */
  readonly at: number;
}

/** Keeps the last measured skew in the folder until it is disposed. A disk that refuses it is no fault: nothing is decided by it. */
export function keepSkew(
  folder: string,
  client: Pick<ApiClient, "clockSkew">,
  { now }: Pick<Clock, "now">,
): AsyncDisposable {
  let saved: ClockSkew | null = null;
  const save = async (): Promise<void> => {
    const skew = client.clockSkew();
    if (skew === null || (saved !== null && Math.abs(skew.milliseconds - saved.milliseconds) < WORTH)) return;
    saved = skew;
    const path = join(folder, FILE);
    const stored: StoredSkew = { ...skew, at: now() };
    try {
      await writeFile(`${path}.new`, JSON.stringify(stored), { mode: 0o600 });
      await rename(`${path}.new`, path);
    } catch {
      saved = null;
    }
  };
  const timer = setInterval(() => void save(), EVERY);
  return {
    [Symbol.asyncDispose]: async () => {
      clearInterval(timer);
      await save();
    },
  };
}

/** The skew as it was measured last; null where it never was. */
export async function storedSkew(folder: string): Promise<StoredSkew | null> {
  try {
    const value: unknown = JSON.parse(await readFile(join(folder, FILE), "utf8"));
    if (!isRecord(value)) return null;
    const { milliseconds, uncertainty, at } = value;
    const isWhole = typeof milliseconds === "number" && typeof uncertainty === "number" && typeof at === "number";
    return isWhole ? { milliseconds, uncertainty, at } : null;
  } catch {
    return null;
  }
}
