import assert from "node:assert/strict";
import { type EmitterPlugin, type Envelope, errorCode } from "@trawler/plugin-api";
import type { Case } from "./case.ts";
import { fakeContext } from "./fake-host.ts";
import { endsSoon, twiceCase, type World, within } from "./instances.ts";
import { commonCases } from "./settings.ts";

/** A sink of its own for each case. */
export interface EmitterWorld extends World {
  /** The values that have arrived, in the order of arrival, as text. */
  arrived(): Promise<readonly string[]>;
}

export interface EmitterContractOptions {
  readonly world: () => Promise<EmitterWorld>;
  /** A sink that is away: the emitter must say so with a code. */
  readonly away?: () => Promise<World>;
  /** What arrives of an envelope, where it is not the frame itself. */
  readonly arrives?: (envelope: Envelope) => string;
  /** Settings for the checks of the schema where `{}` does not hold. */
  readonly config?: unknown;
}

/** An envelope of a small frame; `index` makes it one of a sequence. */
export function fakeEnvelope(index: number, overrides: Partial<Envelope> = {}): Envelope {
  const frameId = `01930000-0000-7000-8000-${String(index).padStart(12, "0")}`;
  const bytes = new TextEncoder().encode(JSON.stringify(frameOf(frameId, index)));
  return {
    id: frameId,
    frameId,
    key: "549c0000-0000-4000-8000-000000000001",
    schema: "trawler.frame/1",
    reason: "interval",
    node: "node-a",
    name: "shop/cart-0",
    bytes,
    ...overrides,
  };
}

/** The least that a frame holds; `index` is its one figure. */
function frameOf(id: string, index: number): object {
  return {
    schema: "trawler.frame/1",
    id,
    sequence: index + 1,
    time: new Date(Date.UTC(2026, 0, 1) + index * 1_000).toISOString(),
    observedFor: 1,
    reason: "interval",
    final: false,
    agent: { instance: "0193", version: "0.1.0" },
    kind: "pod",
    resource: { "k8s.namespace.name": "shop", "k8s.pod.name": "cart-0", "k8s.node.name": "node-a" },
    labels: { city: "Łódź 東京" },
    annotations: {},
    status: null,
    metadata: { complete: true, reason: null, groups: {} },
    features: [{ type: "number", key: "number", value: { index } }],
    problems: [],
    containers: [],
  };
}

/** The behaviour that every emitter must have. */
export function emitterContract(plugin: EmitterPlugin, options: EmitterContractOptions): readonly Case[] {
  const { world, away, config = {}, arrives = ({ bytes }) => new TextDecoder().decode(bytes) } = options;
  const cases: Case[] = [
    ...commonCases(plugin, config),
    twiceCase(plugin, world),
    {
      name: "has written every frame, in order, once its write has resolved",
      run: () =>
        within(plugin, world, async (emitter, { arrived }) => {
          const batches = [0, 1, 2].map((batch) => [0, 1, 2, 3].map((index) => fakeEnvelope(batch * 4 + index)));
          for (const batch of batches) {
            const result = await emitter.write(batch, fakeContext());
            assert.deepEqual(result?.rejected ?? [], []);
            assert.deepEqual(result?.retry ?? [], []);
          }
          assert.deepEqual(await arrived(), batches.flat().map(arrives));
        }),
    },
    {
      name: "takes an empty batch",
      run: () =>
        within(plugin, world, async (emitter, { arrived }) => {
          await emitter.write([], fakeContext());
          assert.deepEqual(await arrived(), []);
        }),
    },
    {
      name: "ends a write soon after its signal aborts",
      run: () =>
        within(plugin, away ?? world, async (emitter) => {
          const controller = new AbortController();
          const write = emitter.write([fakeEnvelope(0)], fakeContext(controller.signal));
          controller.abort(new Error("stopped"));
          await endsSoon(write, "the write");
        }),
    },
    {
      name: "can be closed while a write runs",
      run: () =>
        within(plugin, world, async (emitter) => {
          const write = emitter.write([fakeEnvelope(0)], fakeContext());
          await emitter[Symbol.asyncDispose]?.();
          await endsSoon(write, "the write");
        }),
    },
  ];
  if (!away) return cases;
  return [
    ...cases,
    {
      name: "says with a code that its sink is away",
      run: () =>
        within(plugin, away, async (emitter) => {
          const failure = await emitter.write([fakeEnvelope(0)], fakeContext()).then(
            (result) => (result?.retry?.length === 1 ? "TRAWLER_RETRY" : "it resolved"),
            (error: unknown) => errorCode(error) ?? String(error),
          );
          assert.match(failure, /^TRAWLER_(RETRY|UNAVAILABLE)$/);
        }),
    },
  ];
}
