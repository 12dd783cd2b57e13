import { KubeConfig, type KubernetesListObject, type KubernetesObject, makeInformer } from "@kubernetes/client-node";
import { type FakeApi, fakeApi } from "@trawler/testkit";
import { describe, expect, test } from "vitest";
import { createApiClient, createReflector, tokenTarget } from "../src/index.ts";
import { PODS, pod } from "./reflector-harness.ts";

/** One scenario, watched by the client library's informer and by our reflector side by side: what each of them tells. */
interface Watched extends AsyncDisposable {
  readonly api: FakeApi;
  readonly informer: string[];
  readonly reflector: string[];
}

async function watched(setup: (api: FakeApi) => void): Promise<Watched> {
  const api = await fakeApi();
  setup(api);
  const stopping = new AbortController();
  const reflector: string[] = [];
  const client = createApiClient({ target: tokenTarget({ server: api.url }) });
  const run = createReflector<string>({
    client,
    path: PODS,
    resource: "pods",
    clock: { now: () => Date.now(), monotonic: () => performance.now() / 1000 },
    transform: (_, { uid }) => uid,
    handler: {
      added: (uid) => reflector.push(`+${uid}`),
      updated: (uid) => reflector.push(`~${uid}`),
      removed: (uid) => reflector.push(`-${uid}`),
    },
  }).run(stopping.signal);

  const config = new KubeConfig();
  config.loadFromOptions({
    clusters: [{ name: "c", server: api.url, skipTLSVerify: true }],
    users: [{ name: "u" }],
    contexts: [{ name: "c", cluster: "c", user: "u" }],
    currentContext: "c",
  });
  const informer: string[] = [];
  const list = async () => (await (await fetch(`${api.url}${PODS}`)).json()) as KubernetesListObject<KubernetesObject>;
  const library = makeInformer<KubernetesObject>(config, PODS, list);
  for (const [name, sign] of [
    ["add", "+"],
    ["update", "~"],
    ["delete", "-"],
  ] as const) {
    library.on(name, ({ metadata }) => void informer.push(`${sign}${metadata?.uid}`));
  }
  library.on("error", () => void setTimeout(() => void library.start(), 20));
  await library.start();
  await until(() => api.openWatches === 2 && informer.length > 0 && reflector.length > 0);
  return {
    api,
    informer,
    reflector,
    [Symbol.asyncDispose]: async () => {
      await library.stop();
      stopping.abort();
      await run;
      client[Symbol.dispose]();
      await api[Symbol.asyncDispose]();
    },
  };
}

const until = (holds: () => boolean): Promise<void> => expect.poll(holds).toBe(true);

/** What a batcher that keeps the last notice of each object makes of a batch. */
function lastNotices(told: readonly string[]): readonly string[] {
  return [...new Map(told.map((notice) => [notice.slice(1), notice])).values()];
}

describe("why the client library's informer is not used", () => {
  test("a pod made anew under its name in a gap: the informer tells one update, and no end of the old one", async () => {
    await using world = await watched((api) => api.put(PODS, pod("old", "web-0")));
    world.api.silently(() => {
      world.api.delete(PODS, "old");
      world.api.put(PODS, pod("new", "web-0"));
    });
    world.api.compact();
    world.api.breakWatches("end");
    await until(() => world.informer.length > 1 && world.reflector.length > 2);
    expect(world.reflector).toEqual(["+old", "-old", "+new"]);
    expect(world.informer).toEqual(["+old", "~new"]);
  });

  test("a batcher that keeps the last notice of each pod never knows those that lived within one batch", async () => {
    await using world = await watched((api) => api.put(PODS, pod("first")));
    for (let index = 0; index < 50; index += 1) {
      world.api.put(PODS, pod(`short-${index}`));
      world.api.delete(PODS, `short-${index}`);
    }
    await until(() => world.reflector.length === 101);
    expect(world.reflector).toHaveLength(101);
    // All that is left of fifty lives is fifty deletions of what was never stored.
    expect(lastNotices(world.reflector.slice(1)).every((notice) => notice.startsWith("-"))).toBe(true);
  });
});
