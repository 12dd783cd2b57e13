import { existsSync } from "node:fs";
import { posix } from "node:path";
import { type CgroupAccess, type Clock, type Pressure, TrawlerError, unsupported } from "@trawler/plugin-api";
import { hasDevice, parseBlkio, parseIoStat, parsePids } from "./block.ts";
import { parseCpuV1, parseCpuV2 } from "./cpu.ts";
import { type Controller, type Hierarchy, hierarchyFolders } from "./hierarchy.ts";
import { KeptFiles, type ReadBuffer } from "./kept-file.ts";
import type { LimitsAbove } from "./limits-above.ts";
import { parseMemoryV1, parseMemoryV2 } from "./memory.ts";
import { parsePressure } from "./pressure.ts";

/** What all readers of one node share. */
export interface CgroupReaderOptions {
  readonly clock: Clock;
  readonly buffer: ReadBuffer;
  readonly limits: LimitsAbove;
}

/**
 * Figures of one cgroup, by descriptors that stay open until it is closed: a pod's can be read until it is removed,
 * after its containers have ended. Every read throws TRAWLER_GONE once the cgroup has been removed.
 */
export class CgroupReader implements CgroupAccess, Disposable {
  readonly path: string;
  readonly #hierarchy: Hierarchy;
  readonly #clock: Clock;
  readonly #files: KeptFiles;
  readonly #limits: LimitsAbove;
  readonly #above: readonly string[];

  constructor(hierarchy: Hierarchy, path: string, { clock, buffer, limits }: CgroupReaderOptions) {
    this.#hierarchy = hierarchy;
    this.path = path;
    this.#clock = clock;
    this.#files = new KeptFiles(buffer);
    this.#limits = limits;
    this.#above = limitFolders(hierarchy, path);
  }

  async cpu(): ReturnType<CgroupAccess["cpu"]> {
    const accounting = this.#v1("cpuacct");
    const bandwidth = this.#v1("cpu");
    const { unified } = this.#hierarchy;
    if (accounting === null && bandwidth === null && unified !== null) {
      const folder = `${unified}${this.path}`;
      // The clock is read beside the counter, so that a rate over two reads is true.
      const stat = this.#read(folder, "cpu.stat");
      const monotonic = this.#clock.monotonic();
      return parseCpuV2(stat, this.#read(folder, "cpu.max"), monotonic);
    }
    const usage = this.#read(accounting, "cpuacct.usage");
    const monotonic = this.#clock.monotonic();
    const quota = this.#read(bandwidth, "cpu.cfs_quota_us");
    return parseCpuV1(
      {
        usage,
        accounting: this.#read(accounting, "cpuacct.stat"),
        stat: this.#read(bandwidth, "cpu.stat"),
        quota,
        // −1 = no limit, whatever the period.
        period: quota?.startsWith("-") ? null : this.#read(bandwidth, "cpu.cfs_period_us"),
      },
      monotonic,
    );
  }

  async memory(): ReturnType<CgroupAccess["memory"]> {
    const v1 = this.#v1("memory");
    if (v1 !== null) {
      return parseMemoryV1({
        usage: this.#read(v1, "memory.usage_in_bytes"),
        stat: this.#read(v1, "memory.stat"),
        peak: this.#read(v1, "memory.max_usage_in_bytes"),
        limit: this.#read(v1, "memory.limit_in_bytes"),
        outOfMemory: this.#read(v1, "memory.oom_control"),
        ancestorLimits: this.#aboveLimits("memory.limit_in_bytes"),
      });
    }
    const folder = this.#unified();
    return parseMemoryV2({
      current: this.#read(folder, "memory.current"),
      stat: this.#read(folder, "memory.stat"),
      swap: this.#read(folder, "memory.swap.current"),
      peak: this.#read(folder, "memory.peak"),
      max: this.#read(folder, "memory.max"),
      events: this.#read(folder, "memory.events"),
      ancestorLimits: this.#aboveLimits("memory.max"),
    });
  }

  async block(): ReturnType<CgroupAccess["block"]> {
    const v1 = this.#v1("blkio");
    if (v1 === null) return parseIoStat(this.#read(this.#unified(), "io.stat") ?? "");
    // Recursive files hold the children too; which of the policies counts depends on the kernel and the scheduler.
    for (const prefix of ["blkio.throttle", "blkio.bfq"]) {
      const bytes = this.#read(v1, `${prefix}.io_service_bytes_recursive`) ?? "";
      // Both name the same devices: most containers have used none.
      if (!hasDevice(bytes)) continue;
      const figures = parseBlkio(bytes, this.#read(v1, `${prefix}.io_serviced_recursive`) ?? "");
      if (figures.length > 0) return figures;
    }
    return [];
  }

  async pids(): ReturnType<CgroupAccess["pids"]> {
    const folder = this.#v1("pids") ?? this.#unified();
    return parsePids(this.#read(folder, "pids.current"), this.#read(folder, "pids.max"));
  }

  async processors(): ReturnType<CgroupAccess["processors"]> {
    throw unsupported("processors are the host's");
  }

  async pressure(): ReturnType<CgroupAccess["pressure"]> {
    const folder = this.#unified();
    const read = (name: string): Pressure | null => parsePressure(this.#read(folder, name));
    return { cpu: read("cpu.pressure"), memory: read("memory.pressure"), io: read("io.pressure") };
  }

  /** A read has found it removed: it answers no more, even where another one has its name now. */
  get gone(): boolean {
    return this.#files.gone;
  }

  [Symbol.dispose](): void {
    this.#files[Symbol.dispose]();
  }

  #v1(controller: Controller): string | null {
    const folder = this.#hierarchy.v1.get(controller);
    return folder === undefined ? null : `${folder}${this.path}`;
  }

  #unified(): string | null {
    return this.#hierarchy.unified === null ? null : `${this.#hierarchy.unified}${this.path}`;
  }

  /** A file that is missing says nothing; a cgroup that is missing everywhere has gone. */
  #read(folder: string | null, name: string): string | null {
    const text = folder === null ? null : this.#files.read(folder, name);
    if (text === null && !hierarchyFolders(this.#hierarchy).some((root) => existsSync(`${root}${this.path}`))) {
      throw new TrawlerError("TRAWLER_GONE", `the cgroup ${this.path} has been removed`);
    }
    return text;
  }

  /** A limit file of each cgroup above this one, up to the root. */
  #aboveLimits(name: string): readonly (string | null)[] {
    return this.#above.map((folder) => this.#limits.read(`${folder}/${name}`));
  }
}

/** Folders of the cgroups above `/a/b/c`, `/a/b` and `/a`, in the tree that limits memory. */
function limitFolders({ v1, unified }: Hierarchy, path: string): readonly string[] {
  const root = v1.get("memory") ?? unified;
  const above: string[] = [];
  if (root === null) return above;
  for (let next = posix.dirname(path); next !== "/" && next !== "."; next = posix.dirname(next)) {
    above.push(`${root}${next}`);
  }
  return above;
}
