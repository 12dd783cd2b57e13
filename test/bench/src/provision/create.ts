import { type ApiClient, createApiClient, kubeconfigTarget } from "@trawler/kube";
import { kubectl } from "@trawler/testbed";
import { node } from "../agent/node.ts";
import { fixed, median } from "../agent/usage.ts";
import type { Benchmark } from "../benchmark.ts";
import { benchFolder } from "../inventory/folder.ts";
import { timedRun } from "./run.ts";
import { type ConfigMap, configMaps, processed } from "./templates.ts";

const NAMESPACE = "trawler-bench-provision";
const PARALLEL = 8;
const BUDGET = 1.2;

/** The same objects by bare requests through the same client, as many at a time, and nothing else. Milliseconds. */
async function bare(client: ApiClient, objects: readonly ConfigMap[]): Promise<number> {
  const began = performance.now();
  let next = 0;
  const worker = async (): Promise<void> => {
    for (let object = objects[next++]; object !== undefined; object = objects[next++]) {
      const path = `/api/v1/namespaces/${NAMESPACE}/configmaps`;
      const { status } = await client.call({ what: "create", method: "POST", path, body: JSON.stringify(object) });
      if (status !== 201) throw new Error(`a bare POST was answered ${status}`);
    }
  };
  await Promise.all(Array.from({ length: PARALLEL }, worker));
  return performance.now() - began;
}

export const bench: Benchmark = {
  name: "provision-create",
  title: "Provisioning 100 ConfigMaps against 100 bare POSTs",
  async run({ log, quick, signal }) {
    const count = quick ? 20 : 100;
    const rounds = quick ? 2 : 15;
    await kubectl(["create", "namespace", NAMESPACE]);
    using folder = benchFolder();
    using client = createApiClient({
      target: await kubeconfigTarget(node().kubernetes.kubeconfig),
      keptConnections: PARALLEL,
    });
    const pairs: { readonly bare: number; readonly checks: number; readonly creation: number }[] = [];
    try {
      // The first rounds compile the code and open the connections.
      for (let round = -2; round < rounds; round++) {
        signal.throwIfAborted();
        const template = processed(configMaps(count, `ours-${round + 2}`), NAMESPACE);
        const others = configMaps(count, `bare-${round + 2}`);
        const options = { namespace: NAMESPACE, parallel: PARALLEL, dryRun: true };
        // In turns, so that neither is always the first.
        const first = round % 2 === 0 ? await bare(client, others) : null;
        const ours = await timedRun(client, folder.path, template, options);
        const theirs = first ?? (await bare(client, others));
        // One request for all of them: one at a time, the client's own throttle takes most of a minute.
        await kubectl(["delete", "--raw", `/api/v1/namespaces/${NAMESPACE}/configmaps`]);
        if (round < 0) continue;
        pairs.push({ bare: theirs, ...ours });
        log(`round ${round + 1}: ${fixed(ours.creation, 0)} ms against ${fixed(theirs, 0)} ms`);
      }
    } finally {
      await kubectl(["delete", "namespace", NAMESPACE, "--wait=false"]);
    }
    const ratio = median(pairs.map((pair) => pair.creation / pair.bare));
    return {
      rows: [
        { what: `${count} bare POSTs, ${PARALLEL} at a time`, figure: milliseconds(pairs.map((pair) => pair.bare)) },
        {
          what: `the same ${count} by a run: journal, marks, report`,
          figure: milliseconds(pairs.map(({ creation }) => creation)),
        },
        {
          what: "run to bare",
          figure: `${fixed(ratio.middle, 2)} ± ${fixed(ratio.spread, 2)} ×`,
          budget: `≤ ${BUDGET} ×`,
          met: ratio.middle <= BUDGET,
        },
        {
          what: "before it: rights, quota, a dry run of each object",
          figure: milliseconds(pairs.map(({ checks }) => checks)),
        },
      ],
      method: `One API server, one client, objects of a kilobyte; medians of ${rounds} rounds in turns, and of the ratios within each round, ± half the distance of the quartiles. A run writes down each request before and after it.`,
      raw: { pairs },
    };
  },
};

function milliseconds(values: readonly number[]): string {
  const { middle, spread } = median(values);
  return `${fixed(middle, 0)} ± ${fixed(spread, 0)} ms`;
}
