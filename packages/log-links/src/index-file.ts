import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { errorCode } from "@trawler/plugin-api";

/** Hidden, so that no pattern of a shipper takes it for a log, and no container's folder has its name. */
export const INDEX = ".index.json";
const MAX_INDEX = 64 * 1024 * 1024;

/** One log of one container: what was asked for and what came of it. */
export interface LogEntry {
  /** Where the link is or would be, from the folder on; null for a path that no link can have. */
  readonly link: string | null;
  /** `absent`: there is no such file now; `refused`: it may not be offered, `reason` says why. */
  readonly state: "linked" | "absent" | "refused";
  readonly reason: string | null;
  /** What the link says; null where there is none. */
  readonly target: string | null;
  /** Format of the runtime's own log; null for a file of the container: nobody knows. */
  readonly type: "docker-json" | "cri" | null;
  /** In the container, or on the node for the runtime's own log. */
  readonly path: string;
  readonly container: string;
  readonly containerId: string;
  readonly pod: string | null;
  readonly namespace: string | null;
  readonly podUid: string | null;
}

export interface Leaving {
  readonly link: string;
  readonly target: string;
}

/** The index as it stands in a folder; null where there is none. What is no index is an empty one: nothing in it is ours. */
export function readIndex(
  folder: string,
): { readonly logs: readonly LogEntry[]; readonly leaving: readonly Leaving[] } | null {
  try {
    const path = join(folder, INDEX);
    if (statSync(path).size > MAX_INDEX) return EMPTY;
    const value: unknown = JSON.parse(readFileSync(path, "utf8"));
    return { logs: list(value, "logs").filter(isEntry), leaving: list(value, "leaving").filter(isLeaving) };
  } catch (error) {
    if (errorCode(error) === "ENOENT") return null;
    if (error instanceof SyntaxError) return EMPTY;
    throw error;
  }
}

const EMPTY = { logs: [], leaving: [] };

function list(value: unknown, key: string): readonly unknown[] {
  const found: unknown = typeof value === "object" && value !== null ? Reflect.get(value, key) : undefined;
  return Array.isArray(found) ? found : [];
}

function has(value: unknown, key: string, type: string): boolean {
  return typeof value === "object" && value !== null && typeof Reflect.get(value, key) === type;
}

function isEntry(value: unknown): value is LogEntry {
  const texts = ["state", "path", "container", "containerId"];
  return texts.every((key) => has(value, key, "string")) && (has(value, "link", "object") || isInside(value));
}

function isLeaving(value: unknown): value is Leaving {
  return has(value, "link", "string") && has(value, "target", "string") && isInside(value);
}

/** A link that an index names is below its folder, whoever wrote it. */
function isInside(value: unknown): boolean {
  const link: unknown = typeof value === "object" && value !== null ? Reflect.get(value, "link") : null;
  return typeof link === "string" && link.split("/").every((name) => name !== "" && name !== "." && name !== "..");
}
