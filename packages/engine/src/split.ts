import type { Feature, Frame, FrameContainer, Problem } from "@trawler/plugin-api";
import { type Encoded, encode } from "./encode.ts";
import { makeProblem } from "./problem.ts";

/** Room for `part` with two numbers of up to six digits, separators and the problems that a cut adds. */
const RESERVE = 1024;

interface Part {
  features: Feature[];
  problems: Problem[];
  containers: { head: FrameContainer; features: Feature[]; problems: Problem[] }[];
  bytes: number;
}

/**
 * Splits a frame into parts that each hold its head and some of its features. Every container stands in at least one
 * part, several where its features do not fit into one. A single feature that fits into none is left out, which is said.
 */
export function split(frame: Frame, maxBytes: number): readonly Encoded[] | null {
  const head = headOf(frame, maxBytes);
  if (!head) return null;
  const packer = new Packer(maxBytes - head.bytes - RESERVE);
  for (const problem of [...head.problems, ...frame.problems]) packer.problem(problem);
  for (const feature of frame.features) packer.feature(feature);
  for (const container of frame.containers) packer.container(container);
  const parts = packer.finish();
  const count = parts.length;
  const { schema, id, ...rest } = head.frame;
  const encoded = parts.map(({ features, problems, containers }, index): Encoded => {
    const part: Frame = {
      schema,
      id,
      part: { index, count },
      ...rest,
      features,
      problems,
      containers: containers.map((one) => ({ ...one.head, features: one.features, problems: one.problems })),
    };
    return { frame: part, bytes: encode(part) };
  });
  return encoded.every(({ bytes }) => bytes.length <= maxBytes) ? encoded : null;
}

/** What stands in every part. Annotations and then labels go where they leave no room for anything else. */
function headOf(
  frame: Frame,
  maxBytes: number,
): { readonly frame: Frame; readonly bytes: number; readonly problems: readonly Problem[] } | null {
  const bare: Frame = { ...frame, features: [], problems: [], containers: [] };
  const none: Frame["labels"] = Object.create(null);
  const steps: readonly [Frame, string][] = [
    [bare, ""],
    [{ ...bare, annotations: none }, "annotations are left out"],
    [{ ...bare, annotations: none, labels: none }, "annotations and labels are left out"],
  ];
  for (const [candidate, cut] of steps) {
    const bytes = encode(candidate).length;
    const problems = cut === "" ? [] : [makeProblem(null, "truncated", `the frame was too large: ${cut}`)];
    if (bytes + RESERVE <= maxBytes / 2) return { frame: candidate, bytes, problems };
  }
  return null;
}

class Packer {
  readonly #room: number;
  readonly #parts: Part[] = [];
  #last: Part;

  constructor(room: number) {
    this.#room = room;
    this.#last = this.#open();
  }

  problem(problem: Problem): void {
    const bytes = sizeOf(problem);
    if (bytes > this.#room) return;
    this.#part(bytes).problems.push(problem);
  }

  feature(feature: Feature): void {
    const bytes = sizeOf(feature);
    if (bytes > this.#room) this.problem(tooLarge(feature, bytes));
    else this.#part(bytes).features.push(feature);
  }

  container(container: FrameContainer): void {
    const head: FrameContainer = { ...container, features: [], problems: [] };
    const headBytes = sizeOf(head);
    if (headBytes > this.#room) {
      this.problem(makeProblem(null, "truncated", `container ${container.name} is left out: too large for any part`));
      return;
    }
    const open = (): Part["containers"][number] => {
      const one = { head, features: [] as Feature[], problems: [] as Problem[] };
      this.#part(headBytes).containers.push(one);
      return one;
    };
    let place = open();
    const put = (bytes: number): Part["containers"][number] => {
      if (this.#last.bytes + bytes > this.#room) {
        this.#last = this.#open();
        place = open();
      }
      this.#last.bytes += bytes;
      return place;
    };
    for (const problem of container.problems) {
      const bytes = sizeOf(problem);
      if (bytes + headBytes <= this.#room) put(bytes).problems.push(problem);
    }
    for (const feature of container.features) {
      const bytes = sizeOf(feature);
      if (bytes + headBytes > this.#room) {
        const problem = tooLarge(feature, bytes);
        put(sizeOf(problem)).problems.push(problem);
      } else put(bytes).features.push(feature);
    }
  }

  finish(): readonly Part[] {
    return this.#parts;
  }

  /** The last part if it has room, else a new one. */
  #part(bytes: number): Part {
    if (this.#last.bytes + bytes > this.#room) this.#last = this.#open();
    this.#last.bytes += bytes;
    return this.#last;
  }

  #open(): Part {
    const part: Part = { features: [], problems: [], containers: [], bytes: 0 };
    this.#parts.push(part);
    return part;
  }
}

function tooLarge({ type, key }: Feature, bytes: number): Problem {
  return makeProblem(
    null,
    "truncated",
    `feature ${type} ${key.slice(0, 128)} is left out: ${bytes} bytes fit into no part`,
  );
}

/** With its comma. */
function sizeOf(value: unknown): number {
  return encode(value).length + 1;
}
