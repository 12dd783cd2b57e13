import { Guard } from "@trawler/engine";
import { errorCode, unsupported } from "@trawler/plugin-api";
import { expect, test } from "vitest";

const never = new AbortController().signal;

test("a call that ignores its signal is abandoned, and its key is not called again until it has returned", async () => {
  const guard = new Guard("crawler deaf");
  const { promise, resolve } = Promise.withResolvers<void>();
  await expect(guard.call("a", 5, never, () => promise)).rejects.toMatchObject({ code: "TRAWLER_PLUGIN_TIMEOUT" });
  expect(guard.stuck).toBe(1);
  await expect(guard.call("a", 5, never, async () => 1)).rejects.toMatchObject({ code: "TRAWLER_PLUGIN_STUCK" });
  expect(await guard.call("b", 1000, never, async () => 2)).toBe(2);
  resolve();
  await expect.poll(() => guard.stuck).toBe(0);
  expect(await guard.call("a", 1000, never, async () => 3)).toBe(3);
});

test("too many abandoned calls rest the whole plugin", async () => {
  const guard = new Guard("crawler deaf", 1);
  await expect(guard.call("a", 1, never, () => new Promise(() => {}))).rejects.toMatchObject({
    code: "TRAWLER_PLUGIN_TIMEOUT",
  });
  await expect(guard.call("b", 1, never, async () => 1)).rejects.toMatchObject({ code: "TRAWLER_PLUGIN_STUCK" });
});

test("a throw is typed, keeps its cause, and codes of ours pass whatever class they have", async () => {
  const guard = new Guard("crawler bad");
  const cause = new TypeError("x");
  const call = (error: unknown) =>
    guard.call("a", 1000, never, () => {
      throw error;
    });
  await expect(call(cause)).rejects.toMatchObject({ code: "TRAWLER_PLUGIN_FAILED", cause });
  await expect(call(unsupported("no"))).rejects.toMatchObject({ code: "TRAWLER_UNSUPPORTED" });
  const foreign = Object.assign(new Error("from another copy"), { code: "TRAWLER_DENIED" });
  await expect(call(foreign)).rejects.toBe(foreign);
  const unreadable = new Proxy(
    {},
    {
      get: () => {
        throw new Error("no");
      },
      has: () => {
        throw new Error("no");
      },
    },
  );
  await expect(call(unreadable)).rejects.toMatchObject({ code: "TRAWLER_PLUGIN_FAILED" });
});

test("the parent's abort ends a call with the parent's reason", async () => {
  const guard = new Guard("crawler slow");
  const parent = new AbortController();
  const reason = new Error("the host stops");
  const call = guard.call(
    "a",
    60_000,
    parent.signal,
    (signal) =>
      new Promise((_, reject) => {
        signal.addEventListener("abort", () => reject(signal.reason));
      }),
  );
  parent.abort(reason);
  await expect(call).rejects.toBe(reason);
});

test("calls that run at the same time end each by its own deadline", async () => {
  const guard = new Guard("crawler slow");
  const ended: string[] = [];
  const wait = (key: string, ms: number) =>
    guard
      .call(key, ms, never, () => new Promise(() => {}))
      .catch((error: unknown) => ended.push(`${key} ${errorCode(error)}`));
  const long = wait("long", 200);
  const quick = guard.call("quick", 60_000, never, async () => 1);
  const short = wait("short", 5);
  expect(await quick).toBe(1);
  await Promise.all([long, short]);
  expect(ended).toEqual(["short TRAWLER_PLUGIN_TIMEOUT", "long TRAWLER_PLUGIN_TIMEOUT"]);
  expect(guard.stuck).toBe(2);
});

test("a signal that is first asked for after the deadline is aborted, and for the same reason", async () => {
  const guard = new Guard("crawler late");
  const { promise, resolve } = Promise.withResolvers<AbortSignal>();
  const go = Promise.withResolvers<void>();
  const call = guard.enter("a", 5, never, async (deadline) => {
    await go.promise;
    expect(() => deadline.throwIfAborted()).toThrow("took longer than 5 ms");
    resolve(deadline.signal);
  });
  await expect(call).rejects.toMatchObject({ code: "TRAWLER_PLUGIN_TIMEOUT" });
  go.resolve();
  expect((await promise).reason).toMatchObject({ code: "TRAWLER_PLUGIN_TIMEOUT" });
});

test("a call that follows its signal at once is not abandoned", async () => {
  const guard = new Guard("crawler obedient");
  const call = guard.call("a", 5, never, async (signal) => {
    await new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true }));
    signal.throwIfAborted();
  });
  await expect(call).rejects.toMatchObject({ code: "TRAWLER_PLUGIN_TIMEOUT" });
  expect(guard.stuck).toBe(0);
});
