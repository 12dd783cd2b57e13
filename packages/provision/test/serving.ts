import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createApiClient, tokenTarget } from "@trawler/kube";
import type { Logger } from "@trawler/plugin-api";
import { JournalFolder } from "../src/journal/folder.ts";
import { type Service, type ServiceOptions, startService } from "../src/serve/service.ts";
import { type FakeCluster, fakeCluster } from "./fake-cluster.ts";

export const TOKEN = "a-token-of-this-test-0123456789";

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  readonly body: { readonly [key: string]: unknown };
}

/** A service with a cluster, in a folder that outlives it: it can be stopped and started again. */
export class Serving implements AsyncDisposable {
  readonly folder: string;
  readonly cluster: FakeCluster;
  readonly lines: string[] = [];
  #service: Service | null = null;

  private constructor(folder: string, cluster: FakeCluster) {
    this.folder = folder;
    this.cluster = cluster;
  }

  static async open(options: Partial<ServiceOptions> = {}): Promise<Serving> {
    const folder = await mkdtemp(join(tmpdir(), "trawler-serve-"));
    await writeFile(join(folder, "token"), `${TOKEN}\n`);
    const serving = new Serving(folder, await fakeCluster());
    await serving.start(options);
    return serving;
  }

  get url(): string {
    return this.#service?.url ?? "";
  }

  get service(): Service {
    if (this.#service === null) throw new Error("it is stopped");
    return this.#service;
  }

  async start(options: Partial<ServiceOptions> = {}): Promise<void> {
    const log = (fields: object, message: string): void => void this.lines.push(`${message} ${JSON.stringify(fields)}`);
    const logger: Logger = { debug: log, info: log, warn: log, error: log };
    this.#service = await startService({
      folder: new JournalFolder(join(this.folder, "runs")),
      client: createApiClient({ target: tokenTarget({ server: this.cluster.url }), keptConnections: 8 }),
      clock: { now: () => Date.now(), monotonic: () => performance.now() / 1000 },
      log: logger,
      version: "0.0.0",
      address: "127.0.0.1",
      port: 0,
      token: { file: join(this.folder, "token") },
      tls: null,
      insecureNoToken: false,
      catalogue: null,
      inline: true,
      concurrent: 4,
      waiting: 10,
      notifiers: [],
      metrics: { contentType: "text/plain", text: async () => "figures 1\n" },
      ...options,
    });
  }

  async stop(): Promise<void> {
    const service = this.#service;
    this.#service = null;
    await service?.[Symbol.asyncDispose]();
  }

  async request(
    method: string,
    path: string,
    body?: unknown,
    headers: Readonly<Record<string, string>> = {},
  ): Promise<Answer> {
    const response = await fetch(`${this.url}${path}`, {
      method,
      headers: {
        authorization: `Bearer ${TOKEN}`,
        ...(body === undefined ? {} : { "content-type": "application/json" }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: typeof body === "string" ? body : JSON.stringify(body) }),
    });
    const text = await response.text();
    const json = response.headers.get("content-type")?.startsWith("application/json") === true;
    return { status: response.status, headers: response.headers, text, body: json ? JSON.parse(text) : {} };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
    await this.cluster[Symbol.asyncDispose]();
    await rm(this.folder, { recursive: true, force: true });
  }
}

/** A template of ConfigMaps with these names, and a parameter that is a secret. */
export function templateOf(names: readonly string[], more: object = {}): string {
  const objects = names.map((name) => ({
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: { name },
    data: { a: "${A}" },
  }));
  const parameters = [{ name: "A", value: "x" }];
  const kind = { apiVersion: "template.openshift.io/v1", kind: "Template", metadata: { name: "shop" } };
  return JSON.stringify({ ...kind, parameters, objects, ...more });
}

export const WITH_SECRET = {
  message: "the password is ${PASSWORD}",
  parameters: [{ name: "PASSWORD", required: true }],
  objects: [
    { apiVersion: "v1", kind: "Secret", metadata: { name: "s" }, stringData: { password: "${PASSWORD}" } },
    { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "c" }, data: { url: "http://u:${PASSWORD}@host" } },
  ],
};

/** Until the probe holds; a test has its own deadline. */
export async function until(probe: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await probe())) await new Promise((resolve) => setTimeout(resolve, 10));
}
