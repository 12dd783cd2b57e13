import { describe, expect, test } from "vitest";
import { type FakeApi, fakeApi, fakeStatus } from "../src/index.ts";

const PODS = "/api/v1/pods";
const pod = (uid: string) => ({ metadata: { uid, name: uid, namespace: "shop" } });

interface Answer {
  readonly status: number;
  readonly body: {
    readonly metadata: { readonly resourceVersion: string; readonly continue?: string };
    items: unknown[];
  };
}

async function ask(api: FakeApi, query: string): Promise<Answer> {
  const answer = await fetch(`${api.url}${PODS}?${query}`);
  const body: Answer["body"] = JSON.parse(await answer.text());
  return { status: answer.status, body };
}

/** Opens a watch; `next` gives the piece that comes next, `end` or `reset` as its last. */
async function watch(api: FakeApi, from: string | bigint) {
  const answer = await fetch(`${api.url}${PODS}?watch=true&resourceVersion=${from}`);
  const reader = answer.body?.getReader();
  return async (): Promise<string> => {
    try {
      const piece = await reader?.read();
      return piece?.done === true ? "end" : new TextDecoder().decode(piece?.value);
    } catch {
      return "reset";
    }
  };
}

describe("a fake API server", () => {
  test("lists in pages with one version, and tells what it was asked", async () => {
    await using api = await fakeApi({ resourceVersion: 90_071_992_547_409_930n });
    for (const uid of ["a", "b", "c"]) api.put(PODS, pod(uid));
    const first = await ask(api, "limit=2");
    expect(first.body.items).toMatchObject([
      { metadata: { uid: "a", resourceVersion: "90071992547409931" } },
      { metadata: { uid: "b" } },
    ]);
    const rest = await ask(api, `limit=2&continue=${first.body.metadata.continue}`);
    expect(rest.body.metadata).toEqual({ resourceVersion: "90071992547409933" });
    expect(api.requests.map(({ verb, query }) => [verb, query.get("limit"), query.get("continue")])).toEqual([
      ["list", "2", null],
      ["list", "2", "2"],
    ]);
  });

  test("watches from a version on: history, bookmarks, errors, ends and resets; 410 for what it has forgotten", async () => {
    await using api = await fakeApi();
    api.put(PODS, pod("a"));
    const next = await watch(api, 100n);
    expect(JSON.parse(await next())).toMatchObject({ type: "ADDED", object: { metadata: { uid: "a" } } });
    api.delete(PODS, "a");
    expect(JSON.parse(await next())).toMatchObject({
      type: "DELETED",
      object: { metadata: { resourceVersion: "102" } },
    });
    api.bookmark();
    expect(JSON.parse(await next())).toMatchObject({
      type: "BOOKMARK",
      object: { metadata: { resourceVersion: "102" } },
    });
    api.breakWatches("end");
    expect(await next()).toBe("end");
    const other = await watch(api, 102n);
    api.breakWatches("reset");
    expect(await other()).toBe("reset");
    api.compact();
    expect((await ask(api, "watch=true&resourceVersion=101")).status).toBe(410);
  });

  test("answers what it is told to: any status, any bytes, nothing; and goes back in time as a restored etcd does", async () => {
    await using api = await fakeApi();
    api.put(PODS, pod("a"));
    api.fault = () => ({ status: 429, headers: { "retry-after": "7" }, body: fakeStatus(429, "TooManyRequests", "") });
    expect(await ask(api, "")).toMatchObject({ status: 429, body: { reason: "TooManyRequests" } });
    api.fault = () => ({ stream: (stream) => stream.bytes(new TextEncoder().encode("ż").subarray(0, 1)) });
    expect(await (await watch(api, 0n))()).toBe("\ufffd");
    api.fault = () => ({ reset: true });
    await expect(ask(api, "")).rejects.toThrow();
    api.fault = null;
    api.silently(() => {
      api.resourceVersion = 50n;
      api.put(PODS, pod("b"));
    });
    expect((await ask(api, "")).body).toMatchObject({ metadata: { resourceVersion: "51" } });
  });

  test("knows what it ever put on the wire, and of what nobody was told", async () => {
    await using api = await fakeApi();
    api.put(PODS, pod("listed"));
    await ask(api, "");
    api.put(PODS, pod("unheard"));
    const next = await watch(api, 102n);
    api.put(PODS, pod("short"));
    api.put(PODS, pod("short"));
    api.delete(PODS, "short");
    await next();
    expect(Object.fromEntries(api.told)).toEqual({
      listed: { first: 101n, last: 101n, deleted: false },
      short: { first: 103n, last: 105n, deleted: true },
    });
  });

  test("by chance it breaks, mutes and refuses: the same for the same seed", async () => {
    const play = async (seed: number): Promise<readonly string[]> => {
      await using api = await fakeApi();
      api.chaos = { seed, every: 3 };
      const seen: string[] = [];
      for (let step = 0; step < 20; step += 1) {
        const answer = await fetch(`${api.url}${PODS}?watch=true&resourceVersion=${api.resourceVersion}`);
        api.put(PODS, pod(`p${step}`));
        const muted = answer.status === 200 && api.openWatches === 0;
        seen.push(`${answer.status}${muted ? " mute" : ""}`);
        await answer.body?.cancel().catch(() => undefined);
      }
      return seen;
    };
    const first = await play(7);
    expect(new Set(first).size).toBeGreaterThan(2);
    expect(await play(7)).toEqual(first);
  });
});
