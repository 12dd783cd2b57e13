import type { PluginSettings } from "@trawler/config";
import { defineEmitter, type PluginHost, retryable, TrawlerError } from "@trawler/plugin-api";
import { describe, expect, test } from "vitest";
import * as z from "zod";
import { startPlugin } from "../src/start.ts";

const warnings: string[] = [];
const log = {
  debug: () => undefined,
  info: () => undefined,
  error: () => undefined,
  warn: (_: object, text: string) => void warnings.push(text),
};
const host: PluginHost = {
  id: "x",
  log,
  clock: { now: () => 0, monotonic: () => 0 },
  node: { name: "n", cluster: "c", paths: { root: "/", proc: "/proc", cgroup: "/sys/fs/cgroup" } },
  signal: new AbortController().signal,
};
const settings = (onStartError: PluginSettings["onStartError"], failures: readonly Error[]) => {
  const left = [...failures];
  const plugin = defineEmitter({
    name: "x",
    description: "Fails as often as told.",
    config: z.strictObject({}),
    create: () => {
      const failure = left.shift();
      if (failure) throw failure;
      return { write: async () => undefined };
    },
  });
  return { id: "x", plugin, config: {}, onStartError, named: true } as const;
};
const stop = new AbortController().signal;

describe("onStartError", () => {
  test("retry: what may work later is tried again", async () => {
    expect(await startPlugin(settings("retry", [retryable("not yet")]), host, { stop })).toMatchObject({ id: "x" });
  });
  test("retry: what will not work later ends at once", async () => {
    await expect(startPlugin(settings("retry", [new Error("never")]), host, { stop })).rejects.toMatchObject({
      code: "TRAWLER_PLUGIN_FAILED",
      message: "emitter x cannot start: never",
    });
  });
  test("retry: ends with the last attempt", async () => {
    const down = new TrawlerError("TRAWLER_UNAVAILABLE", "down");
    await expect(startPlugin(settings("retry", [down, down, down]), host, { stop, attempts: 2 })).rejects.toMatchObject(
      { code: "TRAWLER_UNAVAILABLE" },
    );
  });
  test("retry: a stop ends the wait", async () => {
    const controller = new AbortController();
    const started = startPlugin(
      settings(
        "retry",
        Array.from({ length: 100 }, () => retryable("not yet")),
      ),
      host,
      { stop: controller.signal },
    );
    controller.abort();
    await expect(started).rejects.toThrow(/cannot start/);
  });
  test("fail: even what may work later ends the start", async () => {
    await expect(startPlugin(settings("fail", [retryable("not yet")]), host, { stop })).rejects.toMatchObject({
      code: "TRAWLER_UNAVAILABLE",
    });
  });
  test("skip: it is left out with a warning", async () => {
    expect(await startPlugin(settings("skip", [new Error("never")]), host, { stop })).toBeNull();
    expect(warnings.at(-1)).toBe("emitter x cannot start: never; it is left out");
  });
});
