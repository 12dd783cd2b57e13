import { execFileSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import type { NodeInfo, Workload } from "@trawler/plugin-api";
import { fakeContainer, fakeWorkload } from "@trawler/testkit";

const FIXTURES = join(import.meta.dirname, "../../../test/fixtures/linux");

/** One pod of a captured node: its cgroup, and its containers by name. */
export interface CapturedPod {
  readonly cgroup: string;
  readonly workload: Workload;
  /** Bytes of memory of each container, by id. */
  readonly usage: ReadonlyMap<string, number>;
}

/** A captured node, unpacked to a temporary folder until disposed. */
export class CapturedNode implements Disposable {
  readonly folder: string;

  constructor(name: string) {
    this.folder = mkdtempSync(join(tmpdir(), "trawler-pod-"));
    execFileSync("tar", [
      "-xzf",
      join(FIXTURES, `${name}.tgz`),
      "-C",
      this.folder,
      "--wildcards",
      "sample2/*",
      "meta/*",
    ]);
  }

  get paths(): NodeInfo["paths"] {
    const root = join(this.folder, "sample2");
    return { root, proc: join(root, "proc"), cgroup: join(root, "sys/fs/cgroup") };
  }

  pod(name: string): CapturedPod {
    const lines = readFileSync(join(this.folder, "meta/expected.tsv"), "utf8").split("\n");
    const rows = lines.map((line) => line.split("\t")).filter((row) => row[1] === name && row[4]?.startsWith("/"));
    const cgroup = dirname(rows[0]?.[4] ?? "");
    const podUid = /pod([0-9a-f_-]{32,36})/.exec(cgroup)?.[1]?.replaceAll("_", "-") ?? "";
    const containers = rows.map((row) => {
      const id = /[0-9a-f]{64}/.exec(row[4] ?? "")?.[0] ?? "";
      const [pid] = this.pidsOf(row[4] ?? "");
      return fakeContainer({ name: row[2] ?? "", id, handle: { containerId: id, ...(pid !== undefined && { pid }) } });
    });
    const ids = new Set(containers.map(({ id }) => id));
    const id = this.childrenOf(cgroup).find((child) => !ids.has(child)) ?? "";
    const sandbox = { id, handle: { containerId: id }, hostNetwork: false };
    return {
      cgroup,
      workload: fakeWorkload({ id: podUid, name: `shop/${name}`, handle: { podUid }, containers, sandbox }),
      usage: new Map(rows.map((row) => [/[0-9a-f]{64}/.exec(row[4] ?? "")?.[0] ?? "", Number(row[8])])),
    };
  }

  pidsOf(cgroup: string): readonly number[] {
    const text = readFileSync(join(this.paths.cgroup, cgroup, "cgroup.procs"), "utf8");
    return text.split("\n").filter(Boolean).map(Number);
  }

  childrenOf(cgroup: string): readonly string[] {
    const entries = readdirSync(join(this.paths.cgroup, cgroup), { withFileTypes: true });
    return entries.flatMap((entry) => (entry.isDirectory() ? (/[0-9a-f]{64}/.exec(basename(entry.name)) ?? []) : []));
  }

  [Symbol.dispose](): void {
    rmSync(this.folder, { recursive: true, force: true });
  }
}
