import assert from "node:assert/strict";
import type { Environment, EnvironmentPlugin, HandleField, Workload, WorkloadEvent } from "@trawler/plugin-api";
import type { Case } from "./case.ts";
import { fakeContext } from "./fake-host.ts";
import { endsSoon, twiceCase, type World, within } from "./instances.ts";
import { commonCases } from "./settings.ts";

/** A scripted runtime or API of its own for each case, with at least one workload in it. */
export interface EnvironmentWorld extends World {
  /** Takes away one workload that was there; absent where nothing can go. */
  takeAway?(): Promise<void>;
}

export interface EnvironmentContractOptions {
  readonly world: () => Promise<EnvironmentWorld>;
  /** A world whose sources are away: discovery must end with a code. */
  readonly away?: () => Promise<World>;
  readonly config?: unknown;
}

/** The behaviour that every environment must have. */
export function environmentContract(plugin: EnvironmentPlugin, options: EnvironmentContractOptions): readonly Case[] {
  const { world, away, config = {} } = options;
  const cases: Case[] = [
    ...commonCases(plugin, config),
    twiceCase(plugin, world),
    {
      name: "reports what is there, then synced exactly once",
      run: () =>
        within(plugin, world, async (environment) => {
          const events = await until(environment, (seen) => seen.some(({ type }) => type === "synced"));
          assert.equal(events.at(-1)?.type, "synced");
          const workloads = events.flatMap((event) => (event.type === "synced" ? [] : [event.workload]));
          assert.ok(workloads.length > 0, "nothing was reported before synced");
          for (const workload of workloads) checkWorkload(plugin, workload);
        }),
    },
    {
      name: "reports the same again when it is asked again",
      run: () =>
        within(plugin, world, async (environment) => {
          const ids = async (): Promise<readonly string[]> => {
            const events = await until(environment, (seen) => seen.some(({ type }) => type === "synced"));
            return events.flatMap((event) => (event.type === "added" ? [event.workload.id] : [])).sort();
          };
          const first = await ids();
          assert.equal(new Set(first).size, first.length, "an id was added twice");
          assert.deepEqual(await ids(), first);
        }),
    },
    {
      name: "ends soon after its signal aborts",
      run: () =>
        within(plugin, world, async (environment) => {
          const controller = new AbortController();
          const running = drain(environment, controller.signal);
          controller.abort(new Error("stopped"));
          await endsSoon(running, "discovery");
        }),
    },
    {
      name: "reports as removed only what it had added",
      run: () =>
        within(plugin, world, async (environment, { takeAway }) => {
          if (!takeAway) return;
          let gone = false;
          const events = await until(environment, (seen) => {
            if (!gone && seen.some(({ type }) => type === "synced")) {
              gone = true;
              void takeAway();
            }
            return seen.some(({ type }) => type === "removed");
          });
          const added = new Set(events.flatMap((event) => (event.type === "added" ? [event.workload.id] : [])));
          const removed = events.flatMap((event) => (event.type === "removed" ? [event.workload.id] : []));
          assert.ok(removed.every((id) => added.has(id)));
          assert.equal(events.filter(({ type }) => type === "synced").length, 1);
        }),
    },
  ];
  if (!away) return cases;
  return [
    ...cases,
    {
      name: "says with a code that its sources are away",
      run: () =>
        within(plugin, away, async (environment) => {
          await assert.rejects(
            until(environment, () => false),
            ({ code }: { code?: string }) => /^TRAWLER_/.test(code ?? ""),
          );
        }),
    },
  ];
}

const MAX_EVENTS = 10_000;
const DEADLINE = 10_000;

/** Events until `enough` holds; discovery is then stopped. */
async function until(
  environment: Environment,
  enough: (events: readonly WorkloadEvent[]) => boolean,
): Promise<readonly WorkloadEvent[]> {
  const controller = new AbortController();
  const timer = setTimeout(() => controller.abort(new Error("what was waited for did not come")), DEADLINE);
  const events: WorkloadEvent[] = [];
  try {
    for await (const event of environment.discover(fakeContext(controller.signal))) {
      events.push(event);
      assert.ok(events.length < MAX_EVENTS, "reports without an end");
      if (enough(events)) return events;
    }
    controller.signal.throwIfAborted();
    return events;
  } finally {
    clearTimeout(timer);
    controller.abort(new Error("done"));
  }
}

async function drain(environment: Environment, signal: AbortSignal): Promise<void> {
  for await (const _ of environment.discover(fakeContext(signal))) if (signal.aborted) return;
}

function checkWorkload({ kinds, reports }: EnvironmentPlugin, workload: Workload): void {
  const { kind, id, name, handle, containers, sandbox, labels, annotations } = workload;
  assert.ok(kinds.includes(kind), `kind ${kind} is not declared`);
  assert.notEqual(id, "");
  assert.notEqual(name, "");
  for (const one of [handle, sandbox?.handle ?? {}, ...containers.map((container) => container.handle)]) {
    for (const field of Object.keys(one)) assert.ok(isReported(reports, field), `handle ${field} is not declared`);
    assert.notEqual(one.pid, 0, "a pid of 0 means that nothing runs: leave it out");
  }
  for (const map of [labels, annotations]) {
    assert.equal(Object.getPrototypeOf(map), null, "a map of foreign keys must have no prototype");
  }
  const ids = containers.flatMap((container) => container.id ?? []);
  assert.equal(new Set(ids).size, ids.length, "two containers have one id");
  assert.ok(!ids.includes(sandbox?.id ?? ""), "the sandbox is no member");
}

function isReported(reports: readonly HandleField[], field: string): boolean {
  return reports.some((report) => report === field);
}
