import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type ApiClient, createApiClient, tokenTarget } from "@trawler/kube";
import { Cluster } from "../src/cluster/cluster.ts";
import { begin } from "../src/instance/begin.ts";
import { Context, type ContextOptions } from "../src/instance/context.ts";
import { DEFAULT_SETTINGS } from "../src/instance/settings.ts";
import { undo, type WorkOptions, work } from "../src/instance/work.ts";
import { JournalFolder } from "../src/journal/folder.ts";
import type { Report, RunSettings } from "../src/journal/record.ts";
import { preflight } from "../src/preflight/preflight.ts";
import type { Preflight, PreflightOptions } from "../src/preflight/types.ts";
import { processTemplate } from "../src/template/process.ts";
import type { Mode, ProcessedTemplate } from "../src/template/types.ts";
import { type FakeCluster, fakeCluster } from "./fake-cluster.ts";

export const clock = { now: () => Date.now(), monotonic: () => performance.now() / 1000 };

type More = Partial<Pick<ContextOptions, "cancel" | "inventory" | "watcher">> & Partial<WorkOptions>;

/** Runs on a cluster that a test can hold up, with journals in a folder of its own. */
export class Running implements AsyncDisposable {
  readonly fake: FakeCluster;
  readonly folder: JournalFolder;
  readonly cluster: Cluster;
  readonly #client: ApiClient;

  private constructor(fake: FakeCluster, path: string) {
    this.fake = fake;
    this.folder = new JournalFolder(path);
    this.#client = createApiClient({ target: tokenTarget({ server: fake.url }), keptConnections: 8 });
    this.cluster = new Cluster(this.#client);
  }

  static async open(): Promise<Running> {
    return new Running(await fakeCluster(), await mkdtemp(join(tmpdir(), "trawler-run-")));
  }

  check(template: ProcessedTemplate, options: Partial<PreflightOptions> = {}): Promise<Preflight> {
    return preflight(this.cluster, template.objects, {
      namespace: "shop",
      createNamespace: false,
      existing: "fail",
      order: "kind",
      dryRun: true,
      parallel: 8,
      ...options,
    });
  }

  /** Writes down what is to be done; throws where the checks refuse. */
  async begin(
    template: ProcessedTemplate,
    settings: Partial<RunSettings> = {},
    options: Partial<PreflightOptions> = {},
  ): Promise<string> {
    const result = await this.check(template, options);
    const refused = result.findings.filter(({ severity }) => severity === "error");
    if (refused.length > 0) throw new Error(JSON.stringify(refused));
    using begun = begin({
      folder: this.folder,
      template,
      preflight: result,
      namespace: "shop",
      server: this.cluster.server,
      settings: { ...DEFAULT_SETTINGS, ...settings },
      clock,
    });
    return begun.instance;
  }

  async work(instance: string, more: More = {}): Promise<Report> {
    using journal = this.folder.open(instance);
    const { cancel = new AbortController().signal, resumed = false, ...rest } = more;
    return await work(new Context({ cluster: this.cluster, journal, clock, cancel, ...rest }), { resumed, ...rest });
  }

  async undo(instance: string): Promise<Report> {
    using journal = this.folder.open(instance);
    return await undo(new Context({ cluster: this.cluster, journal, clock, cancel: new AbortController().signal }));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#client[Symbol.dispose]();
    await this.fake[Symbol.asyncDispose]();
    await rm(this.folder.path, { recursive: true });
  }
}

export function templateOf(objects: readonly object[], mode: Mode = "strict"): ProcessedTemplate {
  const text = JSON.stringify({
    apiVersion: "template.openshift.io/v1",
    kind: "Template",
    metadata: { name: "t" },
    objects,
  });
  const { template, faults } = processTemplate(text, { namespace: "shop", mode });
  if (template === null) throw new Error(JSON.stringify(faults));
  return template;
}

export const configMap = (name: string, metadata: object = {}): object => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { name, ...metadata },
});

export const statesOf = ({ objects }: Report): readonly string[] =>
  objects.map(({ name, status }) => `${name}: ${status}`);
