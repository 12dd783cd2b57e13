import { expect, test } from "vitest";
import { createPrometheus } from "../src/prometheus.ts";
import { Tallying } from "../src/tally.ts";

test("the tally counts since the last look and knows how far a queue is behind", () => {
  let now = 100;
  const tally = new Tallying({ now: () => 0, monotonic: () => now }, null);
  tally.gauge("subjects", { pipeline: "a" }, 20);
  tally.gauge("subjects", { pipeline: "b" }, 3);
  for (const emitter of ["kafka", "stdout", "stdout"]) tally.frame("interval", emitter, "sent");
  tally.framesLost("overflow", 4);
  tally.gauge("queue_frames", { emitter: "kafka" }, 5);
  now = 130;
  tally.gauge("queue_frames", { emitter: "kafka" }, 9);
  expect(tally.take()).toEqual({ pods: 23, frames: 2, lost: 4, skipped: 0, queued: 9, lag: 30 });
  tally.gauge("queue_frames", { emitter: "kafka" }, 0);
  expect(tally.take()).toEqual({ pods: 23, frames: 0, lost: 0, skipped: 0, queued: 0, lag: 0 });
});

test("metrics take any labels that the engine gives and keep to their own names", async () => {
  const metrics = await createPrometheus();
  metrics.gauge("queue_bytes", { emitter: "kafka/main", pipeline: "default", other: "x" }, 7);
  metrics.problem(null, "timeout");
  metrics.framesLost("overflow", 2);
  metrics.frame("ended", "kafka/main", "rejected");
  metrics.crawlDuration("cpu", 0.002);
  const text = await metrics.text();
  expect(text).toContain('trawler_queue_bytes{pipeline="default",emitter="kafka/main"} 7');
  expect(text).toContain('trawler_problems_total{crawler="host",code="timeout"} 1');
  expect(text).toContain('trawler_frames_lost_total{reason="overflow"} 2');
  expect(text).toContain('trawler_frames_total{reason="ended",emitter="kafka/main",result="rejected"} 1');
  expect(text).toContain('trawler_crawl_duration_seconds_bucket{le="0.0025",crawler="cpu"} 1');
});
