import { openHostFileSystem, ProcFileReader } from "@trawler/linux";
import type { CallContext, Environment, NodeInfo, Workload, WorkloadEvent } from "@trawler/plugin-api";

/** OpenTelemetry's `host.arch` by Node's name. */
const ARCHITECTURES: Readonly<Record<string, string>> = { x64: "amd64", arm64: "arm64", arm: "arm32", ia32: "x86" };

const MAX_KERNEL = 256;

/** Reports one workload, the host; it never changes and never goes. */
export class HostEnvironment implements Environment {
  readonly #node: NodeInfo;

  constructor(node: NodeInfo) {
    this.#node = node;
  }

  async *discover({ signal }: CallContext): AsyncIterable<WorkloadEvent> {
    const { root, proc } = this.#node.paths;
    yield { type: "added", workload: hostWorkload(this.#node, await readMachineId(root), readKernel(proc)) };
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

/** What runs below all containers, from `/proc/sys/kernel` (proc_sys_kernel(5)). */
export interface Kernel {
  /** Such as `6.12.8-amd64`. */
  readonly release: string;
  /** Such as `#1 SMP PREEMPT_DYNAMIC` and when it was built. */
  readonly version: string;
}

function readKernel(proc: string): Kernel | null {
  const files = new ProcFileReader(proc);
  try {
    const release = files.text("sys/kernel/osrelease", MAX_KERNEL).trim();
    return { release, version: files.text("sys/kernel/version", MAX_KERNEL).trim() };
  } catch {
    return null;
  }
}

/** The host as a workload. Its id falls back to the node's name. */
export function hostWorkload(node: NodeInfo, machineId: string | null, kernel: Kernel | null): Workload {
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
      // Which distribution it is says the crawler `os`.
      ...(kernel === null
        ? {}
        : { "os.description": `Linux ${kernel.release} ${kernel.version}`, "trawler.kernel.release": kernel.release }),
    },
    labels: Object.create(null),
    annotations: Object.create(null),
    status: null,
    metadata: { complete: true, reason: null, groups: {} },
  };
}
