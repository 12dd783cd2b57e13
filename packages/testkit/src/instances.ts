import assert from "node:assert/strict";
import type { PluginHost, Schema } from "@trawler/plugin-api";
import type { Case } from "./case.ts";
import { fakeHost } from "./fake-host.ts";
import { parseSettings } from "./settings.ts";

/** What stands around a plugin in one case, made anew for each and disposed after it. */
export interface World extends Partial<AsyncDisposable> {
  /** Settings that the plugin is created with. */
  readonly config?: unknown;
  /** What differs from `fakeHost()`: paths of a fake node, a clock. */
  readonly host?: Partial<PluginHost>;
}

interface Creatable<I> {
  readonly name: string;
  readonly config: Schema;
  create(config: unknown, host: PluginHost): I | Promise<I>;
}

/** Creates an instance as the host does: settings parsed by the plugin's own schema. */
async function createIn<I>(plugin: Creatable<I>, world: World): Promise<I> {
  const settings = await parseSettings(plugin.config, world.config ?? {});
  return plugin.create(settings, fakeHost({ id: plugin.name, ...world.host }));
}

/** Runs `work` in a world of its own and disposes what was made, whatever happens. */
export async function within<W extends World, I extends Partial<AsyncDisposable>>(
  plugin: Creatable<I>,
  open: () => Promise<W>,
  work: (instance: I, world: W) => Promise<void>,
): Promise<void> {
  const world = await open();
  try {
    const instance = await createIn(plugin, world);
    try {
      await work(instance, world);
    } finally {
      await instance[Symbol.asyncDispose]?.();
    }
  } finally {
    await world[Symbol.asyncDispose]?.();
  }
}

export function twiceCase<W extends World, I extends Partial<AsyncDisposable>>(
  plugin: Creatable<I>,
  open: () => Promise<W>,
): Case {
  return {
    name: "can be created twice and closed twice",
    run: () =>
      within(plugin, open, async (one, world) => {
        const two = await createIn(plugin, world);
        assert.notEqual(one, two);
        for (const instance of [one, two, two]) await instance[Symbol.asyncDispose]?.();
      }),
  };
}

/** Fails where `work` has not settled within `ms`; the deadline is generous, as it only catches what never ends. */
export async function endsSoon(work: Promise<unknown>, what: string, ms = 2000): Promise<void> {
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(() => late.reject(new Error(`${what} did not end`)), ms);
  try {
    await Promise.race([work.catch(() => undefined), late.promise]);
  } finally {
    clearTimeout(timer);
  }
}
