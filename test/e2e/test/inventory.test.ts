import { setTimeout as sleep } from "node:timers/promises";
import { kubectl } from "@trawler/testbed";
import { afterAll, beforeAll, expect, test } from "vitest";
import { Agent } from "../src/agent.ts";
import { Inventory, PodLedger, recordLines } from "../src/inventory.ts";
import { makeTopic, TopicReader } from "../src/kafka.ts";
import { job, pod } from "../src/manifests.ts";
import { apply, node, podReady } from "../src/node.ts";
import { stopApiServer } from "../src/outage.ts";
import { onNode } from "../src/suite.ts";
import { waitFor } from "../src/wait.ts";

/** A pod that no scheduler takes: it lives in the API only, so that many can come and go fast. */
const unscheduled = (namespace: string, name: string): object =>
  pod(namespace, name, { spec: { schedulerName: "none" } });
const names = (prefix: string, count: number): readonly string[] =>
  Array.from({ length: count }, (_, i) => `${prefix}-${i}`);

onNode("inventory: every pod that ever was", "e2e-inventory", (namespace) => {
  let inventory: Inventory;
  let agent: Agent;
  let records: string;
  const ledger = new PodLedger();

  beforeAll(async () => {
    const stamp = Date.now();
    const frames = `trawler.frames-${stamp}`;
    records = `trawler.inventory-${stamp}`;
    const { brokers } = node().kafka;
    await makeTopic(frames);
    // A batch of seconds, so that whole lives fall into one.
    const kafka = { brokers, records: { topic: records, createTopic: true }, frames: { topic: frames } };
    inventory = await Inventory.prepare({ writer: { every: "2s" }, kafka });
    [agent] = await Promise.all([
      Agent.start({ every: "5s", emitters: { kafka: { brokers, topic: frames } } }),
      inventory.start(),
    ]);
  });

  afterAll(async () => {
    await Promise.all([inventory?.[Symbol.asyncDispose](), agent?.[Symbol.asyncDispose]()]);
  });

  /** Waits until the records are what the ledger says, and compares once more with a readable difference. */
  const settled = async (): Promise<void> => {
    const wanted = ledger.lines().join("\n");
    await waitFor("the records to equal the ledger", async () => {
      return recordLines(await inventory.everyPod(namespace)).join("\n") === wanted;
    }).catch(() => undefined);
    expect(recordLines(await inventory.everyPod(namespace))).toEqual(ledger.lines());
  };

  test("B2: pods made and deleted within one batch leave their records", async () => {
    const short = names("short", 10);
    await ledger.create(...short.map((name) => unscheduled(namespace, name)));
    await ledger.forceDelete(namespace, ...short);
    await settled();
    const { records: gone, complete } = await inventory.query("-n", namespace, "--deleted");
    expect(complete).toBe(true);
    for (const { end } of gone) expect(end).toMatchObject({ evidence: "watch", finalState: "exact" });
  });

  test("a Job of two seconds: exit code, node, owner and last figures, when it is long gone", async () => {
    await apply(job(namespace, "nightly", "i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done; sleep 1; exit 3"));
    await waitFor("the Job's pod to end", async () => {
      const { stdout } = await kubectl([
        "get",
        "pods",
        "-n",
        namespace,
        "-l",
        "app=nightly",
        "-o",
        "jsonpath={.items[*].status.phase}",
      ]);
      return stdout === "Failed";
    });
    const { stdout } = await kubectl(["get", "pods", "-n", namespace, "-l", "app=nightly", "-o", "json"]);
    const [made] = (JSON.parse(stdout) as { items: { metadata: { uid: string; name: string } }[] }).items;
    if (!made) throw new Error("the Job has no pod");
    ledger.pods.set(made.metadata.uid, { name: made.metadata.name, gone: true });
    await kubectl(["delete", "job", "-n", namespace, "nightly", "--wait=false"]);
    await settled();
    const detail = await waitFor("its last figures", async () => {
      const found = await inventory.show(made.metadata.uid);
      return found.figures !== null && found;
    });
    expect(detail).toMatchObject({
      phase: "Failed",
      exitCode: 3,
      node: node().kubernetes.node,
      owners: [{ kind: "Job", name: "nightly" }],
      end: { evidence: "watch", finalState: "exact" },
    });
    expect(detail.containers).toMatchObject([
      { container: "main", status: "terminated", exitCode: 3, reason: "Error" },
    ]);
    expect(detail.figures).toMatchObject({ reason: "ended", resource: { "k8s.pod.uid": made.metadata.uid } });
    const owned = await inventory.query("--deleted", "--owner", "Job/nightly");
    expect(owned.records.map(({ uid }) => uid)).toEqual([made.metadata.uid]);
    const table = await inventory.command("query", "--deleted", "-n", namespace);
    expect(table.stdout).toMatch(
      new RegExp(`${made.metadata.name} +Failed +3 +\\S+ +Job/nightly +\\d+\\.\\d\\ds +[\\d.]+(Ki|Mi) .* watch `),
    );
    expect(detail.used?.cpuSeconds).toBeGreaterThan(0);
  });

  test("completed, evicted, force-deleted while it runs, and made anew under the same name", async () => {
    const [done] = await ledger.create(
      pod(namespace, "done", { containers: [{ script: "exit 0" }], spec: { restartPolicy: "Never" } }),
    );
    const [evicted] = await ledger.create(pod(namespace, "evicted"));
    const [forced] = await ledger.create(pod(namespace, "forced"));
    const [first] = await ledger.create(unscheduled(namespace, "again"));
    await ledger.forceDelete(namespace, "again");
    const [second] = await ledger.create(unscheduled(namespace, "again"));
    await Promise.all([podReady(namespace, "evicted"), podReady(namespace, "forced")]);
    await waitFor("done to be done", async () => {
      const { stdout } = await kubectl(["get", "pod", "-n", namespace, "done", "-o", "jsonpath={.status.phase}"]);
      return stdout === "Succeeded";
    });
    const eviction = { apiVersion: "policy/v1", kind: "Eviction", metadata: { namespace, name: "evicted" } };
    await kubectl(
      ["create", "--raw", `/api/v1/namespaces/${namespace}/pods/evicted/eviction`, "-f", "-"],
      JSON.stringify(eviction),
    );
    ledger.gone("evicted");
    await ledger.forceDelete(namespace, "forced", "done");
    await settled();
    const by = new Map((await inventory.everyPod(namespace)).map((record) => [record.uid, record]));
    expect(by.get(done ?? "")).toMatchObject({ phase: "Succeeded", exitCode: 0, end: { finalState: "exact" } });
    expect(by.get(evicted ?? "")).toMatchObject({ node: node().kubernetes.node, end: { evidence: "watch" } });
    expect(by.get(evicted ?? "")?.exitCode).not.toBeNull();
    expect(by.get(forced ?? "")).toMatchObject({ phase: "Running", end: { evidence: "watch" } });
    expect(by.get(first ?? "")?.end).not.toBeNull();
    expect(by.get(second ?? "")?.end).toBeNull();
  });

  test("deleted while the collector was dead: a watch from where it stood, no list and no gap", async () => {
    await ledger.create(unscheduled(namespace, "before"));
    await settled();
    await inventory.stop("SIGKILL");
    await ledger.create(unscheduled(namespace, "unseen"));
    await ledger.forceDelete(namespace, "before", "unseen");
    await inventory.start();
    await settled();
    expect(await inventory.metric("lists_total", { kind: "pods" })).toBe(0);
    expect((await inventory.command("gaps", "-o", "json")).stdout.trim()).toBe("[]");
    expect((await inventory.query("-n", namespace, "--deleted", "--name", "unseen")).records[0]?.end).toMatchObject({
      evidence: "watch",
      finalState: "exact",
    });
  });

  test("B29: kill -9 at many moments of a churn: no record is lost, none is there twice", async () => {
    for (const [round, moment] of [15, 60, 140, 260, 420, 650].entries()) {
      const some = names(`churn-${round}`, 15);
      const killed = sleep(moment).then(() => inventory.stop("SIGKILL"));
      await ledger.create(...some.map((name) => unscheduled(namespace, name)));
      await ledger.forceDelete(namespace, ...some.slice(0, 12));
      await killed;
      await inventory.start(false);
    }
    await inventory.whenReady();
    await settled();
    expect((await inventory.command("gaps", "-o", "json")).stdout.trim()).toBe("[]");
    expect((await inventory.query("-n", namespace)).complete).toBe(true);
  });

  test("a refresh is one GET of one object", async () => {
    const [uid = ""] = await ledger.create(unscheduled(namespace, "fresh"));
    const lists = await inventory.metric("lists_total", { kind: "pods" });
    const { code, stdout } = await inventory.command("refresh", `Pod/${namespace}/fresh`);
    expect({ code, stdout }).toMatchObject({ code: 0, stdout: expect.stringContaining(uid) });
    expect(await inventory.metric("lists_total", { kind: "pods" })).toBe(lists);
    const missing = await inventory.command("refresh", `Pod/${namespace}/nobody`);
    expect(missing).toMatchObject({ code: 1, stderr: expect.stringContaining("has no Pod/") });
  });

  test("every record is in the compacted topic, keyed by cluster, kind and UID, with its latest state", async () => {
    await settled();
    const wanted = ledger.lines();
    await using reader = await TopicReader.open(records);
    const seen = await waitFor("the topic to hold every record", () => {
      const latest = new Map(reader.records.map(({ key, value }) => [key, JSON.parse(value) as Published]));
      const pods = [...latest.values()].filter((one) => one.kind === "Pod" && one.namespace === namespace);
      const lines = pods.map(({ uid, name, end }) => `${uid} ${name} ${end === null ? "live" : "gone"}`).sort();
      return lines.join("\n") === wanted.join("\n") && latest;
    });
    for (const [key, record] of seen) expect(key).toBe(`testbed/${record.kind}/${record.uid}`);
  });

  test("B25: the API server away: not ready, and answers say so; then in step again, and what went meanwhile is closed with its evidence", async () => {
    await ledger.create(unscheduled(namespace, "survivor"), unscheduled(namespace, "victim"));
    await settled();
    await using apiServer = await stopApiServer();
    await waitFor("it to be not ready", async () => (await inventory.readiness()) === 503);
    // B25: no gap has a row yet, and the answer says all the same that it may lack something.
    expect(await inventory.query("-n", namespace)).toMatchObject({ complete: false, unknown: { kind: "Pod" } });
    expect((await inventory.command("gaps")).stdout).toContain("is not known");
    await apiServer.end();
    await ledger.forceDelete(namespace, "victim");
    await inventory.whenReady();
    await settled();
    const { records: found } = await inventory.query("-n", namespace, "--deleted", "--name", "victim");
    expect(["watch", "relist"]).toContain(found[0]?.end?.evidence);
  });

  test("B38: the standby takes over from a leader that was killed, without a hole", async () => {
    const lease = { namespace: "trawler", name: "trawler-inventory", duration: "2s" };
    const state = inventory.state;
    await inventory.stop();
    await using one = await Inventory.prepare({ lease }, state);
    await using two = await Inventory.prepare({ lease }, state);
    await one.start();
    await two.start(false);
    await waitFor("the second to stand by", () => two.log.includes("standby"));
    // It does what it is there for.
    expect(await two.readiness()).toBe(200);
    expect(await two.metric("leader", {})).toBe(0);
    await ledger.create(unscheduled(namespace, "led-by-one"));
    await one.stop("SIGKILL");
    await ledger.forceDelete(namespace, "led-by-one");
    await ledger.create(unscheduled(namespace, "led-by-nobody"));
    await ledger.forceDelete(namespace, "led-by-nobody");
    await waitFor("the second to lead", async () => (await two.metric("leader", {})) === 1);
    await two.whenReady();
    await settled();
    expect(await two.metric("lists_total", { kind: "pods" })).toBe(0);
    expect(await two.stop()).toBe(0);
  });
});

interface Published {
  readonly kind: string;
  readonly uid: string;
  readonly namespace: string | null;
  readonly name: string;
  readonly end: object | null;
}
