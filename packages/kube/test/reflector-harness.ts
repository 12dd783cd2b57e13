import type { Clock } from "@trawler/plugin-api";
import { type FakeApi, type FakeObject, fakeApi } from "@trawler/testkit";
import { type ApiClient, createApiClient } from "../src/api/client.ts";
import { tokenTarget } from "../src/api/target.ts";
import { createReflector } from "../src/reflector/reflector.ts";
import type { Reflector, ReflectorOptions } from "../src/reflector/types.ts";

export const PODS = "/api/v1/pods";

export interface Seen {
  readonly uid: string;
  readonly name: string;
  readonly note: string | null;
}

export interface Harness extends AsyncDisposable {
  readonly api: FakeApi;
  readonly client: ApiClient;
  readonly reflector: Reflector<Seen>;
  /** What the handler was told, one word each: `+b`, `~b`, `-b`, `synced`, `away`, `back`. */
  readonly told: string[];
  readonly away: string[];
  /** Milliseconds that the reflector wanted to wait, in order. */
  readonly waits: number[];
  readonly signal: AbortSignal;
}

const clock: Clock = { now: () => Date.now(), monotonic: () => performance.now() / 1000 };

export function pod(uid: string, name: string = uid, note: string | null = null): FakeObject {
  const metadata = { uid, name, namespace: "shop", ...(note === null ? {} : { annotations: { note } }) };
  return { kind: "Pod", metadata, spec: { nodeName: "node-a" } };
}

/** A reflector of pods against a fake API server; it runs until disposed. Waits are cut to 1 ms unless asked. */
export async function reflect(
  setup: (api: FakeApi) => void,
  options: Partial<ReflectorOptions<Seen>> & { readonly apiOptions?: Parameters<typeof fakeApi>[0] } = {},
): Promise<Harness> {
  const api = await fakeApi(options.apiOptions);
  setup(api);
  const client = createApiClient({ target: tokenTarget({ server: api.url }) });
  const told: string[] = [];
  const away: string[] = [];
  const waits: number[] = [];
  const reflector = createReflector<Seen>({
    client,
    path: PODS,
    resource: "pods",
    clock,
    fieldSelector: "spec.nodeName=node-a",
    transform: (object, meta) => {
      const metadata: unknown = object["metadata"];
      const name = at(metadata, "name");
      const note = at(at(metadata, "annotations"), "note");
      return { uid: meta.uid, name: String(name), note: typeof note === "string" ? note : null };
    },
    handler: {
      added: (value) => told.push(`+${value.uid}`),
      updated: (value) => told.push(`~${value.uid}`),
      removed: (value) => told.push(`-${value.uid}`),
      synced: () => told.push("synced"),
      away: ({ reason }) => {
        told.push("away");
        away.push(reason);
      },
      back: () => told.push("back"),
    },
    sleep: (milliseconds) => {
      waits.push(milliseconds);
      return new Promise((resolve) => setTimeout(resolve, 1));
    },
    ...options,
  });
  const stop = new AbortController();
  const running = reflector.run(stop.signal).then(
    () => null,
    (error: unknown) => ({ error }),
  );
  return {
    api,
    client,
    reflector,
    told,
    away,
    waits,
    signal: stop.signal,
    [Symbol.asyncDispose]: async () => {
      stop.abort();
      const fault = await running;
      client[Symbol.dispose]();
      await api[Symbol.asyncDispose]();
      if (fault !== null) throw fault.error;
    },
  };
}

function at(value: unknown, key: string): unknown {
  return typeof value === "object" && value !== null ? Reflect.get(value, key) : undefined;
}

/** Waits until the condition holds; the test's own timeout is the bound. */
export async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise((resolve) => setTimeout(resolve, 2));
}

export function verbs(api: FakeApi): string[] {
  return api.requests.map(({ verb, query }) =>
    verb === "watch" ? `watch@${query.get("resourceVersion")}` : query.has("continue") ? "page" : verb,
  );
}
