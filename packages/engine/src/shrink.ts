import type { FeatureDigest, Frame, FrameContainer } from "@trawler/plugin-api";
import { type Encoded, encode } from "./encode.ts";
import { makeProblem } from "./problem.ts";
import { split } from "./split.ts";

/** Rows of one type (processes, peers) that stay at one place when a frame is too large. */
const KEPT_ROWS = 20;

/**
 * Makes a frame fit: as it is, else without what crawlers that work by difference only repeat, else with at most 20 rows
 * of a type at one place (of theirs, whose news come once, all), else split into parts. Each cut is a `truncated` problem
 * in it. Null where not even its head fits, which the caller has to count as a loss.
 */
export function fit(frame: Frame, bytes: Uint8Array, maxBytes: number): readonly Encoded[] | null {
  if (bytes.length <= maxBytes) return [{ frame, bytes }];
  let fewer = frame;
  for (const cut of [cutRepeats, cutRows]) {
    fewer = everywhere(fewer, cut);
    const encoded = encode(fewer);
    if (encoded.length <= maxBytes) return [{ frame: fewer, bytes: encoded }];
  }
  return split(fewer, maxBytes);
}

type Place = Pick<FrameContainer, "features" | "problems" | "digests">;

function everywhere(frame: Frame, cut: (place: Place) => Place): Frame {
  return {
    ...frame,
    ...cut(frame),
    containers: frame.containers.map((container): FrameContainer => ({ ...container, ...cut(container) })),
  };
}

/** Leaves out features that were sent before: their digest says that they are the same. */
function cutRepeats({ features, problems, digests = {} }: Place): Place {
  const repeats = ({ included, changed }: FeatureDigest): boolean => included && changed === false;
  const repeated = Object.entries(digests).filter(([, digest]) => repeats(digest));
  const news = new Set(Object.values(digests).flatMap((digest) => (repeats(digest) ? [] : digest.types)));
  const cut = new Set(repeated.flatMap(([, { types }]) => types.filter((type) => !news.has(type))));
  if (cut.size === 0) return { features, problems };
  const left = repeated.map(([crawler, digest]) => [crawler, { ...digest, included: false }] as const);
  const cuts = repeated.map(([crawler]) =>
    makeProblem(crawler, "truncated", "the frame was too large: features that were sent before are left out"),
  );
  return {
    features: features.filter(({ type }) => !cut.has(type)),
    problems: [...problems, ...cuts],
    digests: { ...digests, ...Object.fromEntries(left) },
  };
}

function cutRows({ features, problems, digests }: Place): Place {
  const whole = new Set(Object.values(digests ?? {}).flatMap(({ types }) => types));
  const counts = new Map<string, number>();
  const kept = features.filter(({ type }) => {
    if (whole.has(type)) return true;
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
