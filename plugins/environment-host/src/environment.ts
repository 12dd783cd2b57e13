import { openHostFileSystem, ProcFileReader, parseFibTrie, parseIfInet6, parseSystemStat } from "@trawler/linux";
import type { CallContext, Environment, NodeInfo, Resource, Workload, WorkloadEvent } from "@trawler/plugin-api";

/** OpenTelemetry's `host.arch` by Node's name. */
const ARCHITECTURES: Readonly<Record<string, string>> = { x64: "amd64", arm64: "arm64", arm: "arm32", ia32: "x86" };

const MAX_KERNEL = 256;
/** Bytes: a line for each interrupt, or a few for each route. */
const MAX_TABLE = 1024 * 1024;

/** Reports one workload, the host; it never changes and never goes. */
export class HostEnvironment implements Environment {
  readonly #node: NodeInfo;

  constructor(node: NodeInfo) {
    this.#node = node;
  }

  async *discover({ signal }: CallContext): AsyncIterable<WorkloadEvent> {
    const { root, proc } = this.#node.paths;
    const files = new ProcFileReader(proc);
    const attributes = { ...kernelOf(files), ...bootOf(files), ...addressesOf(files) };
    yield { type: "added", workload: hostWorkload(this.#node, await readMachineId(root), attributes) };
    yield { type: "synced" };
    if (signal.aborted) return;
    await new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true }));
  }

  describe(): string {
    return `host ${this.#node.name}`;
  }
}

/** `/etc/machine-id` (machine-id(5)), links resolved below the host's root; null where there is none yet. */
async function readMachineId(root: string): Promise<string | null> {
  try {
    await using files = await openHostFileSystem(root);
    return parseMachineId(await files.readText("/etc/machine-id", { maxBytes: 256 }));
  } catch {
    return null;
  }
}

/** 32 lower-case hexadecimal digits; images hold `uninitialized` or nothing. */
export function parseMachineId(text: string): string | null {
  const id = text.trim();
  return /^[0-9a-f]{32}$/.test(id) ? id : null;
}

/** What runs below all containers, from `/proc/sys/kernel` (proc_sys_kernel(5)): its release, and when it was built. */
function kernelOf(files: ProcFileReader): Resource {
  const release = read(files, "sys/kernel/osrelease", MAX_KERNEL);
  const version = read(files, "sys/kernel/version", MAX_KERNEL);
  if (release === "" || version === "") return {};
  // Which distribution it is says the crawler `os`.
  return { "os.description": `Linux ${release} ${version}`, "trawler.kernel.release": release };
}

/** When the machine started, as its clock says now; a frame's time less this is how long it is up. */
function bootOf(files: ProcFileReader): Resource {
  const { bootTime } = parseSystemStat(read(files, "stat", MAX_TABLE));
  return bootTime === null ? {} : { "trawler.host.boot.time": new Date(bootTime * 1000).toISOString() };
}

/** Addresses in the network namespace of the host's first process, whichever this one is in. */
function addressesOf(files: ProcFileReader): Resource {
  const addresses = [
    ...parseFibTrie(read(files, "1/net/fib_trie", MAX_TABLE)),
    ...parseIfInet6(read(files, "1/net/if_inet6", MAX_TABLE)),
  ];
  return addresses.length === 0 ? {} : { "host.ip": addresses };
}

/** Empty where the file is missing, or our rights do not reach it. */
function read(files: ProcFileReader, path: string, maxBytes: number): string {
  try {
    return files.text(path, maxBytes).trim();
  } catch {
    return "";
  }
}

/** The host as a workload. Its id falls back to the node's name. */
export function hostWorkload(node: NodeInfo, machineId: string | null, attributes: Resource): Workload {
  const id = machineId ?? node.name;
  return {
    kind: "host",
    id,
    name: node.name,
    lifecycle: "running",
    handle: { pid: 1 },
    sandbox: null,
    containers: [],
    resource: {
      "host.name": node.name,
      "host.id": id,
      "host.arch": ARCHITECTURES[process.arch] ?? process.arch,
      "os.type": "linux",
      ...attributes,
    },
    labels: Object.create(null),
    annotations: Object.create(null),
    status: null,
    metadata: { complete: true, reason: null, groups: {} },
  };
}
