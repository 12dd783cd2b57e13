import { randomUUID } from "node:crypto";
import { compose } from "../container.ts";
import { COLOURS, formatPlan, PLAIN } from "../plan.ts";
import { resolvePipelines } from "../resolve.ts";
import { Tallying } from "../tally.ts";
import type { World } from "../world.ts";
import { type CommonOptions, load } from "./common.ts";

/** `trawl check`: the plan, without running it. 0, or 2 (by a thrown TRAWLER_CONFIG_INVALID). */
export async function check(options: CommonOptions, world: World): Promise<number> {
  const { configuration, catalogue, log } = await load(options, world);
  const { signal } = new AbortController();
  const metrics = new Tallying(world.clock, null);
  await using composition = compose({
    configuration,
    log,
    clock: world.clock,
    metrics,
    signal,
    instance: randomUUID(),
  });
  const pipelines = await resolvePipelines(configuration, {
    catalogue,
    signal,
    look: true,
    host: composition.pluginHost,
  });
  const plan = {
    configuration,
    node: composition.node.name,
    pipelines,
    environments: new Map<string, string>(),
    served: [],
  };
  const { stdout } = world;
  await stdout.write(formatPlan(plan, stdout.colours ? COLOURS : PLAIN));
  return 0;
}
