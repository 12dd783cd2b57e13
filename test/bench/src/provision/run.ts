import type { ApiClient } from "@trawler/kube";
import {
  begin,
  Cluster,
  Context,
  DEFAULT_SETTINGS,
  JournalFolder,
  type ProcessedTemplate,
  preflight,
  work,
} from "@trawler/provision";

const clock = { now: () => Date.now(), monotonic: () => performance.now() / 1000 };

/** Milliseconds of a run as `trawl provision apply` does it: its checks, and its creation with journal and report. */
export interface Timed {
  readonly checks: number;
  readonly creation: number;
}

export async function timedRun(
  client: ApiClient,
  folder: string,
  template: ProcessedTemplate,
  options: { readonly namespace: string; readonly parallel: number; readonly dryRun: boolean },
): Promise<Timed> {
  const { namespace, parallel, dryRun } = options;
  const cluster = new Cluster(client);
  const began = performance.now();
  const checks = { namespace, createNamespace: false, existing: "fail", order: "kind", dryRun, parallel } as const;
  const result = await preflight(cluster, template.objects, checks);
  const errors = result.findings.filter(({ severity }) => severity === "error");
  if (errors.length > 0) throw new Error(JSON.stringify(errors));
  const checked = performance.now();
  using begun = begin({
    folder: new JournalFolder(folder),
    template,
    preflight: result,
    namespace,
    server: cluster.server,
    settings: { ...DEFAULT_SETTINGS, parallel },
    clock,
  });
  const { signal: cancel } = new AbortController();
  const report = await work(new Context({ cluster, journal: begun.journal, clock, cancel }), { resumed: false });
  if (report.state !== "SUCCEEDED") throw new Error(`the run ended ${report.state}: ${report.headline}`);
  return { checks: checked - began, creation: performance.now() - checked };
}
