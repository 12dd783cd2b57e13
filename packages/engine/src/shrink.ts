import type { Feature, Frame, FrameContainer, Problem } from "@trawler/plugin-api";
import { encode } from "./encode.ts";
import { makeProblem } from "./problem.ts";
import { split } from "./split.ts";

/** Rows of one type (processes, peers) that stay at one place when a frame is too large. */
const KEPT_ROWS = 20;

/** One frame as it is sent: whole, or one of its parts. */
export interface Encoded {
  readonly frame: Frame;
  readonly bytes: Uint8Array;
}

/**
 * Makes a frame fit: as it is, else with at most 20 rows of a type at one place, else split into parts. Each cut is a
 * `truncated` problem in it. Null where not even its head fits, which the caller has to count as a loss.
 */
export function fit(frame: Frame, bytes: Uint8Array, maxBytes: number): readonly Encoded[] | null {
  if (bytes.length <= maxBytes) return [{ frame, bytes }];
  const fewer = cutRows(frame);
  const encoded = encode(fewer);
  return encoded.length <= maxBytes ? [{ frame: fewer, bytes: encoded }] : split(fewer, maxBytes);
}

function cutRows(frame: Frame): Frame {
  return {
    ...frame,
    ...cutPlace(frame),
    containers: frame.containers.map((container): FrameContainer => ({ ...container, ...cutPlace(container) })),
  };
}

function cutPlace({ features, problems }: Pick<FrameContainer, "features" | "problems">): {
  readonly features: readonly Feature[];
  readonly problems: readonly Problem[];
} {
  const counts = new Map<string, number>();
  const kept = features.filter(({ type }) => {
    const count = (counts.get(type) ?? 0) + 1;
    counts.set(type, count);
    return count <= KEPT_ROWS;
  });
  const cuts = Array.from(counts)
    .filter(([, count]) => count > KEPT_ROWS)
    .map(([type, count]) =>
      makeProblem(null, "truncated", `the frame was too large: ${KEPT_ROWS} of ${count} ${type} features are kept`),
    );
  return { features: kept, problems: [...problems, ...cuts] };
}
