import { sleep } from "@trawler/kube";
import { ownError } from "../cluster/error.ts";
import { conditionsOf } from "../cluster/read.ts";
import type { Context } from "../instance/context.ts";
import type { Item } from "../journal/record.ts";
import { titleOf } from "../report/names.ts";
import { ByteGate } from "./bytes.ts";
import { createOne } from "./one.ts";
import { parallel } from "./parallel.ts";
import { stillAllowed } from "./rights.ts";
import { inWaves } from "./waves.ts";

const POLL = 200;

/**
 * Creates what is not there yet, wave after wave. The first failure stops the start of further requests; those under
 * way are awaited. True where every object is there. `resumed`: what was not answered may have taken effect.
 */
export async function createAll(context: Context, resumed: boolean, deadline: AbortSignal): Promise<boolean> {
  const { parallel: limit, keepGoing } = context.run.settings;
  const halt = AbortSignal.any([context.cancel, deadline]);
  const bytes = new ByteGate();
  let failed = false;
  const stopped = (): boolean => halt.aborted || (failed && !keepGoing);
  for (const wave of inWaves(context.items.filter(isMissing))) {
    // From here on, whoever resumes the run looks for each of them: none is created twice, and none is forgotten.
    context.intend(wave);
    await parallel(
      wave,
      limit,
      async ({ index }) => {
        const size = context.sealed?.requests[index]?.length ?? 0;
        await bytes.run(size, () => createOne(context, index, resumed, halt));
        const item = context.item(index);
        if (item.status === "created") return;
        failed = true;
        context.setRun({ headline: `${titleOf(item)}: ${item.error?.message ?? item.status}` });
      },
      stopped,
    );
    if (stopped()) break;
    await Promise.all(wave.map(({ index }) => established(context, index, halt)));
    const made = wave.map(({ index }) => context.item(index)).filter(({ status }) => status === "created");
    if (await stillAllowed(context, made, halt)) continue;
    failed = true;
    if (stopped()) break;
  }
  for (const { index } of context.items.filter(({ status }) => status === "planned")) {
    context.set(index, { status: "skipped" });
  }
  if (halt.aborted && !failed) {
    const why = context.cancel.aborted ? "cancelled" : "the time for creation is over";
    context.setRun({ headline: why });
  }
  return context.items.every(({ status }) => status === "created" || status === "existing");
}

function isMissing({ status }: Item): boolean {
  return (
    status === "planned" || status === "creating" || status === "failed" || status === "skipped" || status === "unknown"
  );
}

/** A definition serves its kind once it is established; what waits for that is in a later wave. */
async function established(context: Context, index: number, halt: AbortSignal): Promise<void> {
  const { type, name, status } = context.item(index);
  if (type.kind !== "CustomResourceDefinition" || status !== "created" || name === null) return;
  while (!halt.aborted) {
    const outcome = await context.cluster.read(type, null, name);
    const conditions = outcome.ok ? conditionsOf(outcome.object) : [];
    if (conditions.some((one) => one.type === "Established" && one.status === "True")) return;
    const refused = conditions.find((one) => one.type === "NamesAccepted" && one.status === "False");
    if (refused !== undefined) {
      const error = ownError(refused.reason ?? "NamesNotAccepted", refused.message ?? "its names are taken");
      context.set(index, { error });
      return;
    }
    await sleep(POLL, halt);
  }
}
