import { defineEmitter, defineEnvironment, defineMode, retryable, unsupported } from "@trawler/plugin-api";
import { emitterContract, environmentContract, fakeWorkload, modeContract } from "@trawler/testkit";
import { describe, expect, test } from "vitest";
import * as z from "zod";

const empty = z.strictObject({});
const nameless = <T extends object>(value: T): T => Object.assign(Object.create(null), value);

describe("an emitter that keeps the contract", () => {
  const makeEmitter = () => {
    const lines: string[] = [];
    const plugin = defineEmitter({
      name: "list",
      description: "Keeps lines in a list.",
      config: z.strictObject({ away: z.boolean().default(false).describe("Whether the sink is away.") }),
      create: ({ away }) => ({
        async write(batch) {
          if (away) throw retryable("the sink is away");
          for (const { bytes } of batch) lines.push(new TextDecoder().decode(bytes));
          return undefined;
        },
      }),
    });
    return { plugin, lines };
  };
  const { plugin, lines } = makeEmitter();
  const world = async () => {
    lines.length = 0;
    return { config: {}, arrived: async () => [...lines] };
  };
  const away = async () => ({ config: { away: true } });
  for (const { name, run } of emitterContract(plugin, { world, away })) test(name, run);

  test("the suite finds one that loses the order", async () => {
    const create: typeof plugin.create = () => ({
      async write(batch) {
        for (const { bytes } of batch) lines.unshift(new TextDecoder().decode(bytes));
        return undefined;
      },
    });
    expect(await failing(emitterContract({ ...plugin, create }, { world }))).toEqual([
      "has written every frame, in order, once its write has resolved",
    ]);
  });
});

const workload = fakeWorkload({ labels: nameless({}), annotations: nameless({}) });

describe("an environment that keeps the contract", () => {
  const plugin = defineEnvironment({
    name: "one",
    description: "Reports one pod.",
    config: empty,
    kinds: ["pod"],
    reports: ["pid", "containerId", "podUid", "cgroup"],
    create: () => ({
      async *discover({ signal }) {
        yield { type: "added", workload };
        yield { type: "synced" };
        await new Promise((resolve) => signal.addEventListener("abort", resolve));
      },
    }),
  });
  const world = async () => ({});
  for (const { name, run } of environmentContract(plugin, { world })) test(name, run);

  test("the suite finds undeclared handles", async () => {
    expect(await failing(environmentContract({ ...plugin, reports: ["pid"] }, { world }))).toEqual([
      "reports what is there, then synced exactly once",
    ]);
  });
});

describe("a mode that keeps the contract", () => {
  const plugin = defineMode({
    name: "nothing",
    description: "Opens members that can do nothing.",
    config: empty,
    accepts: ["pod"],
    requires: [],
    provides: { subject: [], member: ["meta"] },
    create: () => ({
      async open(opened) {
        if (opened.lifecycle === "ended") throw unsupported("it has gone");
        const meta = { workload: opened, container: null };
        const members = new Map(opened.containers.map(({ id }) => [id ?? "", { meta }]));
        return {
          access: {},
          members,
          async update(next) {
            for (const { id, state } of next.containers) if (state.status !== "running") members.delete(id ?? "");
          },
          async [Symbol.asyncDispose]() {},
        };
      },
    }),
  });
  const [container] = workload.containers;
  const state = { ...container?.state, status: "terminated" } as const;
  const ended = { ...workload, containers: [{ ...container, state }] } as typeof workload;
  const world = async () => ({ workload, ended, gone: { ...workload, lifecycle: "ended" as const } });
  for (const { name, run } of modeContract(plugin, { world })) test(name, run);
});

async function failing(cases: readonly { name: string; run(): Promise<void> }[]): Promise<readonly string[]> {
  const failed: string[] = [];
  for (const { name, run } of cases) await run().catch(() => failed.push(name));
  return failed;
}
