import type { EmitterInstance, EngineMetrics, Instance } from "@trawler/engine";
import {
  type Access,
  defineEmitter,
  defineEnvironment,
  defineMode,
  type Emitter,
  type Envelope,
  type Environment,
  type EnvironmentPlugin,
  type Frame,
  type Mode,
  type ModePlugin,
  type Schema,
  type Subject,
  type Workload,
  type WorkloadEvent,
  type WriteResult,
} from "@trawler/plugin-api";

/** A schema that takes anything: for plugins that are made by hand in a test. */
const anything: Schema = {
  "~standard": {
    version: 1,
    vendor: "trawler-testkit",
    validate: (value) => ({ value }),
    jsonSchema: {
      input: () => ({ type: "object", additionalProperties: false }),
      output: () => ({ type: "object", additionalProperties: false }),
    },
  },
};

/** An environment that reports what a test tells it to. */
export interface ScriptedEnvironment extends Instance<EnvironmentPlugin, Environment> {
  /** How often `discover` was called. */
  readonly calls: number;
  push(...events: readonly WorkloadEvent[]): void;
  /** Makes the running `discover` throw. */
  fail(error: unknown): void;
  /** Makes the running `discover` end by itself. */
  end(): void;
}

type Step = WorkloadEvent | { readonly type: "fail"; readonly error: unknown } | { readonly type: "end" };

export function scriptedEnvironment(...first: readonly WorkloadEvent[]): ScriptedEnvironment {
  const steps: Step[] = [...first];
  let wake: () => void = () => {};
  let calls = 0;
  const add = (...more: readonly Step[]): void => {
    steps.push(...more);
    wake();
  };
  const instance: Environment = {
    async *discover({ signal }) {
      calls++;
      while (!signal.aborted) {
        const step = steps.shift();
        if (step?.type === "fail") throw step.error;
        if (step?.type === "end") return;
        if (step) yield step;
        else {
          await new Promise<void>((resolve) => {
            wake = resolve;
            signal.addEventListener("abort", () => resolve(), { once: true });
          });
        }
      }
    },
    describe: () => "a script",
  };
  const plugin = defineEnvironment({
    name: "scripted",
    description: "Reports what a test tells it to.",
    config: anything,
    kinds: ["pod", "container", "host"],
    reports: ["pid", "containerId", "podUid", "cgroup"],
    create: () => instance,
  });
  return {
    id: "scripted",
    plugin,
    instance,
    get calls() {
      return calls;
    },
    push: add,
    fail: (error) => add({ type: "fail", error }),
    end: () => add({ type: "end" }),
  };
}

export interface FakeModeOptions {
  /** Access of the subject. Default: none. */
  readonly subject?: (workload: Workload) => Partial<Access>;
  /** Access of one running container. Default: an empty one, so that members exist. `null` = no members at all. */
  readonly member?: ((container: Workload["containers"][number]) => Partial<Access>) | null;
  readonly subjects?: Mode["subjects"];
}

/** A mode that keeps count of what is open. */
export interface FakeMode extends Instance<ModePlugin, Mode> {
  readonly opened: readonly string[];
  readonly closed: readonly string[];
}

export function fakeMode(options: FakeModeOptions = {}): FakeMode {
  const { subject = () => ({}), member = () => ({}), subjects } = options;
  const opened: string[] = [];
  const closed: string[] = [];
  const membersOf = ({ containers }: Workload): Map<string, Partial<Access>> =>
    new Map(
      containers.flatMap((container): [string, Partial<Access>][] =>
        member && container.id !== null && container.state.status === "running"
          ? [[container.id, member(container)]]
          : [],
      ),
    );
  const instance: Mode = {
    ...(subjects && { subjects }),
    async open(workload): Promise<Subject> {
      opened.push(workload.id);
      const members = membersOf(workload);
      return {
        access: subject(workload),
        members,
        async update(next) {
          const now = membersOf(next);
          for (const id of members.keys()) if (!now.has(id)) members.delete(id);
          for (const [id, access] of now) if (!members.has(id)) members.set(id, access);
        },
        async [Symbol.asyncDispose]() {
          closed.push(workload.id);
        },
      };
    },
  };
  const plugin = defineMode({
    name: "fake",
    description: "Opens what a test gives.",
    config: anything,
    accepts: ["pod", "container", "host"],
    requires: [],
    provides: {
      subject: ["fs", "proc", "cgroup", "net"],
      member: member ? ["fs", "proc", "cgroup", "net"] : [],
    },
    create: () => instance,
  });
  return { id: "fake", plugin, instance, opened, closed };
}

/** An emitter that keeps what it was given; `answer` may refuse, ask for another time, or throw. */
export interface CollectingEmitter extends EmitterInstance {
  /** All calls of `write`. */
  readonly batches: readonly (readonly Envelope[])[];
  /** What was taken, parsed. */
  readonly frames: readonly Frame[];
  readonly envelopes: readonly Envelope[];
}

export interface CollectingEmitterOptions {
  readonly id?: string;
  readonly maxBytes?: number;
  readonly queue?: { readonly bytes: number; readonly frames: number };
  readonly answer?: (batch: readonly Envelope[], signal: AbortSignal) => Promise<WriteResult | undefined>;
}

export function collectingEmitter(options: CollectingEmitterOptions = {}): CollectingEmitter {
  const { id = "collecting", maxBytes, queue = { bytes: 32 * 1_048_576, frames: 2000 }, answer } = options;
  const batches: (readonly Envelope[])[] = [];
  const envelopes: Envelope[] = [];
  const frames: Frame[] = [];
  const instance: Emitter = {
    ...(maxBytes !== undefined && { maxBytes }),
    async write(batch, { signal }) {
      batches.push(batch);
      const result = await answer?.(batch, signal);
      const notTaken = new Set([...(result?.retry ?? []), ...(result?.rejected ?? []).map((one) => one.id)]);
      for (const envelope of batch) {
        if (notTaken.has(envelope.id)) continue;
        envelopes.push(envelope);
        frames.push(JSON.parse(new TextDecoder().decode(envelope.bytes)));
      }
      return result;
    },
  };
  const plugin = defineEmitter({
    name: "collecting",
    description: "Keeps frames for a test.",
    config: anything,
    create: () => instance,
  });
  return { id, plugin, instance, queue, batches, frames, envelopes };
}

/** Metrics that can be read back: sums by name and labels, such as `lost overflow`. */
export function collectingMetrics(): EngineMetrics & { readonly counts: ReadonlyMap<string, number> } {
  const counts = new Map<string, number>();
  const add = (name: string, count: number): void => {
    counts.set(name, (counts.get(name) ?? 0) + count);
  };
  return {
    counts,
    crawlDuration: (crawler) => add(`crawls ${crawler}`, 1),
    problem: (crawler, code) => add(`problem ${crawler} ${code}`, 1),
    frame: (reason, emitter, result) => add(`frame ${reason} ${emitter} ${result}`, 1),
    framesLost: (reason, count) => add(`lost ${reason}`, count),
    slotsSkipped: (count) => add("skipped", count),
    gauge: (name, labels, value) => counts.set([name, ...Object.values(labels)].join(" "), value),
  };
}
