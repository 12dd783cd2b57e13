import { parseImage } from "@trawler/plugin-api";

/** The parts of an image's reference by the grammar of OCI distribution; null = it does not say. */
export interface ImageReference {
  /** Host, with its port; null where none is written: which one is asked then is the runtime's choice. */
  readonly registry: string | null;
  /** Path in the registry, without it. */
  readonly repository: string | null;
  /** What stands in the repository's path before its last part. */
  readonly namespace: string | null;
  /** Last part of the repository's path. */
  readonly name: string | null;
  readonly tag: string | null;
  readonly digest: string | null;
}

/**
 * Takes a reference apart. The first part is a registry where it has a point or a port or is `localhost`, as container
 * tools tell it from a user's name.
 */
export function parseReference(reference: string): ImageReference {
  const { name: full, tag, digest } = parseImage(reference);
  const [first = "", ...rest] = full?.split("/") ?? [];
  const hasRegistry = rest.length > 0 && (/[.:]/.test(first) || first === "localhost");
  const path = hasRegistry ? rest : full === null ? [] : [first, ...rest];
  return {
    registry: hasRegistry ? first : null,
    repository: path.join("/") || null,
    namespace: path.slice(0, -1).join("/") || null,
    name: path.at(-1) || null,
    tag,
    digest,
  };
}

/** Prefixes of the labels that images carry about themselves. */
const PREFIXES = ["org.opencontainers.image.", "org.label-schema."];
const MAX_LABELS = 64;

/** `name=value` of the labels that say something about the image, sorted by name. */
export function imageLabels(labels: Readonly<Record<string, string>>): readonly string[] {
  return Object.entries(labels)
    .filter(([name]) => PREFIXES.some((prefix) => name.startsWith(prefix)))
    .map(([name, value]) => `${name}=${value}`)
    .sort()
    .slice(0, MAX_LABELS);
}
