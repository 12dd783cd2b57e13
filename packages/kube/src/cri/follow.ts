import { type Clock, errorCode, errorMessage, type Logger, TrawlerError } from "@trawler/plugin-api";
import { sleep as realSleep, type Sleep } from "../api/deadline.ts";
import type { RuntimePod } from "../join/runtime.ts";
import { createBackoff } from "../reflector/backoff.ts";
import type { CriClient } from "./client.ts";
import { Images } from "./images.ts";
import { readInspection } from "./inspection.ts";
import { type Limit, limit } from "./limit.ts";
import type { ContainerEvent } from "./messages.ts";
import { parseInfo, parseVerbose, type Redact, readVerbose } from "./verbose.ts";
import { RuntimeView } from "./view.ts";

/** What is known of the runtime that answers. */
export interface RuntimeIdentity {
  readonly name: string;
  readonly version: string;
  readonly socket: string;
}

export type RuntimeEvent =
  | { readonly type: "pod"; readonly pod: RuntimePod }
  /** The runtime has nothing of the pod any more; `pod` is the last that it said. */
  | { readonly type: "gone"; readonly pod: RuntimePod }
  /** All pods of the runtime have been reported; after each connection. */
  | { readonly type: "synced"; readonly runtime: RuntimeIdentity }
  /** The runtime does not answer; what was reported stays until it is back. */
  | { readonly type: "away"; readonly code: string; readonly reason: string };

export interface FollowOptions {
  /** Finds the socket and opens a client: called at each (re)connection. */
  open(signal: AbortSignal): Promise<CriClient>;
  /** Called in order, synchronously. */
  onEvent(event: RuntimeEvent): void;
  /** Further names of a pod's environment that may be read: those that its specification fills from its own fields. */
  environmentNames?(podUid: string): ReadonlySet<string>;
  /** For commands in inspections; without it none is told. */
  readonly redact?: Redact;
  readonly clock: Clock;
  readonly log: Logger;
  readonly signal: AbortSignal;
  /** Milliseconds between two looks where the runtime sends no events; default 1,000. */
  readonly pollInterval?: number;
  /** Milliseconds between two comparisons where it does, as its own queue is bounded; default 60,000. */
  readonly compareInterval?: number;
  readonly random?: () => number;
  readonly sleep?: Sleep;
}

/** Old events arrive at once after the subscription; later ones are new whatever the wall clock says. */
const BACKLOG_SECONDS = 10;
const FIRST_COMPARE = 2_000;
/** A session that held so many seconds was a healthy one: a runtime may answer, and its events fail at once. */
const HEALTHY_SECONDS = 10;
/** What is told before anything else is read: an exit must not wait. */
const ENDS: ReadonlySet<string> = new Set(["CONTAINER_STOPPED_EVENT", "CONTAINER_DELETED_EVENT"]);

/**
 * Reports all pods of a runtime until the signal aborts; never throws. After each (re)connection: subscribe, list,
 * compare, then apply the events.
 */
export async function followRuntime(options: FollowOptions): Promise<void> {
  const backoff = createBackoff(options.random ?? Math.random);
  const sleep = options.sleep ?? realSleep;
  const follower = new Follower(options);
  while (!options.signal.aborted) {
    const begun = options.clock.monotonic();
    try {
      await follower.session();
    } catch (error) {
      if (options.signal.aborted) return;
      if (options.clock.monotonic() - begun >= HEALTHY_SECONDS && follower.answered) backoff.reset();
      const code = errorCode(error) ?? "TRAWLER_RETRY";
      options.onEvent({ type: "away", code, reason: errorMessage(error) });
    }
    await sleep(backoff.next(), options.signal);
  }
}

class Follower {
  readonly #options: FollowOptions;
  readonly #view: RuntimeView;
  readonly #limit: Limit = limit(8);
  /** What was last reported of each pod. */
  readonly #reported = new Map<string, RuntimePod>();
  /** Pods whose details are being read; true = something changed meanwhile. */
  readonly #reading = new Map<string, boolean>();
  readonly #redact: Redact;
  readonly #images: Images;
  #runtime: RuntimeIdentity = { name: "unknown", version: "", socket: "" };
  #answered = false;

  constructor(options: FollowOptions) {
    this.#options = options;
    this.#view = new RuntimeView(() => this.#runtime.name);
    this.#redact = options.redact ?? (() => ["[redacted]"]);
    this.#images = new Images(options.log, this.#redact);
  }

  /** Whether the last session reported all pods. */
  get answered(): boolean {
    return this.#answered;
  }

