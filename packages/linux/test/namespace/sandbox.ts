import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { readdirSync } from "node:fs";
import { fileURLToPath } from "node:url";

let count = 0;

/** Why a network namespace cannot be made here, or null where it can. */
export function whyNoNamespaces(): string | null {
  if (process.platform !== "linux") return "not Linux";
  if (process.getuid?.() !== 0) return "not root";
  const name = `trawler-probe-${process.pid}`;
  try {
    execFileSync("ip", ["netns", "add", name], { stdio: "ignore" });
    execFileSync("ip", ["netns", "delete", name], { stdio: "ignore" });
    return null;
  } catch {
    return "iproute2 cannot make a network namespace";
  }
}

/** A network namespace with its loopback up; `linked`: and a pair of interfaces with an address at each end. */
export class Sandbox implements AsyncDisposable {
  readonly name: string;
  /** Its own address as the node sees it, where it is linked. */
  readonly address: string;
  readonly #children: ChildProcess[] = [];

  constructor(linked = false) {
    count += 1;
    // A small net of its own for each, also where this runs twice on one machine.
    const net = `10.213.${process.pid % 250}`;
    this.address = `${net}.${count * 4 + 2}`;
    this.name = `trawler-${process.pid}-${count}`;
    ip("netns", "add", this.name);
    ip("-n", this.name, "link", "set", "lo", "up");
    if (linked) {
      const link = `tw${process.pid}${count}`.slice(0, 13);
      ip("link", "add", link, "type", "veth", "peer", "name", "eth0", "netns", this.name);
      ip("addr", "add", `${net}.${count * 4 + 1}/30`, "dev", link);
      ip("link", "set", link, "up");
      ip("-n", this.name, "addr", "add", `${this.address}/30`, "dev", "eth0");
      ip("-n", this.name, "link", "set", "eth0", "up");
    }
  }

  /** Starts a process inside that listens; its pid and ports. */
  async listen(...where: readonly string[]): Promise<{ readonly pid: number; readonly ports: readonly number[] }> {
    const script = fileURLToPath(new URL("./listener.mjs", import.meta.url));
    const child = spawn("ip", ["netns", "exec", this.name, process.execPath, script, ...where], {
      stdio: ["pipe", "pipe", "inherit"],
    });
    this.#children.push(child);
    const [line] = await once(child.stdout.setEncoding("utf8"), "data");
    return { pid: child.pid ?? -1, ports: JSON.parse(String(line)) };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const child of this.#children) {
      if (child.exitCode === null && child.signalCode === null) {
        const exited = once(child, "exit");
        child.kill("SIGKILL");
        await exited;
      }
    }
    ip("netns", "delete", this.name);
  }
}

function ip(...words: readonly string[]): void {
  execFileSync("ip", words, { stdio: ["ignore", "ignore", "inherit"] });
}

/** Descriptors that this process holds. */
export function openDescriptors(): number {
  return readdirSync("/proc/self/fd").length;
}
