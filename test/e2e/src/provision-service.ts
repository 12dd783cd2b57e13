import { type ChildProcess, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { writeFile } from "node:fs/promises";
import { createServer, type IncomingHttpHeaders, type Server } from "node:http";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { type Access, type Done, Provisioner } from "./provision.ts";
import { waitFor } from "./wait.ts";

const trawl = fileURLToPath(new URL("../../../packages/cli/bin/trawl.js", import.meta.url));

/** A `trawl provision serve` of its own, which a test can kill and start again on what it has left. */
export class ProvisionService implements AsyncDisposable {
  readonly provisioner: Provisioner;
  readonly token: string = randomBytes(32).toString("hex");
  readonly tokenFile: string;
  url = "";
  /** Of all its processes, so far. */
  stderr = "";
  #child: ChildProcess | null = null;

  private constructor(provisioner: Provisioner) {
    this.provisioner = provisioner;
    this.tokenFile = join(provisioner.folder, "token");
  }

  static async open(namespace: string): Promise<ProvisionService> {
    const service = new ProvisionService(await Provisioner.open(namespace));
    await writeFile(service.tokenFile, service.token, { mode: 0o600 });
    return service;
  }

  /** Resolves once it answers. */
  async start(access: Access = {}, ...more: readonly string[]): Promise<void> {
    const { folder } = this.provisioner;
    const kubeconfig = await this.provisioner.kubeconfig(access);
    const line = ["--token-file", this.tokenFile, "--kubeconfig", kubeconfig, "--state", join(folder, "runs")];
    const args = [trawl, "provision", "serve", "--port", "0", ...line, ...more];
    const child = spawn(process.execPath, args, { stdio: ["ignore", "ignore", "pipe"] });
    this.#child = child;
    let own = "";
    child.stderr.on("data", (part: Buffer) => {
      own += part.toString("utf8");
      this.stderr += part.toString("utf8");
    });
    const answers = (): boolean => {
      if (child.exitCode !== null) throw new Error(`it has ended with ${child.exitCode}: ${own}`);
      this.url = /"url":"([^"]+)"/.exec(own)?.[1] ?? "";
      return this.url !== "";
    };
    await waitFor("the service to answer", answers, 60_000);
  }

  /** Returns the exit code; null where the signal ended it. */
  async stop(signal: NodeJS.Signals = "SIGTERM"): Promise<number | null> {
    const child = this.#child;
    this.#child = null;
    if (child === null || child.exitCode !== null) return child?.exitCode ?? null;
    const { promise, resolve } = Promise.withResolvers<number | null>();
    child.once("exit", resolve);
    child.kill(signal);
    return promise;
  }

  /** `trawl provision …` that speaks to the service. */
  run(args: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<Done> {
    const own = { TRAWLER_PROVISION_SERVER: this.url, TRAWLER_PROVISION_TOKEN_FILE: this.tokenFile };
    return this.provisioner.run(["provision", ...args], { ...own, ...env });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop("SIGKILL");
    await this.provisioner[Symbol.asyncDispose]();
  }
}

/** Receives webhooks, and answers each with what it is told: a status, or null = no answer at all. */
export class WebhookReceiver implements AsyncDisposable {
  readonly received: { readonly headers: IncomingHttpHeaders; readonly body: string }[] = [];
  status: number | null = 204;
  readonly #server: Server;

  private constructor() {
    this.#server = createServer(async (incoming, response) => {
      this.received.push({ headers: incoming.headers, body: await text(incoming) });
      if (this.status !== null) response.writeHead(this.status).end();
    });
  }

  static async open(): Promise<WebhookReceiver> {
    const receiver = new WebhookReceiver();
    await new Promise<void>((resolve) => receiver.#server.listen(0, "127.0.0.1", resolve));
    return receiver;
  }

  get url(): string {
    const address = this.#server.address();
    return `http://127.0.0.1:${typeof address === "object" && address !== null ? address.port : 0}/hook`;
  }

  get ids(): ReadonlySet<string> {
    return new Set(this.received.map(({ headers }) => String(headers["webhook-id"])));
  }

  [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    return new Promise((resolve) => this.#server.close(() => resolve()));
  }
}