  /** One connection, from its opening to its failure. */
  async session(): Promise<void> {
    this.#answered = false;
    const { clock, signal: parent } = this.#options;
    const session = new AbortController();
    const failed = Promise.withResolvers<never>();
    // Not awaited in every case; a fault of a handler must end the session and not the process.
    failed.promise.catch(() => {});
    const signal = AbortSignal.any([parent, session.signal]);
    using client = await this.#options.open(signal);
    try {
      const version = await client.version({ signal, timeout: 5_000 });
      this.#runtime = { name: version.runtimeName, version: version.runtimeVersion, socket: client.socket };
      const events = client.events(signal);
      const since = { wall: clock.now(), monotonic: clock.monotonic() };
      await this.#compare(client, signal);
      this.#answered = true;
      this.#options.onEvent({ type: "synced", runtime: this.#runtime });
      const consumed = this.#consume(client, events, since, signal, failed.reject);
      await Promise.race([consumed, this.#compareAgain(client, signal), failed.promise]);
    } finally {
      session.abort();
    }
  }

  async #consume(
    client: CriClient,
    events: AsyncIterable<ContainerEvent>,
    since: { readonly wall: number; readonly monotonic: number },
    signal: AbortSignal,
    fail: (error: unknown) => void,
  ): Promise<void> {
    const { clock, log, pollInterval = 1_000, sleep = realSleep } = this.#options;
    const started = clock.monotonic();
    let received = 0;
    try {
      for await (const event of events) {
        received += 1;
        const old = BigInt(event.createdAt) < BigInt(since.wall) * 1_000_000n;
        // The list says all that an event of before it could say, and is newer.
        if (old && clock.monotonic() - since.monotonic < BACKLOG_SECONDS) continue;
        const now = ENDS.has(event.containerEventType);
        for (const uid of this.#view.applyEvent(event)) this.#changed(client, uid, signal, now).catch(fail);
      }
    } catch (error) {
      if (errorCode(error) !== "TRAWLER_UNSUPPORTED") throw error;
      log.info({ socket: client.socket }, "the runtime sends no container events: polling");
    }
    if (signal.aborted) return;
    // Some runtimes end the stream at once where events are switched off.
    if (received > 0 || clock.monotonic() - started > 1) {
      throw new TrawlerError("TRAWLER_UNAVAILABLE", `the event stream of ${client.socket} ended`);
    }
    while (!signal.aborted) {
      await sleep(pollInterval, signal);
      if (!signal.aborted) await this.#compare(client, signal);
    }
  }

  async #compareAgain(client: CriClient, signal: AbortSignal): Promise<void> {
    const { compareInterval = 60_000, sleep = realSleep } = this.#options;
    let wait = Math.min(FIRST_COMPARE, compareInterval);
    while (!signal.aborted) {
      await sleep(wait, signal);
      if (!signal.aborted) await this.#compare(client, signal);
      wait = compareInterval;
    }
  }

  /** Lists, applies the difference and reads what is missing. */
  async #compare(client: CriClient, signal: AbortSignal): Promise<void> {
    const before = this.#view.ids();
    const [sandboxes, containers] = await Promise.all([
      client.listPodSandboxes({ signal }),
      client.listContainers({ signal }),
    ]);
    const touched = new Set(this.#view.applyList(sandboxes, containers, before));
    for (const uid of this.#view.uids) {
      const missing = this.#view.missing(uid);
      const incomplete = missing.sandboxes.length + missing.containers.length > 0;
      if (incomplete || !this.#reported.has(uid)) touched.add(uid);
    }
    await Promise.all([...touched].map((uid) => this.#changed(client, uid, signal, false)));
  }

  /** Reports a pod when what is missing has been read; `now`, or where nothing is missing, at once too. */
  async #changed(client: CriClient, uid: string, signal: AbortSignal, now: boolean): Promise<void> {
    const missing = this.#view.missing(uid);
    const whole = missing.sandboxes.length + missing.containers.length === 0;
    if (whole || now) this.#report(uid);
    if (whole) return;
    if (this.#reading.has(uid)) {
      this.#reading.set(uid, true);
      return;
    }
    this.#reading.set(uid, false);
    try {
      await this.#read(client, uid, signal);
    } finally {
      const again = this.#reading.get(uid) === true;
      this.#reading.delete(uid);
      if (!signal.aborted) {
        this.#report(uid);
        if (again) await this.#changed(client, uid, signal, false);
      }
    }
  }

  async #read(client: CriClient, uid: string, signal: AbortSignal): Promise<void> {
    const { sandboxes, containers } = this.#view.missing(uid);
    const names = this.#options.environmentNames?.(uid) ?? new Set<string>();
    const options = { signal, timeout: 5_000, verbose: true };
    const sandbox = async (id: string): Promise<void> => {
      const { status, info } = await client.podSandboxStatus(id, options);
      if (status !== null) this.#view.applySandbox(status, parseVerbose(info));
    };
    const container = async (id: string): Promise<void> => {
      const { status, info } = await client.containerStatus(id, options);
      if (status === null) return;
      const image = await this.#images.get(client, status.imageRef, signal);
      const root = parseInfo(info);
      const inspection = readInspection(status, root, this.#redact);
      const told = { inspection, ...(image !== null && { imageInspection: image }) };
      this.#view.applyContainer(status, readVerbose(root, names), uid, told);
    };
    const task = (read: (id: string) => Promise<void>) => (id: string) =>
      this.#limit(async () => {
        if (signal.aborted) return;
        try {
          await read(id);
        } catch (error) {
          if (errorCode(error) === "TRAWLER_GONE") this.#view.remove(id);
          else this.#options.log.debug({ pod: uid, id, reason: errorMessage(error) }, "a status could not be read");
        }
      });
    await Promise.all([...sandboxes.map(task(sandbox)), ...containers.map(task(container))]);
  }

  #report(uid: string): void {
    const pod = this.#view.pod(uid, new Date(this.#options.clock.now()).toISOString());
    if (pod !== null) {
      this.#options.onEvent({ type: "pod", pod });
      this.#reported.set(uid, pod);
      return;
    }
    const last = this.#reported.get(uid);
    this.#reported.delete(uid);
    if (last !== undefined) this.#options.onEvent({ type: "gone", pod: last });
  }
}
