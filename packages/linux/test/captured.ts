import { execFileSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const FIXTURES = join(import.meta.dirname, "../../../test/fixtures/linux");

/** Names of the captured trees of `test/fixtures/linux`. */
export const CAPTURES: readonly string[] = readdirSync(FIXTURES)
  .filter((name) => name.endsWith(".tgz"))
  .map((name) => name.slice(0, -".tgz".length))
  .sort();

/** What `meta/expected.tsv` says of one container. Null = not captured. */
export interface Expected {
  readonly pod: string;
  readonly container: string;
  readonly id: string;
  readonly cgroup: string;
  readonly cpuMicroseconds: readonly [number, number];
  readonly usage: number;
  readonly workingSet: number;
}

/** A captured tree, or the parts of it that a test needs, unpacked to a temporary folder until disposed. */
export class Capture implements Disposable {
  readonly folder: string;

  constructor(name: string, parts: readonly string[] = []) {
    this.folder = mkdtempSync(join(tmpdir(), "trawler-capture-"));
    execFileSync("tar", ["-xzf", join(FIXTURES, `${name}.tgz`), "-C", this.folder, "--wildcards", ...parts]);
  }

  proc(sample: 1 | 2): string {
    return join(this.folder, `sample${sample}/proc`);
  }

  cgroup(sample: 1 | 2): string {
    return join(this.folder, `sample${sample}/sys/fs/cgroup`);
  }

  meta(name: string): string {
    return readFileSync(join(this.folder, "meta", name), "utf8");
  }

  pids(sample: 1 | 2): readonly number[] {
    return readdirSync(this.proc(sample))
      .filter((name) => /^\d+$/.test(name))
      .map(Number);
  }

  expected(): readonly Expected[] {
    return this.meta("expected.tsv")
      .split("\n")
      .filter((line) => line !== "" && !line.startsWith("#") && !line.startsWith("namespace"))
      .flatMap((line) => {
        const [, pod = "", container = "", , cgroup = "", cpu1, cpu2, , usage, , workingSet] = line.split("\t");
        if (!cgroup.startsWith("/")) return [];
        const id = /[0-9a-f]{64}/.exec(cgroup)?.[0] ?? "";
        const cpuMicroseconds = [Number(cpu1), Number(cpu2)] as const;
        return [{ pod, container, id, cgroup, cpuMicroseconds, usage: Number(usage), workingSet: Number(workingSet) }];
      });
  }

  [Symbol.dispose](): void {
    rmSync(this.folder, { recursive: true, force: true });
  }
}
