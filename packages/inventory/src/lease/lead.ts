import { type ApiClient, apiStatus, sleep as realSleep, type Sleep } from "@trawler/kube";
import { type Clock, errorMessage, type Logger } from "@trawler/plugin-api";
import { type LeaseState, leaseBody, parseLease } from "./lease.ts";

export interface LeaseOptions {
  readonly client: ApiClient;
  readonly clock: Clock;
  readonly log: Logger;
  readonly namespace: string;
  readonly name: string;
  /** Of this process, never used again. */
  readonly identity: string;
  /** Milliseconds. */
  readonly duration: number;
  /** Told after each look while this replica does not lead: whether another one does. */
  readonly standing?: (by: boolean) => void;
  readonly sleep?: Sleep;
  readonly random?: () => number;
}

/** What the leader does; the signal aborts when the Lease is lost. `token` grows each time that it changes hands. */
export type Lead = (token: number, signal: AbortSignal) => Promise<void>;

/** A leader that could not renew for this part of the duration stops by itself, before another one may begin. */
const GIVE_UP = 2 / 3;
/** Parts of the duration between two renewals or looks. */
const EVERY = 1 / 5;

/**
 * Waits for the Lease, leads while it is held, and waits again when it is lost. Ends with the signal, or with what
 * `lead` rejects with. Server and local clocks are not compared: a Lease is over when it did not change for its
 * duration, by our own monotonic clock (as Kubernetes' components do it).
 */
export async function leadByLease(options: LeaseOptions, lead: Lead, signal: AbortSignal): Promise<void> {
  const { client, clock, log, identity, duration } = options;
  const pause = options.sleep ?? realSleep;
  const random = options.random ?? Math.random;
  const collection = `/apis/coordination.k8s.io/v1/namespaces/${options.namespace}/leases`;
  const what = `lease ${options.namespace}/${options.name}`;
  const timeout = Math.max(1_000, duration / 3);
  let acquiredAt = clock.now();
  /** What we saw last, and since when it is so. */
  let seen: { readonly mark: string; readonly since: number } | null = null;

  const read = async (): Promise<LeaseState | null> => {
    try {
      return parseLease(await client.get({ what, path: `${collection}/${options.name}`, signal, timeout }));
    } catch (error) {
      if (apiStatus(error) === 404) return null;
      throw error;
    }
  };

  const write = async (current: LeaseState | null, holder: string, transitions: number): Promise<LeaseState | null> => {
    const body = JSON.stringify(
      leaseBody({
        namespace: options.namespace,
        name: options.name,
        resourceVersion: current?.resourceVersion ?? null,
        holder,
        durationSeconds: Math.max(1, Math.round(duration / 1000)),
        transitions,
        now: clock.now(),
        acquiredAt,
      }),
    );
    const path = current === null ? collection : `${collection}/${options.name}`;
    const method = current === null ? "POST" : "PUT";
    // Not the stop's signal: giving it back is the last that is done.
    return parseLease(await client.get({ what, path, method, body, timeout }));
  };

  /** The Lease as ours, or null while another one holds it. */
  const acquire = async (): Promise<LeaseState | null> => {
    const current = await read();
    if (current !== null && current.holder !== null && current.holder !== identity) {
      const mark = `${current.resourceVersion} ${current.holder} ${current.renewTime}`;
      if (seen?.mark !== mark) seen = { mark, since: clock.monotonic() };
      if (clock.monotonic() - seen.since < current.durationSeconds) return null;
    }
    acquiredAt = clock.now();
    try {
      return await write(current, identity, (current?.transitions ?? 0) + 1);
    } catch (error) {
      // Another one was faster.
      if (apiStatus(error) === 409) return null;
      throw error;
    }
  };

  /** Renews until it is lost or the signal aborts; resolves with the Lease as it was last. */
  const hold = async (first: LeaseState, until: AbortSignal): Promise<LeaseState> => {
    let current = first;
    let renewedAt = clock.monotonic();
    while (!until.aborted) {
      await pause(duration * EVERY, until);
      if (until.aborted) break;
      const begun = clock.monotonic();
      try {
        const next = await write(current, identity, current.transitions);
        if (next !== null) current = next;
        renewedAt = begun;
      } catch (error) {
        if (apiStatus(error) === 409) {
          const now = await read().catch(() => null);
          if (now !== null && now.holder !== identity) throw new Error(`${now.holder ?? "nobody"} holds it now`);
          if (now !== null) current = now;
        }
        if ((clock.monotonic() - renewedAt) * 1000 > duration * GIVE_UP) throw error;
        log.debug({}, `${what}: not renewed yet: ${errorMessage(error)}`);
      }
    }
    return current;
  };

  let told = false;
  while (!signal.aborted) {
    let held: LeaseState | null = null;
    try {
      held = await acquire();
      options.standing?.(held === null);
      if (held === null && !told) {
        told = true;
        log.info({}, `standby: another replica holds ${what}`);
      }
    } catch (error) {
      if (signal.aborted) return;
      options.standing?.(false);
      log.warn({}, `${what}: ${errorMessage(error)}`);
    }
    if (held !== null) {
      told = false;
      log.info({ token: held.transitions }, `leading: this replica holds ${what}`);
      await leadWhileHeld(held);
    }
    await pause(duration * EVERY * (0.8 + 0.4 * random()), signal);
  }

  async function leadWhileHeld(held: LeaseState): Promise<void> {
    const ended = new AbortController();
    const lost = new AbortController();
    const holding = hold(held, AbortSignal.any([signal, ended.signal])).catch((error: unknown) => {
      log.warn({}, `${what} is lost: ${errorMessage(error)}`);
      lost.abort();
      return null;
    });
    // The work may still flush while the Lease is held: it is given back when that is done.
    try {
      await lead(held.transitions, AbortSignal.any([signal, lost.signal]));
    } finally {
      ended.abort();
      const last = await holding;
      if (last !== null) await write(last, "", last.transitions).catch(() => undefined);
    }
  }
}
