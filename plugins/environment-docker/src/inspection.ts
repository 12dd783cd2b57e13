import { parseCommandLine } from "@trawler/linux";
import type { ContainerInspection, InspectedMount } from "@trawler/plugin-api";
import { type Json, list, number, record, text, time } from "./value.ts";

/** A frame holds no longer list. */
const MAX_ITEMS = 256;
const MAX_TEXT = 1024;

/** What one `inspect` says beyond `Facts`. Bridges are added by who knows the networks. */
export function readInspection(inspect: Json): ContainerInspection {
  const config = record(inspect["Config"]);
  const host = record(inspect["HostConfig"]);
  const restart = record(host["RestartPolicy"]);
  const settings = record(inspect["NetworkSettings"]);
  const security = texts(host["SecurityOpt"]);
  const limit = number(restart["MaximumRetryCount"]);
  const path = text(inspect["Path"]);
  return {
    source: "docker",
    createdAt: time(inspect["Created"]),
    platform: text(inspect["Platform"]),
    storageDriver: text(inspect["Driver"]),
    runtime: text(host["Runtime"]),
    commandLine: path === null ? null : redacted([path, ...texts(inspect["Args"])]),
    entrypoint: "Entrypoint" in config ? redacted(texts(config["Entrypoint"])) : null,
    workingDirectory: text(config["WorkingDir"]),
    user: text(config["User"]),
    environment: "Env" in config ? names(config["Env"]) : null,
    // The engine's older word for `no` is an empty text.
    restartPolicy: text(restart["Name"]) ?? ("Name" in restart ? "no" : null),
    restartLimit: limit !== null && limit > 0 ? limit : null,
    privileged: flag(host["Privileged"]),
    readOnlyRoot: flag(host["ReadonlyRootfs"]),
    noNewPrivileges: security.some((one) => /^no-new-privileges(?:[:=]true)?$/.test(one)),
    capabilitiesAdded: capabilities(host["CapAdd"]),
    capabilitiesDropped: capabilities(host["CapDrop"]),
    securityOptions: security,
    hostNamespaces: NAMESPACES.flatMap(([field, name]) => (host[field] === "host" ? [name] : [])),
    networkMode: text(host["NetworkMode"]),
    networks: Object.keys(record(settings["Networks"])).sort().slice(0, MAX_ITEMS),
    bridges: null,
    usesDefaultBridge: null,
    ports: ports(record(settings["Ports"]), record(config["ExposedPorts"])),
    mounts: [...list(inspect["Mounts"]).flatMap(mount), ...Object.entries(record(host["Tmpfs"])).map(tmpfs)].slice(
      0,
      MAX_ITEMS,
    ),
    logPath: text(inspect["LogPath"]),
    logDriver: text(record(host["LogConfig"])["Type"]),
  };
}

const NAMESPACES = [
  ["NetworkMode", "network"],
  ["PidMode", "pid"],
  ["IpcMode", "ipc"],
  ["UTSMode", "uts"],
  ["UsernsMode", "user"],
  ["CgroupnsMode", "cgroup"],
] as const;

/** A list of texts; older engines give one text where newer ones give a list of one. */
function texts(value: unknown): readonly string[] {
  const items = typeof value === "string" ? [value] : list(value);
  return items.flatMap((one) => (typeof one === "string" ? [one.slice(0, MAX_TEXT)] : [])).slice(0, MAX_ITEMS);
}

/** As the command line of a process is. */
function redacted(words: readonly string[]): readonly string[] {
  return parseCommandLine(words.join("\0"));
}

/** Of `NAME=value`: values may be secrets. */
function names(environment: unknown): readonly string[] {
  return [...new Set(texts(environment).map((entry) => entry.split("=", 1)[0] ?? ""))]
    .filter((one) => one !== "")
    .sort();
}

function capabilities(value: unknown): readonly string[] {
  return texts(value)
    .map((name) => name.toUpperCase().replace(/^CAP_/, ""))
    .sort();
}

function flag(value: unknown): boolean | null {
  return typeof value === "boolean" ? value : null;
}

function ports(published: Json, exposed: Json): readonly string[] {
  const all = [...new Set([...Object.keys(published), ...Object.keys(exposed)])].sort();
  return all
    .flatMap((port) => {
      const bindings = list(published[port]).map(record);
      if (bindings.length === 0) return [port];
      return bindings.map(({ HostIp, HostPort }) => `${address(text(HostIp))}:${text(HostPort) ?? ""}->${port}`);
    })
    .slice(0, MAX_ITEMS);
}

function address(ip: string | null): string {
  if (ip === null) return "0.0.0.0";
  return ip.includes(":") ? `[${ip}]` : ip;
}

function mount(value: unknown): readonly InspectedMount[] {
  const { Type, Source, Destination, Name, RW, Propagation } = record(value);
  const destination = text(Destination);
  if (destination === null) return [];
  const write = flag(RW);
  return [
    {
      type: text(Type),
      source: text(Source),
      destination,
      name: text(Name),
      readOnly: write === null ? null : !write,
      propagation: text(Propagation),
    },
  ];
}

/** `--tmpfs` stands beside the mounts, its options as one text. */
function tmpfs([destination, options]: readonly [string, unknown]): InspectedMount {
  const readOnly = (text(options) ?? "").split(",").includes("ro");
  return { type: "tmpfs", source: null, destination, name: null, readOnly, propagation: null };
}
