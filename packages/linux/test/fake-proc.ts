import type { ProcFiles } from "../src/proc/files.ts";

/** An error as Node throws it for a system call. */
export function systemError(code: string): Error & { readonly code: string } {
  return Object.assign(new Error(`${code}: injected`), { code });
}

/** A `/proc` made of texts by path. A value that is an error is thrown; a path that is not there is ENOENT. */
export class FakeProc implements ProcFiles {
  readonly root = "/proc";
  readonly entries: Map<string, string | Error>;
  /** Called before each answer, to change the world meanwhile. */
  before: (path: string) => void = () => {};

  constructor(entries: Readonly<Record<string, string | Error>>) {
    this.entries = new Map(Object.entries(entries));
  }

  text(path: string): string {
    return this.#answer(path);
  }

  async longText(path: string): Promise<string | null> {
    return this.#answer(path);
  }

  async slowText(path: string): Promise<string | null> {
    return this.#answer(path);
  }

  link(path: string): string {
    return this.#answer(path);
  }

  names(path: string): readonly string[] {
    const answer = this.entries.get(path);
    if (answer instanceof Error) throw answer;
    const prefix = path === "." ? "" : `${path}/`;
    const found = [...this.entries.keys()]
      .filter((key) => key.startsWith(prefix))
      .map((key) => key.slice(prefix.length).split("/")[0] ?? "");
    if (found.length === 0) throw systemError("ENOENT");
    return [...new Set(found)];
  }

  size(path: string): number {
    return this.names(path).length;
  }

  #answer(path: string): string {
    this.before(path);
    const answer = this.entries.get(path);
    if (answer === undefined) throw systemError("ENOENT");
    if (answer instanceof Error) throw answer;
    return answer;
  }
}

/** The text of a `/proc/PID/stat`. */
export function statText(
  pid: number,
  options: { command?: string; start?: number; user?: number; system?: number; pages?: number } = {},
): string {
  const { command = "app", start = 1000, user = 50, system = 25, pages = 10 } = options;
  return `${pid} (${command}) S 1 ${pid} ${pid} 0 -1 4194560 0 0 0 0 ${user} ${system} 0 0 20 0 3 0 ${start} 4096000 ${pages} 18446744073709551615 0\n`;
}
