import {
  type CallContext,
  type Environment,
  errorCode,
  errorMessage,
  type Logger,
  type PluginHost,
  TrawlerError,
  type WorkloadEvent,
} from "@trawler/plugin-api";
import type { DockerClient } from "./client.ts";
import { type Config, milliseconds } from "./config.ts";
import { readEvent } from "./event.ts";
import { Follower } from "./follower.ts";

/** Attempts to reach an engine again after its stream has ended, before the host is told. */
const MAX_ATTEMPTS = 6;
/** Milliseconds. */
const FIRST_WAIT = 100;
/** Milliseconds that a session must hold for the next failure to be the first again. */
const GOOD_AFTER = 10_000;

/** Follows one Docker engine. */
export class DockerEnvironment implements Environment {
  readonly #open: () => Promise<DockerClient>;
  readonly #config: Config;
  readonly #host: PluginHost;
  #found = "not reached yet";
  #away = false;

  constructor(open: () => Promise<DockerClient>, config: Config, host: PluginHost) {
    this.#open = open;
    this.#config = config;
    this.#host = host;
  }

  describe(): string {
    return `Docker ${this.#found}`;
  }

  async *discover({ signal: outer, log }: CallContext): AsyncIterable<WorkloadEvent> {
    const ending = new AbortController();
    const signal = AbortSignal.any([outer, this.#host.signal, ending.signal]);
    const client = await this.#open();
    const { node, clock } = this.#host;
    const follower = new Follower({ client, config: this.#config, node, clock, log, signal });
    const following = this.#follow(client, follower, log, signal).then(
      () => follower.events.end(),
      (error: unknown) => follower.events.end(signal.aborted ? undefined : error),
    );
    const stop = (): void => follower.events.end();
    signal.addEventListener("abort", stop, { once: true });
    try {
      yield* follower.events;
    } finally {
      ending.abort();
      follower.close();
      await following;
    }
  }

  /** Session after session, until the signal aborts or the engine stays away. */
  async #follow(client: DockerClient, follower: Follower, log: Logger, signal: AbortSignal): Promise<void> {
    let since: number | null = null;
    let synced = false;
    let failures = 0;
    // Everything is looked at again where the engine may have been another one meanwhile.
    let all = true;
    const onMessage = (message: unknown): void => {
      const event = readEvent(message);
      if (event === null) return;
      since = event.at ?? since;
      follower.hint(event);
    };
    while (!signal.aborted) {
      const began = performance.now();
      try {
        const version = await client.negotiate(signal);
        this.#found = `at ${client.socket}, API ${version}`;
        // Subscribed first, so that nothing happens between the list and the stream.
        await using session = await openSession(client, since, milliseconds(this.#config.compare), signal);
        const reading = session.read(onMessage);
        await follower.compare(all);
        if (!session.ended) this.#answers(client, version, log);
        if (!synced) {
          if (session.ended) throw new TrawlerError("TRAWLER_UNAVAILABLE", `Docker at ${client.socket} went away`);
          synced = true;
          follower.events.push({ type: "synced" });
        }
        await reading;
        all = !session.timeWasOver;
        if (all && !signal.aborted) this.#leaves(client, "its event stream ended", log);
        if (performance.now() - began > GOOD_AFTER || !all) failures = 0;
      } catch (error) {
        if (signal.aborted) return;
        all = true;
        if (!synced || errorCode(error) === "TRAWLER_DENIED") throw error;
        this.#leaves(client, errorMessage(error), log);
        if (failures >= MAX_ATTEMPTS) throw error;
      }
      if (!all) continue;
      if (failures >= MAX_ATTEMPTS) {
        throw new TrawlerError(
          "TRAWLER_UNAVAILABLE",
          `Docker at ${client.socket} ends its event stream again and again`,
        );
      }
      failures += 1;
      await pause(FIRST_WAIT * 2 ** failures * (0.5 + Math.random() / 2), signal);
    }
  }

  /** Told once for each time that it goes away, and once when it is back. */
  #leaves({ socket }: DockerClient, why: string, log: Logger): void {
    if (!this.#away) log.warn({ socket, code: "TRAWLER_UNAVAILABLE" }, `Docker is away, what is known stands: ${why}`);
    this.#away = true;
  }

  #answers({ socket }: DockerClient, version: string, log: Logger): void {
    if (this.#away) log.info({ socket, version }, "Docker answers again");
    this.#away = false;
  }
}

/** One event stream. It is given up after `period`: a connection that is only half open says nothing, for ever. */
async function openSession(
  client: DockerClient,
  since: number | null,
  period: number,
  outer: AbortSignal,
): Promise<Session> {
  const closing = new AbortController();
  const stream = await client.events(since, AbortSignal.any([outer, closing.signal]));
  return new Session(stream, closing, period);
}

class Session implements AsyncDisposable {
  /** It was closed because its time was over, not by the engine. */
  timeWasOver = false;
  ended = false;
  readonly #stream: AsyncIterable<unknown>;
  readonly #closing: AbortController;
  readonly #timer: NodeJS.Timeout;
  #reading: Promise<void> = Promise.resolve();

  constructor(stream: AsyncIterable<unknown>, closing: AbortController, period: number) {
    this.#stream = stream;
    this.#closing = closing;
    this.#timer = setTimeout(() => {
      this.timeWasOver = true;
      closing.abort();
    }, period);
  }

  /** Resolves when the stream has ended, for whatever reason: what was missed is found by comparing. */
  read(onMessage: (message: unknown) => void): Promise<void> {
    this.#reading = this.#read(onMessage);
    return this.#reading;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closing.abort();
    await this.#reading;
  }

  async #read(onMessage: (message: unknown) => void): Promise<void> {
    try {
      for await (const message of this.#stream) onMessage(message);
    } catch {
      // Broken or closed: the same to us.
    } finally {
      this.ended = true;
      clearTimeout(this.#timer);
    }
  }
}

function pause(wait: number, signal: AbortSignal): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, wait);
  const stop = (): void => resolve();
  signal.addEventListener("abort", stop, { once: true });
  return promise.finally(() => {
    clearTimeout(timer);
    signal.removeEventListener("abort", stop);
  });
}
