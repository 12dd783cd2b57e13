import { errorMessage } from "@trawler/plugin-api";
import { parallel } from "../create/parallel.ts";
import type { Context } from "../instance/context.ts";
import type { Item } from "../journal/record.ts";
import { titleOf } from "../report/names.ts";
import type { Inventory } from "./types.ts";

/** Milliseconds for all objects: the inventory follows the cluster by itself too. */
const HAND_OVER = 5_000;

/** Tells a running inventory of the objects that were made. What it does not take is no failure of the run. */
export async function handOver(context: Context): Promise<void> {
  const { inventory } = context;
  if (inventory === null) return;
  const signal = AbortSignal.any([context.cancel, AbortSignal.timeout(HAND_OVER)]);
  const made = context.items.filter(({ status, type }) => status === "created" && inventory.follows(type));
  await parallel(
    made,
    context.run.settings.parallel,
    async (item) => {
      try {
        await refreshed(inventory, item, signal);
      } catch (error) {
        context.log(`${titleOf(item)}: not handed to the inventory: ${errorMessage(error)}`);
      }
    },
    () => signal.aborted,
  );
}

/** Has it read one object; rejects when the signal aborts, whatever the inventory does then. */
export async function refreshed(inventory: Inventory, item: Item, signal: AbortSignal): Promise<string | null> {
  const { type, namespace, name } = item;
  const late = Promise.withResolvers<never>();
  const stop = (): void => late.reject(new Error("it did not answer in time"));
  signal.addEventListener("abort", stop, { once: true });
  try {
    signal.throwIfAborted();
    const target = { kind: type.kind, namespace, name: name ?? "" };
    return await Promise.race([inventory.refresh(target, signal), late.promise]);
  } finally {
    signal.removeEventListener("abort", stop);
  }
}
