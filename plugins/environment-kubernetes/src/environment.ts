import type { RuntimeIdentity } from "@trawler/kube";
import {
  type CallContext,
  type Environment,
  errorMessage,
  type PluginHost,
  type WorkloadEvent,
} from "@trawler/plugin-api";
import type { Config } from "./config.ts";
import { EventQueue } from "./queue.ts";
import { type Discovery, runSources } from "./sources.ts";
import type { World } from "./world.ts";

/** Pods of this node: what runs from the runtime, what is declared from the API server. */
export class KubernetesEnvironment implements Environment, AsyncDisposable {
  readonly #config: Config;
  readonly #host: PluginHost;
  readonly #world: World;
  readonly #closed = new AbortController();
  #found: { readonly discovery: Discovery; readonly detail: string } | null = null;

  constructor(config: Config, host: PluginHost, world: World) {
    this.#config = config;
    this.#host = host;
    this.#world = world;
  }

  /** Looks which source there is, for `describe`. */
  async look(signal: AbortSignal): Promise<void> {
    if (this.#config.discovery === "api") {
      this.#found = { discovery: "api", detail: "API server and cgroup tree" };
      return;
    }
    try {
      using client = await this.#world.openRuntime(signal);
      const { runtimeName, runtimeVersion } = await client.version({ signal, timeout: 2_000 });
      this.#tell({ name: runtimeName, version: runtimeVersion, socket: client.socket });
    } catch (error) {
      const detail = errorMessage(error);
      const usable = this.#config.discovery === "auto" && this.#world.api !== null;
      this.#found = usable
        ? { discovery: "api", detail: `API server and cgroup tree, as ${detail}` }
        : { discovery: "cri", detail };
    }
  }

  describe(): string {
    const { api, withoutApi } = this.#world;
    const server =
      api === null ? `no API server (${withoutApi})` : `API server ${api.target.server.origin} as ${api.target.origin}`;
    return `${this.#found?.detail ?? "not looked yet"}; ${server}`;
  }

  async *discover({ signal: parent, log }: CallContext): AsyncGenerator<WorkloadEvent> {
    const stop = new AbortController();
    const signal = AbortSignal.any([parent, this.#host.signal, this.#closed.signal, stop.signal]);
    await this.look(signal);
    const queue = new EventQueue();
    const run = runSources({
      config: this.#config,
      host: this.#host,
      world: this.#world,
      discovery: this.#found?.discovery ?? "cri",
      queue,
      signal,
      log,
      onRuntime: (runtime) => this.#tell(runtime),
    }).then(
      () => null,
      (error: unknown) => ({ error }),
    );
    void run.then(() => stop.abort());
    try {
      yield* queue.events(signal);
    } finally {
      stop.abort();
    }
    const failure = await run;
    if (failure !== null && !parent.aborted) throw failure.error;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closed.abort();
    this.#world.api?.[Symbol.dispose]();
  }

  #tell({ name, version, socket }: RuntimeIdentity): void {
    this.#found = { discovery: "cri", detail: `${name} ${version} at ${socket}` };
  }
}
