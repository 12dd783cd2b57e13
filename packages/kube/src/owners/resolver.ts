import { type Clock, errorMessage } from "@trawler/plugin-api";
import type { ApiClient } from "../api/client.ts";
import { sleep as realSleep, type Sleep } from "../api/deadline.ts";
import { apiStatus, retryAfter } from "../api/errors.ts";
import type { OwnerReference, PodRecord } from "../pods/record.ts";
import { createBackoff } from "../reflector/backoff.ts";
import {
  controllerOf,
  lookupOf,
  type OwnerFacts,
  type OwnerLookup,
  ownerAttributes,
  parseController,
} from "./facts.ts";

const ACCEPT = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1";
const MAX_OWNERS = 4096;
/** Milliseconds between two requests: five a second. */
const SPACING = 200;
const DENIED_SECONDS = 600;
/** DNS subdomain: anything else would be another path. */
const NAME = /^[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?$/;

interface Entry {
  readonly owner: OwnerReference;
  readonly lookup: OwnerLookup;
  readonly path: string;
  /** `known` includes "there is no controller" and "the object has gone". */
  state: "pending" | "known";
  controller: OwnerReference | null;
  reason: string;
  observedAt: string | null;
}

export interface OwnerSnapshot {
  readonly requests: number;
  readonly known: number;
  readonly pending: number;
}

/** Finds the Deployment or CronJob above a pod: one GET per ReplicaSet or Job, whatever the number of its pods. */
export interface OwnerResolver {
  /** What is known now; asks in the background for what is not. */
  facts(pod: Pick<PodRecord, "namespace" | "owners">): OwnerFacts;
  /** Works on what is asked until the signal aborts. Never throws. Call once. */
  run(signal: AbortSignal): Promise<void>;
  snapshot(): OwnerSnapshot;
}

export interface OwnerResolverOptions {
  readonly client: ApiClient;
  readonly clock: Clock;
  /** An owner became known: `facts` of its pods have changed. */
  changed(ownerUid: string): void;
  readonly sleep?: Sleep;
  readonly random?: () => number;
}

export function createOwnerResolver(options: OwnerResolverOptions): OwnerResolver {
  const { client, clock } = options;
  const pause = options.sleep ?? realSleep;
  const backoff = createBackoff(options.random ?? Math.random, 60);
  const entries = new Map<string, Entry>();
  const queue = new Set<string>();
  /** Per resource: not before this, in monotonic seconds. */
  const deniedUntil = new Map<string, number>();
  let requests = 0;
  let wake = new AbortController();

  const entryOf = (namespace: string, owner: OwnerReference, lookup: OwnerLookup): Entry => {
    const known = entries.get(owner.uid);
    if (known !== undefined) {
      // Kept in order of use: the least used is forgotten first.
      entries.delete(owner.uid);
      entries.set(owner.uid, known);
      return known;
    }
    const path = `/apis/${lookup.group}/v1/namespaces/${namespace}/${lookup.resource}/${owner.name}`;
    const valid = NAME.test(namespace) && NAME.test(owner.name);
    const entry: Entry = {
      owner,
      lookup,
      path,
      state: valid ? "pending" : "known",
      controller: null,
      reason: "not asked yet",
      observedAt: null,
    };
    entries.set(owner.uid, entry);
    if (valid) {
      queue.add(owner.uid);
      wake.abort();
    }
    const oldest = entries.size > MAX_OWNERS ? entries.keys().next().value : undefined;
    if (oldest !== undefined) {
      entries.delete(oldest);
      queue.delete(oldest);
    }
    return entry;
  };

  const denied = (entry: Entry): boolean => (deniedUntil.get(entry.lookup.resource) ?? 0) > clock.monotonic();

  const nextDue = (): Entry | null => {
    for (const uid of queue) {
      const entry = entries.get(uid);
      if (entry !== undefined && !denied(entry)) return entry;
    }
    return null;
  };

  const settle = (entry: Entry, controller: OwnerReference | null): void => {
    entry.state = "known";
    entry.controller = controller;
    entry.observedAt = new Date(clock.now()).toISOString();
    queue.delete(entry.owner.uid);
    backoff.reset();
    options.changed(entry.owner.uid);
  };

  /** Milliseconds to wait before the next request. */
  const ask = async (entry: Entry, signal: AbortSignal): Promise<number> => {
    requests += 1;
    const { resource } = entry.lookup;
    try {
      const what = `get ${resource}`;
      const body = await client.get({
        what,
        path: entry.path,
        accept: ACCEPT,
        signal,
        timeout: 10_000,
        maxBytes: 2 ** 20,
      });
      // Another object of the same name: ours has gone, and what was above it cannot be found out any more.
      settle(entry, parseController(body, entry.owner.uid) ?? null);
      deniedUntil.delete(resource);
      return SPACING;
    } catch (error) {
      const status = apiStatus(error);
      if (status === 404) {
        settle(entry, null);
        return SPACING;
      }
      entry.reason = errorMessage(error);
      if (status === 403 || status === 401) {
        deniedUntil.set(resource, clock.monotonic() + DENIED_SECONDS);
        return SPACING;
      }
      // To the end of the queue: one bad object must not hold up the rest.
      queue.delete(entry.owner.uid);
      queue.add(entry.owner.uid);
      return Math.max(SPACING, backoff.next(), (retryAfter(error) ?? 0) * 1000);
    }
  };

  /** Until something is asked, or a denied resource may be tried again. */
  const idle = async (signal: AbortSignal): Promise<void> => {
    wake = new AbortController();
    const forward = (): void => wake.abort();
    signal.addEventListener("abort", forward, { once: true });
    const now = clock.monotonic();
    const soonest = Math.min(...[...deniedUntil.values()].filter((until) => until > now), now + DENIED_SECONDS);
    await pause(Math.max(SPACING, (soonest - now) * 1000), wake.signal);
    signal.removeEventListener("abort", forward);
  };

  return {
    facts: (pod) => {
      const owner = controllerOf(pod.owners);
      if (owner === null) return { resource: {}, complete: true, reason: null, observedAt: null };
      const own = ownerAttributes(owner);
      const lookup = lookupOf(owner);
      if (lookup === null) return { resource: own, complete: true, reason: null, observedAt: null };
      const entry = entryOf(pod.namespace, owner, lookup);
      const upper = entry.controller === null ? {} : ownerAttributes(entry.controller);
      const complete = entry.state === "known";
      const reason = complete ? null : `${owner.kind} ${owner.name}: owner unknown, ${entry.reason}`;
      return { resource: { ...own, ...upper }, complete, reason, observedAt: entry.observedAt };
    },
    run: async (signal) => {
      while (!signal.aborted) {
        const entry = nextDue();
        if (entry === null) await idle(signal);
        else await pause(await ask(entry, signal), signal);
      }
    },
    snapshot: () => {
      const known = [...entries.values()].filter(({ state }) => state === "known").length;
      return { requests, known, pending: entries.size - known };
    },
  };
}
