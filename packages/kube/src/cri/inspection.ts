import type { ContainerInspection, InspectedMount } from "@trawler/plugin-api";
import type { ContainerStatus } from "./messages.ts";
import { timeOfNanos } from "./time.ts";
import { child, list, type Redact, text, texts } from "./verbose.ts";

type Json = Readonly<Record<string, unknown>>;

const MAX_ITEMS = 256;

/**
 * What the runtime was told of a container: its status and, of the `info` of a verbose one, the OCI configuration
 * (`runtimeSpec`) and the CRI's (`config`, containerd alone). What the CRI leaves to others (networks, restarts) is null.
 */
export function readInspection(status: ContainerStatus, info: Json | null, redact: Redact): ContainerInspection {
  const spec = child(info, "runtimeSpec");
  const process = child(spec, "process");
  const root = child(spec, "root");
  const security = child(child(child(info, "config"), "linux"), "security_context");
  const capabilities = child(security, "capabilities");
  return {
    source: "cri",
    createdAt: timeOfNanos(status.createdAt),
    platform: spec === null ? null : child(spec, "windows") === null ? "linux" : "windows",
    storageDriver: text(info?.["snapshotter"]),
    runtime: text(info?.["runtimeType"]),
    commandLine: process === null ? null : redact(texts(process["args"], MAX_ITEMS)),
    entrypoint: null,
    workingDirectory: text(process?.["cwd"]),
    user: userOf(process),
    environment: process === null ? null : variables(process["env"]),
    restartPolicy: null,
    restartLimit: null,
    // Protobuf and the OCI configuration leave out what is false.
    privileged: security === null ? flag(info?.["privileged"]) : security["privileged"] === true,
    readOnlyRoot: root && root["readonly"] === true,
    noNewPrivileges: process && process["noNewPrivileges"] === true,
    capabilitiesAdded: security && names(capabilities?.["add_capabilities"]),
    capabilitiesDropped: security && names(capabilities?.["drop_capabilities"]),
    securityOptions: security && profiles(security),
    hostNamespaces: security && hostNamespaces(child(security, "namespace_options")),
    networkMode: null,
    networks: null,
    bridges: null,
    usesDefaultBridge: null,
    ports: null,
    mounts: mounts(spec?.["mounts"]),
    logPath: text(status.logPath),
    logDriver: null,
  };
}

function flag(value: unknown): boolean | null {
  return typeof value === "boolean" ? value : null;
}

function userOf(process: Json | null): string | null {
  const { uid, gid } = child(process, "user") ?? {};
  if (typeof uid !== "number") return null;
  return typeof gid === "number" ? `${uid}:${gid}` : String(uid);
}

/** Of `NAME=value`: values may be secrets. */
function variables(environment: unknown): readonly string[] {
  const all = texts(environment, MAX_ITEMS).map((entry) => entry.split("=", 1)[0] ?? "");
  return [...new Set(all)].filter((name) => name !== "").sort();
}

function hostNamespaces(options: Json | null): readonly string[] {
  return ["network", "pid", "ipc"].filter((name) => options?.[name] === NODE);
}

/** `NamespaceMode` of the protocol. */
const NODE = 2;

function names(value: unknown): readonly string[] {
  return texts(value, MAX_ITEMS)
    .map((name) => name.toUpperCase().replace(/^CAP_/, ""))
    .sort();
}

/** `SecurityProfile.ProfileType` of the protocol. */
const PROFILES = ["runtime-default", "unconfined", "localhost"];

function profiles(security: Json): readonly string[] {
  return ["seccomp", "apparmor"].flatMap((name) => {
    const profile = child(security, name);
    const type = profile?.["profile_type"] ?? 0;
    const word = profile !== null && typeof type === "number" ? PROFILES[type] : undefined;
    return word === undefined ? [] : [`${name}=${word}`];
  });
}

/** The kernel's own file systems, which every container has, are left out: what comes from the node says something. */
function mounts(value: unknown): readonly InspectedMount[] {
  return list(value)
    .flatMap((one): readonly InspectedMount[] => {
      const mount = child({ mount: one }, "mount");
      const destination = text(mount?.["destination"]);
      const source = text(mount?.["source"]);
      if (destination === null || source?.startsWith("/") !== true) return [];
      const options = texts(mount?.["options"], MAX_ITEMS);
      const propagation = options.find((option) => /^r?(?:private|slave|shared|unbindable)$/.test(option)) ?? null;
      const readOnly = options.includes("ro");
      return [{ type: text(mount?.["type"]) ?? "bind", source, destination, name: null, readOnly, propagation }];
    })
    .slice(0, MAX_ITEMS);
}
