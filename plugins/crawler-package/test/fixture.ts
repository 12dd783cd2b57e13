import { readFileSync } from "node:fs";
import { gunzipSync } from "node:zlib";
import type { ReadAt } from "@trawler/plugin-api";

/** A packed file of `testdata/`. */
export const unpacked = (name: string): Uint8Array =>
  new Uint8Array(gunzipSync(readFileSync(new URL(`../testdata/${name}.gz`, import.meta.url))));

export const readFrom =
  (bytes: Uint8Array): ReadAt =>
  async (offset, length) =>
    bytes.subarray(offset, offset + length);

/** What `rpm -qa` of Debian's rpm 4.18 says of the same database. */
export const SAMPLE = [
  { name: "trawler-sample", version: "2:1.2.3-4.el9", architecture: "x86_64", size: 1692 },
  { name: "tiny", version: "2:0.9~rc1-4.el9", architecture: "x86_64", size: 2 },
  { name: "trawler-noarch", version: "2:1.2.3-4.el9", architecture: "noarch", size: 2 },
].map((one) => ({
  ...one,
  source: "trawler-sample-1.2.3-4.el9.src.rpm",
  state: null,
  installed: "2026-12-01T02:28:34.000Z",
  drift: null,
}));

/** The same in every run. */
export function random(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
    return state / 2 ** 32;
  };
}

/** Copies with some bytes overwritten, and copies cut short. */
export function* spoiled(bytes: Uint8Array, count: number): Generator<Uint8Array> {
  const next = random(7);
  for (let round = 0; round < count; round++) {
    const copy = Uint8Array.from(bytes);
    for (let hit = 0; hit < 20; hit++) copy[Math.floor(next() * copy.length)] = Math.floor(next() * 256);
    yield copy;
    yield bytes.slice(0, Math.floor(next() * bytes.length));
  }
}
