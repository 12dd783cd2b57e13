import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";

/** A helper process that has said it is ready; killed and awaited on disposal. */
export class Child implements AsyncDisposable {
  readonly pid: number;
  readonly #process: ChildProcess;

  private constructor(child: ChildProcess) {
    this.#process = child;
    this.pid = child.pid ?? -1;
  }

  static async start(command: string, args: readonly string[]): Promise<Child> {
    const child = spawn(command, args, { stdio: ["pipe", "pipe", "pipe"] });
    let complaint = "";
    child.stderr.setEncoding("utf8").on("data", (text: string) => {
      complaint += text;
    });
    const ended = once(child, "exit").then(() => {
      throw new Error(`${command} ended: ${complaint}`);
    });
    await Promise.race([once(child.stdout, "data"), ended]);
    ended.catch(() => undefined);
    return new Child(child);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#process.exitCode !== null || this.#process.signalCode !== null) return;
    const exited = once(this.#process, "exit");
    this.#process.kill("SIGKILL");
    await exited;
  }
}
