import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import type { Frame } from "@trawler/plugin-api";
import { busyboxImage, kubectl } from "@trawler/testbed";
import type { Benchmark, BenchmarkRow } from "../benchmark.ts";
import { BundledAgent, Installation } from "./bundled-agent.ts";
import { apply, loadPods, NAMESPACE } from "./load.ts";
import { waitFor } from "./node.ts";
import { follow, makeTopic } from "./topic.ts";
import { fixed, quantile } from "./usage.ts";

/** Seconds from a start to its frame. */
const BUDGET = 1;
const COMPLETE = 0.999;
const ALIVE_AT_ONCE = 15;

/** The frames of one pod that the bench asks about. */
interface Seen {
  started?: { readonly frame: Frame; readonly readAt: number };
  ended?: Frame;
}

const container = (script: string): object => ({
  name: "main",
  image: busyboxImage,
  imagePullPolicy: "Never",
  command: ["/bin/sh", "-c", script],
});

const pod = (name: string): object => ({
  apiVersion: "v1",
  kind: "Pod",
  metadata: { namespace: NAMESPACE, name, labels: { app: "latency" } },
  spec: { terminationGracePeriodSeconds: 0, containers: [container("sleep 100000")] },
});

const job = (name: string, pods: number): object => ({
  apiVersion: "batch/v1",
  kind: "Job",
  metadata: { namespace: NAMESPACE, name },
  spec: {
    completions: pods,
    parallelism: ALIVE_AT_ONCE,
    template: {
      metadata: { labels: { app: name } },
      spec: { restartPolicy: "Never", containers: [container("sleep 2")] },
    },
  },
});

const uids = async (selector: string): Promise<readonly string[]> => {
  const path = "jsonpath={range .items[*]}{.metadata.uid}{' '}{end}";
  const { stdout } = await kubectl(["get", "pods", "-n", NAMESPACE, "-l", selector, "-o", path]);
  return stdout.trim().split(" ").filter(Boolean);
};

export const bench: Benchmark = {
  name: "latency",
  title: "From the start of a pod to its frame, and pods that live two seconds",
  async run({ log, quick, signal }) {
    const longLived = quick ? 10 : 100;
    const shortLived = quick ? 20 : Number(process.env["TRAWLER_BENCH_SHORT_PODS"] ?? 200);
    using installation = await Installation.make();
    await loadPods(0, signal);
    await using topic = await makeTopic();
    const pods = new Map<string, Seen>();
    await using _agent = await BundledAgent.start(installation, { topic: topic.name, every: "60s", signal });
    await using _reader = await follow(topic.name, (value, readAt) => {
      const frame = JSON.parse(value) as Frame;
      const uid = frame.resource["k8s.pod.uid"];
      if (typeof uid !== "string") return;
      const seen = pods.get(uid) ?? {};
      pods.set(uid, seen);
      if (frame.reason === "started") seen.started ??= { frame, readAt };
      if (frame.reason === "ended") seen.ended ??= frame;
    });
    await sleep(3_000, undefined, { signal });

    for (let index = 0; index < longLived; index++) {
      await apply(pod(`latency-${index}`));
      await sleep(300, undefined, { signal });
    }
    const lasting = await uids("app=latency");
    await waitFor("a started frame of each pod", () => lasting.every((uid) => pods.get(uid)?.started), { signal });
    const delays = lasting.flatMap((uid) => delayOf(pods.get(uid))).toSorted((a, b) => a - b);
    log(`${delays.length} pods: p50 ${fixed(quantile(delays, 0.5), 3)} s, p99 ${fixed(quantile(delays, 0.99), 3)} s`);
    await kubectl(["delete", "pods", "-n", NAMESPACE, "-l", "app=latency", "--wait=false"]);

    const name = `short-${randomUUID().slice(0, 8)}`;
    await apply(job(name, shortLived));
    await waitFor(
      `${shortLived} short pods`,
      async () => {
        const { stdout } = await kubectl(["get", "job", name, "-n", NAMESPACE, "-o", "jsonpath={.status.succeeded}"]);
        return Number(stdout) >= shortLived;
      },
      { signal, deadline: 120_000 + shortLived * 2_000 },
    );
    const short = await uids(`app=${name}`);
    await waitFor("their last frames", () => short.every((uid) => pods.get(uid)?.ended), {
      signal,
      deadline: 20_000,
    }).catch(() => undefined);
    await kubectl(["delete", "job", name, "-n", NAMESPACE, "--wait=false"]);
    return {
      rows: [...latencyRows(delays), ...shortRows(short.map((uid) => pods.get(uid) ?? {}))],
      method: `${longLived} pods of one container, one every 0.3 s; from the runtime's own time of the container's start to the time at which a consumer of the topic has the frame, on one clock. Then a Job of ${shortLived} pods of \`sleep 2\`, ${ALIVE_AT_ONCE} at once, interval 60 s, all built-in crawlers (TRAWLER_BENCH_SHORT_PODS chooses another number).`,
      raw: { seconds: delays.map((delay) => Number(delay.toFixed(3))), shortLived: short.length },
    };
  },
};

function delayOf({ started }: Seen = {}): readonly number[] {
  const at = started?.frame.containers.find(({ type }) => type === "app")?.state.startedAt;
  return started && at ? [(started.readAt - Date.parse(at)) / 1000] : [];
}

function latencyRows(delays: readonly number[]): readonly BenchmarkRow[] {
  const p99 = quantile(delays, 0.99);
  return [
    { what: "Start of a pod to its frame in Kafka, p50", figure: `${fixed(quantile(delays, 0.5) * 1000, 0)} ms` },
    {
      what: "Start of a pod to its frame in Kafka, p99",
      figure: `${fixed(p99 * 1000, 0)} ms`,
      budget: `≤ ${BUDGET} s`,
      met: p99 <= BUDGET,
    },
  ];
}

function shortRows(seen: readonly Seen[]): readonly BenchmarkRow[] {
  const both = seen.filter(({ started, ended }) => started && ended).length;
  const owned = seen.filter(
    ({ ended }) => ended?.resource["k8s.job.name"] !== undefined && ended.labels["app"] !== undefined,
  ).length;
  const share = (count: number): string => `${count} of ${seen.length}`;
  return [
    {
      what: "Pods of two seconds with a started and an ended frame",
      figure: share(both),
      budget: "all",
      met: both === seen.length,
    },
    {
      what: "Of these with labels and owner",
      figure: share(owned),
      budget: "≥ 99.9 %",
      met: owned >= seen.length * COMPLETE,
    },
  ];
}
