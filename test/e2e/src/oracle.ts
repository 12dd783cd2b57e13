import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { type CriClient, openCri } from "@trawler/kube";

/** What independent readers say of one pod at one time: the runtime's own figures, and the counters of its namespace. */
export interface Oracle {
  /** By container name: seconds and bytes. */
  readonly containers: Readonly<Record<string, { readonly cpuTime: number; readonly workingSet: number }>>;
  readonly podCpuTime: number;
  /** By interface: bytes received and sent. */
  readonly network: Readonly<Record<string, { readonly received: number; readonly sent: number }>>;
}

export async function withCri<T>(socket: string, use: (cri: CriClient) => Promise<T>): Promise<T> {
  using cri = await openCri(socket);
  return await use(cri);
}

export async function readOracle(cri: CriClient, podUid: string): Promise<Oracle> {
  const sandbox = (await cri.listPodSandboxes()).find(({ metadata }) => metadata?.uid === podUid);
  if (!sandbox) throw new Error(`the runtime has no sandbox of ${podUid}`);
  const list = await cri.listContainers({ podSandboxId: sandbox.id });
  const figures = await Promise.all(
    list.map(async ({ id, metadata }) => {
      const { cpu, memory } = await cri.containerStats(id);
      const cpuTime = Number(cpu?.usageCoreNanoSeconds?.value ?? Number.NaN) / 1e9;
      return [
        metadata?.name ?? id,
        { cpuTime, workingSet: Number(memory?.workingSetBytes?.value ?? Number.NaN) },
      ] as const;
    }),
  );
  const pod = (await cri.listPodSandboxStats()).find(({ attributes }) => attributes?.id === sandbox.id);
  const { info } = await cri.podSandboxStatus(sandbox.id, { verbose: true });
  const { pid } = JSON.parse(info["info"] ?? "{}") as { pid: number };
  return {
    containers: Object.fromEntries(figures),
    podCpuTime: Number(pod?.linux?.cpu?.usageCoreNanoSeconds?.value ?? Number.NaN) / 1e9,
    network: await interfacesInside(pid),
  };
}

/** `/proc/net/dev` read by a program that runs inside the namespace. */
async function interfacesInside(pid: number): Promise<Oracle["network"]> {
  const { stdout } = await promisify(execFile)("nsenter", ["-t", String(pid), "-n", "cat", "/proc/net/dev"]);
  const rows = stdout.split("\n").flatMap((line) => {
    const [, name, counters] = /^\s*([^:\s]+):\s*(.*)$/.exec(line) ?? [];
    if (name === undefined || counters === undefined || name === "lo") return [];
    const numbers = counters.trim().split(/\s+/).map(Number);
    return [[name, { received: numbers[0] ?? Number.NaN, sent: numbers[8] ?? Number.NaN }] as const];
  });
  return Object.fromEntries(rows);
}
