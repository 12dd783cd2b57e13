import { execFileSync } from "node:child_process";
import { chmodSync, linkSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, truncateSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** What no reader may ever give out: it lies outside the root. */
export const SECRET = "SECRET OF THE NODE";

const MANY = 100_000;
const DEEP = 200;
/** Below what ext4 allows for one file. */
const LINKS = 50_000;

/** A folder such as an attacker would prepare, beside a secret that its links aim at. */
export class HostileTree implements AsyncDisposable {
  readonly folder: string;
  readonly root: string;
  readonly devices: boolean;
  readonly many = MANY;
  readonly deep = DEEP;
  #server: Server | undefined;

  private constructor() {
    this.folder = mkdtempSync(join(tmpdir(), "trawler-hostile-"));
    this.root = join(this.folder, "root");
    this.devices = process.getuid?.() === 0;
  }

  static async make(): Promise<HostileTree> {
    const tree = new HostileTree();
    writeFileSync(join(tree.folder, "secret"), SECRET);
    tree.#plain();
    tree.#links();
    tree.#special();
    tree.#names();
    tree.#large();
    await tree.#socket();
    return tree;
  }

  /** The real path of something inside, for the test's own hand. */
  at(...parts: readonly string[]): string {
    return join(this.root, ...parts);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await new Promise((resolve) => this.#server?.close(resolve) ?? resolve(undefined));
    chmodSync(this.at("closed/sealed"), 0o700);
    rmSync(this.folder, { recursive: true, force: true });
  }

  #plain(): void {
    for (const folder of ["etc", "run", "escape", "loop", "names", "big", "dev", "race", "closed"]) {
      mkdirSync(this.at(folder), { recursive: true });
    }
    writeFileSync(this.at("etc/os-release"), "ID=inside\n");
    writeFileSync(this.at("etc/empty"), "");
    writeFileSync(this.at("closed/other"), "");
    mkdirSync(this.at("closed/sealed"));
    writeFileSync(this.at("closed/sealed/file"), "sealed");
    chmodSync(this.at("closed/sealed"), 0);
    writeFileSync(this.at("closed/unreadable"), "unreadable");
    chmodSync(this.at("closed/unreadable"), 0);
  }

  #links(): void {
    const secret = join(this.folder, "secret");
    const up = "../".repeat(64);
    const links: Readonly<Record<string, string>> = {
      "etc/relative": "os-release",
      "etc/absolute": "/etc/os-release",
      "etc/above": `${up}etc/os-release`,
      "escape/absolute": secret,
      "escape/relative": `${up}${secret.slice(1)}`,
      "escape/near": "../../secret",
      "escape/up": "../..",
      "escape/chain": "up/secret",
      "escape/shadow": "/etc/shadow",
      "escape/magic": `/proc/self/root${secret}`,
      "escape/environ": "/proc/self/environ",
      "escape/folder": this.folder,
      "loop/a": "b",
      "loop/b": "a",
      "loop/self": "self",
      "loop/folder": ".",
      "loop/wide": "self/../self",
      "loop/0": "../etc/os-release",
    };
    for (const [path, text] of Object.entries(links)) symlinkSync(text, this.at(path));
    for (let index = 1; index <= 60; index++) symlinkSync(String(index - 1), this.at("loop", String(index)));
  }

  #special(): void {
    execFileSync("mkfifo", [this.at("etc/app.conf")]);
    symlinkSync("app.conf", this.at("etc/fifo-link"));
    symlinkSync("/dev/zero", this.at("etc/hosts"));
    if (!this.devices) return;
    execFileSync("mknod", [this.at("dev/zero"), "c", "1", "5"]);
    execFileSync("mknod", [this.at("dev/block"), "b", "7", "250"]);
  }

  #names(): void {
    const folder = Buffer.from(`${this.at("names")}/`);
    for (const name of HOSTILE_NAMES) writeFileSync(Buffer.concat([folder, name]), name);
  }

  #large(): void {
    writeFileSync(this.at("big/sparse"), "");
    // Where the file system has no 8 TiB, its own largest will do.
    try {
      truncateSync(this.at("big/sparse"), 8 * 1024 ** 4);
    } catch {
      truncateSync(this.at("big/sparse"), 8 * 1024 ** 3);
    }
    mkdirSync(this.at("deep", ...Array.from({ length: DEEP }, () => "d")), { recursive: true });
    mkdirSync(this.at("many"));
    // Names of a few files only: quick to make, and a farm of hard links besides.
    for (let index = 0; index < MANY; index++) {
      const name = this.at("many", `f${String(index).padStart(6, "0")}`);
      if (index % LINKS === 0) writeFileSync(name, "");
      else linkSync(this.at("many", `f${String(index - (index % LINKS)).padStart(6, "0")}`), name);
    }
  }

  async #socket(): Promise<void> {
    const server = createServer();
    this.#server = server;
    await new Promise((resolve) => server.listen(this.at("run/x.sock"), () => resolve(undefined)));
  }
}

export const HOSTILE_NAMES: readonly Buffer[] = [
  Buffer.from([0x63, 0x61, 0x66, 0xe9]),
  Buffer.from("cafÃ©"),
  Buffer.from("caf\\xE9"),
  Buffer.from([0xed, 0xa0, 0x80]),
  Buffer.from([0xc0, 0xaf]),
  Buffer.from([0xf0, 0x9f, 0x98]),
  Buffer.from([0xff, 0xfe]),
  Buffer.from("new\nline"),
  Buffer.from("\u001b[31mred"),
  Buffer.from('quote".conf'),
  Buffer.from("$(x)"),
  Buffer.from("a\\b"),
  Buffer.from("\\"),
  Buffer.from("😀"),
  Buffer.from("\u202Ertl"),
  Buffer.from(" "),
  Buffer.from("…"),
  Buffer.alloc(255, "x"),
];
