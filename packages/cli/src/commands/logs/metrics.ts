import type { LinkCounts } from "@trawler/log-links";

export interface LogsMetrics {
  readonly contentType: string;
  text(): Promise<string>;
  set(counts: LinkCounts): void;
}

/** The linker's counts as Prometheus metrics. */
export async function createLogsMetrics(): Promise<LogsMetrics> {
  const { Gauge, Registry } = await import("prom-client");
  const registry = new Registry();
  const gauge = (name: string, help: string) =>
    new Gauge({ name: `trawler_logs_${name}`, help, registers: [registry] });
  const gauges: Readonly<Record<keyof LinkCounts, InstanceType<typeof Gauge>>> = {
    containers: gauge("containers", "Containers that run and are looked at."),
    linked: gauge("linked", "Log files that are offered."),
    absent: gauge("absent", "Log files that were asked for and are not there."),
    refused: gauge("refused", "Paths that were asked for and may not be offered."),
    failed: gauge("failed", "Links that could not be made or removed at the last pass."),
  };
  return {
    contentType: registry.contentType,
    text: () => registry.metrics(),
    set(counts) {
      gauges.containers.set(counts.containers);
      gauges.linked.set(counts.linked);
      gauges.absent.set(counts.absent);
      gauges.refused.set(counts.refused);
      gauges.failed.set(counts.failed);
    },
  };
}
