import type { StringMap } from "@trawler/plugin-api";
import type { Strings } from "./messages.ts";

/** Names whose values may leave a container's environment; all others may hold secrets. */
const ENVIRONMENT_NAMES: ReadonlySet<string> = new Set([
  "POD_NAME",
  "POD_NAMESPACE",
  "POD_UID",
  "POD_IP",
  "POD_IPS",
  "HOST_IP",
  "NODE_NAME",
  "POD_SERVICE_ACCOUNT",
]);

/** Largest text that is parsed, in UTF-16 units. */
const MAX_INFO = 4 * 1024 * 1024;
const MAX_VALUE = 4096;

/** Takes secrets out of the words of a command. */
export type Redact = (words: readonly string[]) => readonly string[];

/** The few things that leave a verbose status. */
export interface VerboseInfo {
  /** Null where nothing runs or the runtime does not say. */
  readonly pid: number | null;
  /** As in the OCI configuration: a path, or `slice:prefix:name` of the systemd driver. */
  readonly cgroupsPath: string | null;
  /** The image as the user wrote it; containerd alone says it here. */
  readonly image: string | null;
  readonly environment: StringMap;
}

/**
 * Reads the `info` of a verbose status: containerd and CRI-O put the OCI configuration there, cri-dockerd only the pid.
 * Of the environment only `names` and the names above leave this function. Unreadable input gives nulls.
 */
export function parseVerbose(info: Strings, names: ReadonlySet<string> = new Set()): VerboseInfo {
  return readVerbose(parseInfo(info), names);
}

/** As `parseVerbose`, of an object that was parsed before. */
export function readVerbose(root: Record<string, unknown> | null, names: ReadonlySet<string>): VerboseInfo {
  const spec = child(root, "runtimeSpec");
  const pid = root?.["pid"];
  const cgroupsPath = child(spec, "linux")?.["cgroupsPath"];
  const image = child(child(root, "config"), "image")?.["user_specified_image"];
  return {
    pid: typeof pid === "number" && Number.isSafeInteger(pid) && pid > 0 ? pid : null,
    cgroupsPath: typeof cgroupsPath === "string" && cgroupsPath !== "" ? cgroupsPath : null,
    image: typeof image === "string" && image !== "" ? image.slice(0, MAX_VALUE) : null,
    environment: allowed(child(spec, "process")?.["env"], names),
  };
}

function allowed(entries: unknown, names: ReadonlySet<string>): StringMap {
  const map: Record<string, string> = Object.create(null);
  if (!Array.isArray(entries)) return map;
  for (const entry of entries) {
    if (typeof entry !== "string") continue;
    const equals = entry.indexOf("=");
    const name = entry.slice(0, equals);
    if (equals > 0 && (ENVIRONMENT_NAMES.has(name) || names.has(name))) {
      map[name] = entry.slice(equals + 1, equals + 1 + MAX_VALUE);
    }
  }
  return map;
}

/** The object in the `info` of a verbose answer; null where there is none. */
export function parseInfo(info: Strings): Record<string, unknown> | null {
  const text = info["info"];
  if (text === undefined || text.length > MAX_INFO) return null;
  try {
    return child({ root: JSON.parse(text) }, "root");
  } catch {
    return null;
  }
}

/** A text that says something, or null. */
export function text(value: unknown, max: number = MAX_VALUE): string | null {
  return typeof value === "string" && value !== "" ? value.slice(0, max) : null;
}

export function list(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** At most `max` texts of a list, each capped. */
export function texts(value: unknown, max: number): readonly string[] {
  return list(value)
    .flatMap((one) => (typeof one === "string" ? [one.slice(0, MAX_VALUE)] : []))
    .slice(0, max);
}

export function child(parent: Record<string, unknown> | null, key: string): Record<string, unknown> | null {
  const value = parent?.[key];
  return typeof value === "object" && value !== null && !Array.isArray(value) ? { ...value } : null;
}
