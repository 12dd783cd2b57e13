import { createHash } from "node:crypto";
import type { Clock } from "@trawler/plugin-api";
import type { Cluster } from "../cluster/cluster.ts";
import { begin } from "../instance/begin.ts";
import { DEFAULT_SETTINGS } from "../instance/settings.ts";
import type { JournalFolder } from "../journal/folder.ts";
import { newInstance } from "../journal/instance.ts";
import type { RunSettings, RunState } from "../journal/record.ts";
import { preflight } from "../preflight/preflight.ts";
import type { Preflight } from "../preflight/types.ts";
import { Refusal } from "./refusal.ts";
import type { ServiceStore } from "./store.ts";
import type { Prepared, Templates } from "./templates.ts";
import type { CreateRequest, TemplateRequest } from "./types.ts";
import type { Worker } from "./worker.ts";

export interface CreatorOptions {
  readonly templates: Templates;
  readonly folder: JournalFolder;
  readonly store: ServiceStore;
  readonly worker: Worker;
  readonly clock: Clock;
  readonly cluster: () => Cluster;
}

export interface Accepted {
  readonly instance: string;
  readonly state: RunState;
  /** False where an earlier request began it. */
  readonly begun: boolean;
  /** The last event of its log: who follows what comes of the request goes on from there. */
  readonly event: number;
  /** The template's message, secrets masked; null where it has none, or where an earlier request began it. */
  readonly message: string | null;
}

/** Requests that the cluster is asked about at a time. */
const MOST_CHECKS = 32;

/** Takes requests for instances: checks all that can be checked, writes down what is to be done, and hands it over. */
export class Creator {
  readonly #options: CreatorOptions;
  readonly #underWay = new Map<string, Promise<Accepted>>();

  constructor(options: CreatorOptions) {
    this.#options = options;
  }

  /**
   * Returns once the instance is in its journal: from then on it comes to an end, whatever happens to this process.
   * The same key makes the same instance, also for requests at the same time and after a restart. Throws a Refusal.
   * @param key What the client sent to tell its requests apart. Default: the instance that it chose.
   */
  async create(request: CreateRequest, key: string | null): Promise<Accepted> {
    const { store, clock, templates } = this.#options;
    const prepared = await templates.prepare(request);
    const now = clock.now();
    const name = key === null ? (request.instance ?? null) : `key ${key}`;
    const wanted = { instance: request.instance ?? newInstance(now), digest: digestOf(request, prepared) };
    const found = name === null ? null : store.reserve(name, wanted, now);
    if (found !== null && (found.digest !== wanted.digest || (request.instance ?? found.instance) !== found.instance)) {
      const message = `another request was made with this key or instance before (${found.instance}): use a new one`;
      throw new Refusal(409, { code: "TRAWLER_REFUSED", message });
    }
    const instance = found?.instance ?? wanted.instance;
    const before = this.#underWay.get(instance);
    if (before !== undefined) return { ...(await before), begun: false };
    const making = this.#make(instance, request, prepared);
    this.#underWay.set(instance, making);
    try {
      return await making;
    } catch (error) {
      if (name !== null) store.release(name);
      throw error;
    } finally {
      this.#underWay.delete(instance);
    }
  }

  async #make(instance: string, request: CreateRequest, prepared: Prepared): Promise<Accepted> {
    const { folder, worker, clock } = this.#options;
    if (folder.instances().includes(instance)) {
      using journal = folder.open(instance, true);
      return { instance, state: journal.run.state, begun: false, event: journal.lastEvent, message: null };
    }
    if (!worker.hasRoom || this.#underWay.size >= MOST_CHECKS) throw full();
    const settings: RunSettings = { ...DEFAULT_SETTINGS, ...request.settings };
    const { cluster, result } = await this.check(request, prepared, settings.parallel);
    if (!worker.hasRoom) throw full();
    const { template, namespace } = prepared;
    const { server } = cluster;
    // The worker takes the run over: nobody else holds it by then.
    begin({ folder, template, preflight: result, namespace, server, settings, clock, instance })[Symbol.dispose]();
    worker.accept({ instance, action: "work" });
    return { instance, state: "PENDING", begun: true, event: 0, message: prepared.masked.message };
  }

  /** Asks the cluster. Creates nothing. Throws a Refusal where something stands against it. */
  async check(
    { existing = "fail", order = "kind", dryRun = true }: TemplateRequest,
    { template, namespace, createNamespace }: Prepared,
    parallel: number = DEFAULT_SETTINGS.parallel,
  ): Promise<{ readonly cluster: Cluster; readonly result: Preflight }> {
    const cluster = this.#options.cluster();
    const checks = { namespace, createNamespace, existing, order, dryRun, parallel, template: template.template.name };
    const { objects, findings: found } = await preflight(cluster, template.objects, checks);
    // They quote the server, and the server quotes objects.
    const findings = found.map((finding) => ({ ...finding, message: template.redact(finding.message) }));
    const errors = findings.filter(({ severity }) => severity === "error");
    if (errors.some(({ check }) => check === "server")) {
      const message = "the cluster could not be asked: nothing was created";
      throw new Refusal(503, { code: "TRAWLER_UNAVAILABLE", message, findings }, 5);
    }
    if (errors.length > 0) {
      const message = "the cluster would not take it: nothing was created";
      throw new Refusal(422, { code: "TRAWLER_REFUSED", message, findings });
    }
    return { cluster, result: { objects, findings } };
  }
}

function full(): Refusal {
  const message = "too many runs wait already; try again later";
  return new Refusal(429, { code: "TRAWLER_LIMIT", message }, 10);
}

/** What makes two requests the same. Secret values take no part, so that the digest says nothing about them. */
function digestOf(request: CreateRequest, { template, namespace, createNamespace, values }: Prepared): string {
  const secret = new Set(template.parameters.filter((parameter) => parameter.secret).map(({ name }) => name));
  const { mode = "strict", existing = "fail", order = "kind", dryRun = true, settings = {} } = request;
  const given = values.map(([name, value]) => [name, secret.has(name) ? null : value]).toSorted();
  const sorted = Object.entries(settings).toSorted(([a], [b]) => (a < b ? -1 : 1));
  const parts = [template.template.digest, mode, namespace, createNamespace, existing, order, dryRun, given, sorted];
  return createHash("sha256").update(JSON.stringify(parts)).digest("hex");
}
