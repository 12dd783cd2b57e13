import assert from "node:assert/strict";
import { errorCode, type ModePlugin, type Subject, type Workload } from "@trawler/plugin-api";
import type { Case } from "./case.ts";
import { fakeContext } from "./fake-host.ts";
import { endsSoon, twiceCase, type World, within } from "./instances.ts";
import { commonCases } from "./settings.ts";

/** Something that runs and can be opened, for each case anew. */
export interface ModeWorld extends World {
  readonly workload: Workload;
  /** The same workload after one of its containers has ended; absent where it has none. */
  readonly ended?: Workload;
  /** One whose process has gone: opening gives a coded error, or a subject without it. */
  readonly gone?: Workload;
}

export interface ModeContractOptions {
  readonly world: () => Promise<ModeWorld>;
  readonly config?: unknown;
}

/** The behaviour that every mode must have. */
export function modeContract(plugin: ModePlugin, options: ModeContractOptions): readonly Case[] {
  const { world, config = {} } = options;
  const check = (subject: Subject): void => {
    const levels = [
      ["subject", subject.access] as const,
      ...[...subject.members.values()].map((one) => ["member", one] as const),
    ];
    for (const [level, access] of levels) {
      for (const capability of plugin.provides[level]) {
        assert.notEqual(access[capability], undefined, `a ${level} lacks ${capability}, which is declared`);
      }
    }
    if (plugin.provides.member.length === 0) assert.equal(subject.members.size, 0, "members are not declared");
  };
  return [
    ...commonCases(plugin, config),
    twiceCase(plugin, world),
    {
      name: "opens what it declares, at both levels, and only containers of the workload as members",
      run: () =>
        within(plugin, world, async (mode, { workload }) => {
          const [subject = workload] = mode.subjects?.(workload) ?? [workload];
          const opened = await mode.open(subject, fakeContext());
          try {
            check(opened);
            const ids = new Set(subject.containers.map(({ id }) => id));
            for (const id of opened.members.keys()) assert.ok(ids.has(id), `${id} is no container of the workload`);
            assert.ok(!opened.members.has(subject.sandbox?.id ?? ""), "the sandbox is no member");
          } finally {
            await opened[Symbol.asyncDispose]();
            await opened[Symbol.asyncDispose]();
          }
        }),
    },
    {
      name: "makes the same subjects of the same workload",
      run: () =>
        within(plugin, world, async ({ subjects }, { workload }) => {
          assert.deepEqual(subjects?.(workload), subjects?.(workload));
        }),
    },
    {
      name: "closes members that have ended and keeps the others",
      run: () =>
        within(plugin, world, async (mode, { workload, ended }) => {
          if (!ended) return;
          const opened = await mode.open(workload, fakeContext());
          try {
            const before = new Set(opened.members.keys());
            await opened.update(ended, fakeContext());
            check(opened);
            const running = new Set(
              ended.containers.flatMap(({ id, state }) => (id !== null && state.status === "running" ? [id] : [])),
            );
            for (const id of opened.members.keys()) assert.ok(running.has(id), `${id} has ended`);
            for (const id of before) assert.equal(opened.members.has(id), running.has(id));
          } finally {
            await opened[Symbol.asyncDispose]();
          }
        }),
    },
    {
      name: "meets what has gone with a coded error or without it",
      run: () =>
        within(plugin, world, async (mode, { gone }) => {
          if (!gone) return;
          try {
            const opened = await mode.open(gone, fakeContext());
            assert.equal(opened.members.size, 0);
            await opened[Symbol.asyncDispose]();
          } catch (error) {
            assert.match(errorCode(error) ?? String(error), /^TRAWLER_/);
          }
        }),
    },
    {
      name: "ends opening soon after its signal aborts",
      run: () =>
        within(plugin, world, async (mode, { workload }) => {
          const controller = new AbortController();
          const opening = mode.open(workload, fakeContext(controller.signal));
          controller.abort(new Error("stopped"));
          await endsSoon(
            opening.then((opened) => opened[Symbol.asyncDispose]()),
            "opening",
          );
        }),
    },
  ];
}
