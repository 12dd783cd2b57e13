import { readdirSync } from "node:fs";
import type { EngineMetrics } from "@trawler/engine";

export interface PrometheusMetrics extends EngineMetrics {
  readonly contentType: string;
  /** The text that /metrics answers with. */
  text(): Promise<string>;
}

/** The engine's counts as Prometheus metrics, with those of the process. Loads prom-client, so only where it is asked for. */
export async function createPrometheus(): Promise<PrometheusMetrics> {
  const { Counter, Gauge, Histogram, Registry } = await import("prom-client");
  const registry = new Registry();
  const registers = [registry];
  // Of the process what an operator watches, read when it is asked for; the library's default set wakes it all the time.
  const read = (name: string, help: string, value: () => number): void => {
    const gauge = new Gauge<string>({ name, help, registers, collect: (): void => gauge.set(value()) });
  };
  const cpu = new Counter({
    name: "process_cpu_seconds_total",
    help: "CPU time of the agent, user and system.",
    registers,
    collect: () => {
      const { user, system } = process.cpuUsage();
      cpu.reset();
      cpu.inc((user + system) / 1e6);
    },
  });
  read("process_resident_memory_bytes", "Resident memory.", () => process.memoryUsage.rss());
  read("process_start_time_seconds", "When the agent started.", () => Math.round(Date.now() / 1000 - process.uptime()));
  read("process_open_fds", "Open file descriptors.", () => readdirSync("/proc/self/fd").length);
  read("nodejs_heap_size_used_bytes", "JavaScript heap in use.", () => process.memoryUsage().heapUsed);
  read(
    "nodejs_eventloop_utilization",
    "Share of the time since the start that the event loop was busy.",
    () => performance.eventLoopUtilization().utilization,
  );
  const duration = new Histogram({
    name: "trawler_crawl_duration_seconds",
    help: "Time of one call of a crawler on one target.",
    labelNames: ["crawler"],
    buckets: [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
    registers,
  });
  const problems = new Counter({
    name: "trawler_problems_total",
    help: "What crawlers could not do, by its code.",
    labelNames: ["crawler", "code"],
    registers,
  });
  const frames = new Counter({
    name: "trawler_frames_total",
    help: "Frames that were written, tried again or refused.",
    labelNames: ["reason", "emitter", "result"],
    registers,
  });
  const lost = new Counter({
    name: "trawler_frames_lost_total",
    help: "Frames that no emitter will see again, by the reason.",
    labelNames: ["reason"],
    registers,
  });
  const skipped = new Counter({
    name: "trawler_slots_skipped_total",
    help: "Slots of the grid in which a subject was still being crawled.",
    registers,
  });
  const gauge = (name: string, help: string, labelNames: readonly string[]) => ({
    labelNames,
    gauge: new Gauge({ name, help, labelNames, registers }),
  });
  const gauges = {
    subjects: gauge("trawler_subjects", "Subjects that are crawled now.", ["pipeline"]),
    queue_frames: gauge("trawler_queue_frames", "Frames that wait for an emitter.", ["pipeline", "emitter"]),
    queue_bytes: gauge("trawler_queue_bytes", "Bytes that wait for an emitter.", ["pipeline", "emitter"]),
    stuck: gauge("trawler_stuck", "Calls into crawlers that were given up and have not returned.", [
      "pipeline",
      "crawler",
    ]),
  };
  return {
    contentType: registry.contentType,
    text: () => registry.metrics(),
    crawlDuration: (crawler, seconds) => duration.observe({ crawler }, seconds),
    problem: (crawler, code) => problems.inc({ crawler: crawler ?? "host", code }),
    frame: (reason, emitter, result) => frames.inc({ reason, emitter, result }),
    framesLost: (reason, count) => lost.inc({ reason }, count),
    slotsSkipped: (count) => skipped.inc(count),
    gauge: (name, labels, value) => {
      const { labelNames, gauge: target } = gauges[name];
      target.set(Object.fromEntries(labelNames.map((label) => [label, labels[label] ?? ""])), value);
    },
  };
}
