import { join } from "node:path";
import type { Clock, NodeInfo } from "@trawler/plugin-api";
import { CgroupReader } from "../cgroup/access.ts";
import { findHierarchy, type Hierarchy } from "../cgroup/hierarchy.ts";
import { ReadBuffer } from "../cgroup/kept-file.ts";
import { LimitsAbove } from "../cgroup/limits-above.ts";
import { BootTime } from "../proc/boot-time.ts";
import { ProcFileReader, type ProcFiles } from "../proc/files.ts";

/** What reading one node takes, made once: its `/proc` and `/sys`, where its cgroups are, one buffer. */
export class NodeReader {
  readonly files: ProcFiles;
  /** Its `/sys`. */
  readonly system: ProcFiles;
  readonly hierarchy: Hierarchy;
  readonly buffer: ReadBuffer = new ReadBuffer();
  readonly #clock: Clock;
  readonly #limits: LimitsAbove;
  readonly #bootTime: BootTime;

  constructor(paths: NodeInfo["paths"], clock: Clock, files: ProcFiles = new ProcFileReader(paths.proc)) {
    this.files = files;
    this.system = new ProcFileReader(join(paths.root, "sys"));
    this.hierarchy = findHierarchy(paths.cgroup, files);
    this.#clock = clock;
    this.#limits = new LimitsAbove(clock);
    this.#bootTime = new BootTime(files, clock);
  }

  /** Seconds since the epoch. */
  bootTime(): number {
    return this.#bootTime.seconds();
  }

  openCgroup(path: string): CgroupReader {
    return new CgroupReader(this.hierarchy, path, { clock: this.#clock, buffer: this.buffer, limits: this.#limits });
  }
}
