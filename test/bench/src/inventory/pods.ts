import { MARKS, makePod } from "./pod.ts";
import { generator, hex } from "./random.ts";

/** A pod with room for what differs: rendered once, then only patched, so that making it costs next to nothing. */
interface Template {
  readonly bytes: Buffer;
  /** Where each mark stands. */
  readonly marks: ReadonlyMap<string, readonly number[]>;
}

/** What of a pod depends on its number. */
export interface PodShape {
  /** Counts from 0; UID, name, node, addresses and container ids follow from it. */
  readonly index: number;
  readonly version: number;
  readonly phase: "Pending" | "Running" | "Succeeded";
}

export interface PodFactory {
  /** The pod's JSON in UTF-8, about 14.5 KB. */
  render(shape: PodShape): Buffer;
}

/** Different ones, so that what packs bytes finds as little to save as in a cluster. */
const TEMPLATES = 96;
const NODES = 5000;
type Mark = keyof typeof MARKS;

export function podFactory(seed = 1): PodFactory {
  const random = generator(seed);
  const templates = Array.from({ length: TEMPLATES }, () => makeTemplate(random));
  return {
    render: ({ index, version, phase }) => {
      const { bytes, marks } = templates[index % TEMPLATES] ?? makeTemplate(random);
      const pod = Buffer.from(bytes);
      const put = (mark: Mark, text: string): void => {
        for (const at of marks.get(mark) ?? []) pod.write(text, at, "latin1");
      };
      put("uid", uidOf(index));
      put("name", `app-${String(index).padStart(12, "0")}`);
      put("version", String(version).padStart(10, "1"));
      put("node", nodeOf(index));
      put("address", [10, 100 + (index % 150), 100 + ((index >> 8) % 150), 100 + ((index >> 16) % 150)].join("."));
      put("phase", JSON.stringify(phase).padEnd(MARKS.phase.length));
      for (const [slot, id] of (["id0", "id1", "id2"] as const).entries()) put(id, idOf(index, slot));
      return pod;
    },
  };
}

/** Where unlike ids are taken from. */
const DIGITS = hex(generator(42), 65_536);

export function uidOf(index: number): string {
  const at = (index * 37) % (DIGITS.length - 24);
  const part = (from: number, to: number): string => DIGITS.slice(at + from, at + to);
  return `${String(index).padStart(8, "0")}-${part(0, 4)}-${part(4, 8)}-${part(8, 12)}-${part(12, 24)}`;
}

function idOf(index: number, slot: number): string {
  const at = (index * 191 + slot * 67) % (DIGITS.length - 64);
  return `${String(index).padStart(8, "0")}${DIGITS.slice(at, at + 56)}`;
}

function nodeOf(index: number): string {
  return `node-${String(index % NODES).padStart(5, "0")}`;
}

function makeTemplate(random: () => number): Template {
  const bytes = Buffer.from(JSON.stringify(makePod(random)));
  const marks = new Map<string, readonly number[]>();
  for (const [name, text] of Object.entries(MARKS)) {
    const found: number[] = [];
    for (let at = bytes.indexOf(text); at !== -1; at = bytes.indexOf(text, at + 1)) found.push(at);
    marks.set(name, found);
  }
  return { bytes, marks };
}
