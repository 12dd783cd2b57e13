import { type InterfaceFigures, TrawlerError, unsupported } from "@trawler/plugin-api";
import { isGone, orNull, type ProcFiles } from "../proc/files.ts";
import type { Belongs } from "../proc/process-reader.ts";
import { parseInterfaces } from "./interfaces.ts";
import { findNodeNamespace } from "./node-namespace.ts";

/** Bytes of `/proc/PID/net/dev`: some two thousand interfaces. */
const TABLE_BYTES = 256 * 1024;

export interface InterfaceSource {
  /** Processes whose network namespace is the subject's, best first; whether they still are its own is asked here. */
  readonly pids: Iterable<number>;
  /** Tells by `/proc/PID/cgroup` whether a pid still is one of them. */
  readonly belongs: Belongs;
  /** What the environment says. */
  readonly hostNetwork: boolean;
}

/**
 * Counters of a subject's own network namespace. Throws TRAWLER_UNSUPPORTED where it is the node's (its traffic is not
 * the subject's), TRAWLER_GONE where no process is left.
 */
export function readInterfaces(files: ProcFiles, source: InterfaceSource): readonly InterfaceFigures[] {
  if (source.hostNetwork) throw sharesNetwork();
  const node = findNodeNamespace(files);
  for (const pid of source.pids) {
    try {
      // Without the right to read the links, what the environment says has to do.
      const shares = node !== null && orNull(() => files.link(`${pid}/ns/net`)) === node.link;
      const text = shares ? "" : files.text(`${pid}/net/dev`, TABLE_BYTES);
      if (!source.belongs(files.text(`${pid}/cgroup`))) continue;
      if (shares) throw sharesNetwork();
      return parseInterfaces(text);
    } catch (error) {
      if (!isGone(error)) throw error;
    }
  }
  throw new TrawlerError("TRAWLER_GONE", "no process of the network namespace runs any more");
}

/** Host ends of containers' links and the bridges of container engines: their traffic is counted elsewhere as well. */
const OF_CONTAINERS = /^(?:veth|docker|nerdctl)/;

/** Counters of the node's own network namespace (that of its first process), without the links of containers. */
export function readHostInterfaces(files: ProcFiles): readonly InterfaceFigures[] {
  return parseInterfaces(files.text("1/net/dev", TABLE_BYTES)).filter(({ name }) => !OF_CONTAINERS.test(name));
}

function sharesNetwork(): TrawlerError {
  return unsupported("the pod uses the node's network: its counters are the node's, not the pod's");
}
