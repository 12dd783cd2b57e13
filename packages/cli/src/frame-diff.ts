import type { Feature, FeatureValue, Frame, StringMap } from "@trawler/plugin-api";

/** One line of what differs between two sets of frames. */
export interface Difference {
  readonly kind: "added" | "removed" | "changed";
  /** `shop/cart-0`, with the container behind it where it is about one. */
  readonly subject: string;
  /** `package openssl:amd64`, `label app`; null where it is the subject itself. */
  readonly what: string | null;
  readonly before: string | null;
  readonly after: string | null;
}

type Facts = ReadonlyMap<string, string>;

/**
 * What was added, removed and changed from the first to the second, by subject, container, type and key. Of several
 * frames of a subject the last counts. Figures move all the time: they are compared only with `figures`.
 */
export function diffFrames(before: readonly Frame[], after: readonly Frame[], figures: boolean): readonly Difference[] {
  const [first, second] = [bySubject(before), bySubject(after)];
  const names = [...new Set([...first.keys(), ...second.keys()])].sort();
  return names.flatMap((subject): readonly Difference[] => {
    const [one, other] = [first.get(subject), second.get(subject)];
    if (one === undefined) return [{ kind: "added", subject, what: null, before: null, after: null }];
    if (other === undefined) return [{ kind: "removed", subject, what: null, before: null, after: null }];
    return diffFacts(factsOf(one, figures), factsOf(other, figures)).map((found) => ({ ...found, subject }));
  });
}

function diffFacts(before: Facts, after: Facts): readonly Omit<Difference, "subject">[] {
  const names = [...new Set([...before.keys(), ...after.keys()])].sort();
  return names.flatMap((what): readonly Omit<Difference, "subject">[] => {
    const [one = null, other = null] = [before.get(what), after.get(what)];
    if (one === other) return [];
    const kind = one === null ? "added" : other === null ? "removed" : "changed";
    return [{ kind, what, before: one, after: other }];
  });
}

function bySubject(frames: readonly Frame[]): ReadonlyMap<string, Frame> {
  return new Map(frames.map((frame) => [nameOf(frame), frame]));
}

/** A pod that was made anew under its name is the same subject: that is what one looks for. */
function nameOf({ resource }: Frame): string {
  const pod = resource["k8s.pod.name"];
  if (typeof pod === "string") return `${String(resource["k8s.namespace.name"])}/${pod}`;
  return String(resource["container.name"] ?? resource["container.id"] ?? resource["host.name"]);
}

function factsOf(frame: Frame, figures: boolean): Facts {
  return new Map([
    ...mapFacts("label", frame.labels),
    ...mapFacts("annotation", frame.annotations),
    ...featureFacts("", frame.features, figures),
    ...frame.containers.flatMap((container) => [
      [`${container.name}: image`, container.image] as const,
      ...featureFacts(`${container.name}: `, container.features, figures),
    ]),
  ]);
}

function mapFacts(what: string, map: StringMap): readonly (readonly [string, string])[] {
  return Object.entries(map).map(([key, value]) => [`${what} ${key}`, value]);
}

function featureFacts(
  prefix: string,
  features: readonly Feature[],
  figures: boolean,
): readonly (readonly [string, string])[] {
  return features.map((feature) => {
    const fields = Object.entries(feature.value as FeatureValue).filter(
      ([, field]) => figures || (typeof field !== "number" && typeof field !== "bigint"),
    );
    const name = feature.key === feature.type ? feature.type : `${feature.type} ${feature.key}`;
    return [`${prefix}${name}`, fields.map(([field, value]) => `${field}=${JSON.stringify(value)}`).join(" ")];
  });
}
