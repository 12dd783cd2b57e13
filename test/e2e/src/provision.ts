import { type ChildProcess, spawn } from "node:child_process";
import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { main, type World } from "@trawler/cli";
import type { Report } from "@trawler/provision";
import { kubectl } from "@trawler/testbed";
import { node } from "./node.ts";

const trawl = fileURLToPath(new URL("../../../packages/cli/bin/trawl.js", import.meta.url));

export interface Done {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
  /** Of `-o json`. */
  readonly report: Report & { readonly findings?: readonly { readonly check: string; readonly message: string }[] };
}

export interface Access {
  /** Default: the testbed's API server. */
  readonly server?: string;
  /** Default: the administrator's. */
  readonly token?: string;
}

/** A folder with the journals and files of one test; its commands run in this process, or in one of their own. */
export class Provisioner implements AsyncDisposable {
  readonly folder: string;
  readonly #namespace: string;
  #files = 0;

  private constructor(folder: string, namespace: string) {
    this.folder = folder;
    this.#namespace = namespace;
  }

  static async open(namespace: string): Promise<Provisioner> {
    return new Provisioner(await mkdtemp(join(tmpdir(), "trawler-provision-")), namespace);
  }

  /** `trawl provision apply` of a template with these objects. */
  async apply(objects: readonly object[], access: Access = {}, ...more: readonly string[]): Promise<Done> {
    return this.run(await this.#applyLine(objects, access, more));
  }

  /** The same in a process of its own. */
  async spawnApply(objects: readonly object[], access: Access = {}, ...more: readonly string[]): Promise<Spawned> {
    return new Spawned(await this.#applyLine(objects, access, more));
  }

  async command(name: string, instance: string, access: Access = {}, ...more: readonly string[]): Promise<Done> {
    return this.run(["provision", name, instance, ...(await this.#common(access)), ...more]);
  }

  /** The only instance, or the newest. */
  async instance(): Promise<string> {
    const names = await readdir(join(this.folder, "runs"));
    return (
      names
        .filter((name) => name.endsWith(".journal"))
        .toSorted()
        .at(-1)
        ?.slice(0, 26) ?? ""
    );
  }

  /** All bytes of all journals: whoever reads the files sees no more. */
  async dump(): Promise<string> {
    const folder = join(this.folder, "runs");
    const names = (await readdir(folder)).filter((name) => !name.endsWith(".key"));
    const contents = await Promise.all(names.map((name) => readFile(join(folder, name), "latin1")));
    return contents.join("\n");
  }

  async run(args: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<Done> {
    const written = { stdout: "", stderr: "" };
    const output = (name: keyof typeof written): World["stdout"] => ({
      terminal: false,
      colours: false,
      columns: 120,
      write: async (part) => {
        written[name] += part;
      },
    });
    const code = await main(args, {
      env: { ...env },
      userId: 1000,
      clock: { now: () => Date.now(), monotonic: () => performance.now() / 1000 },
      stdout: output("stdout"),
      stderr: output("stderr"),
    });
    return done(code, written.stdout, written.stderr);
  }

  /** Writes a template with these objects; returns its path. */
  template(objects: readonly object[], parameters: readonly object[] = []): Promise<string> {
    const kind = { apiVersion: "template.openshift.io/v1", kind: "Template", metadata: { name: "e2e" } };
    return this.#write("template.json", { ...kind, parameters, objects });
  }

  async #applyLine(objects: readonly object[], access: Access, more: readonly string[]): Promise<readonly string[]> {
    const file = await this.template(objects, more.includes("-p") ? [{ name: "PASSWORD" }] : []);
    return ["provision", "apply", "-f", file, "-n", this.#namespace, ...(await this.#common(access)), ...more];
  }

  async #common(access: Access): Promise<readonly string[]> {
    return ["--kubeconfig", await this.kubeconfig(access), "--state", join(this.folder, "runs"), "-o", "json"];
  }

  /** Writes a kubeconfig; returns its path. */
  kubeconfig(access: Access = {}): Promise<string> {
    const { kubernetes } = node();
    const { server = kubernetes.apiServer, token = kubernetes.adminToken } = access;
    const trust = server.startsWith("http:")
      ? { "insecure-skip-tls-verify": true }
      : { "certificate-authority": kubernetes.caFile };
    return this.#write("kubeconfig", {
      apiVersion: "v1",
      kind: "Config",
      clusters: [{ name: "c", cluster: { server, ...trust } }],
      users: [{ name: "u", user: { token } }],
      contexts: [{ name: "x", context: { cluster: "c", user: "u" } }],
      "current-context": "x",
    });
  }

  async #write(name: string, content: object): Promise<string> {
    const file = join(this.folder, `${this.#files++}-${name}`);
    await writeFile(file, JSON.stringify(content), { mode: 0o600 });
    return file;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await rm(this.folder, { recursive: true, force: true });
  }
}

/** A `trawl` of its own that a test can kill. */
export class Spawned {
  readonly child: ChildProcess;
  readonly done: Promise<Done>;
  /** So far. */
  stderr = "";

  constructor(args: readonly string[]) {
    const child = spawn(process.execPath, [trawl, ...args], { stdio: ["ignore", "pipe", "pipe"] });
    this.child = child;
    const exited = new Promise<number | null>((resolve) => child.on("close", resolve));
    child.stderr.on("data", (part: Buffer) => {
      this.stderr += part.toString("utf8");
    });
    this.done = Promise.all([exited, text(child.stdout)]).then(([code, stdout]) => done(code, stdout, this.stderr));
  }
}

function done(code: number | null, stdout: string, stderr: string): Done {
  const line = stdout.split("\n").find((one) => one.startsWith("{")) ?? "{}";
  return { code, stdout, stderr, report: JSON.parse(line) };
}

/** Every object of the report, in its order: name and state. */
export function states({ report }: Done): readonly string[] {
  return report.objects.map(
    ({ type, name, generateName, status }) => `${type.kind} ${name ?? generateName}: ${status}`,
  );
}

/** Names of the objects of a kind in a namespace, without those that every namespace has. */
export async function namesOf(kind: string, namespace: string): Promise<readonly string[]> {
  const { stdout } = await kubectl(["get", kind, "-n", namespace, "-o", "name"]);
  const names = stdout.split("\n").filter((line) => line !== "");
  return names.map((line) => line.slice(line.indexOf("/") + 1)).filter((name) => name !== "kube-root-ca.crt");
}

/** One object as the server has it; null where there is none. */
export async function objectOf(kind: string, namespace: string, name: string) {
  const { stdout } = await kubectl(["get", kind, name, "-n", namespace, "-o", "json", "--ignore-not-found"]);
  return stdout.trim() === "" ? null : (JSON.parse(stdout) as { metadata: { uid: string }; data?: object });
}

export const configMap = (name: string, extra: object = {}): object => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { name },
  data: { of: "template" },
  ...extra,
});

/** What the server refuses with 422: a key that no ConfigMap may have. */
export const invalid = (name: string): object => configMap(name, { data: { "not a key": "x" } });
