import { expect, test } from "vitest";
import { Agent } from "../src/agent.ts";
import { deployment, pod } from "../src/manifests.ts";
import { apply, getPod, node, podReady } from "../src/node.ts";
import { stopApiServer } from "../src/outage.ts";
import { onNode } from "../src/suite.ts";
import { waitFor } from "../src/wait.ts";

const EVERY = 2;
/** An outage lasts three intervals. */
const outage = 3;

onNode("metadata of pods", "e2e-metadata", (namespace) => {
  const downwardPod = () =>
    pod(namespace, "downward", {
      labels: { app: "downward", tier: "gold" },
      annotations: { team: "data", note: 'a "quoted" line' },
      containers: [
        {
          extra: {
            env: [
              { name: "POD_NAME", valueFrom: { fieldRef: { fieldPath: "metadata.name" } } },
              { name: "POD_NAMESPACE", valueFrom: { fieldRef: { fieldPath: "metadata.namespace" } } },
              { name: "POD_IP", valueFrom: { fieldRef: { fieldPath: "status.podIP" } } },
              { name: "NODE_NAME", valueFrom: { fieldRef: { fieldPath: "spec.nodeName" } } },
              { name: "DATABASE_PASSWORD", value: "must-never-leave" },
            ],
            volumeMounts: [{ name: "podinfo", mountPath: "/etc/podinfo" }],
          },
        },
      ],
      spec: {
        volumes: [
          {
            name: "podinfo",
            downwardAPI: {
              items: [
                { path: "labels", fieldRef: { fieldPath: "metadata.labels" } },
                { path: "annotations", fieldRef: { fieldPath: "metadata.annotations" } },
              ],
            },
          },
        ],
      },
    });

  test("IP, labels, annotations, resourceVersion, owner Deployment, node and QoS are on the frame", async () => {
    await apply(
      deployment(namespace, "cart", 1, {
        labels: { tier: "gold" },
        annotations: { team: "data" },
        containers: [
          { extra: { resources: { requests: { cpu: "10m", memory: "16Mi" }, limits: { memory: "64Mi" } } } },
        ],
      }),
    );
    await using agent = await Agent.start({ every: `${EVERY}s` });
    const isCart = (name: unknown) => String(name).startsWith("cart-");
    const frame = await waitFor(
      "the whole frame of the Deployment's pod",
      () =>
        agent.frames.all.find(
          ({ resource, metadata, status }) =>
            isCart(resource["k8s.pod.name"]) &&
            resource["k8s.deployment.name"] !== undefined &&
            metadata.complete &&
            status?.conditions.some(({ type, status: is }) => type === "Ready" && is === "True"),
        ),
      60_000,
    );
    const name = String(frame.resource["k8s.pod.name"]);
    const truth = await getPod(namespace, name);
    expect(frame.resource).toMatchObject({
      "k8s.cluster.name": "testbed",
      "k8s.node.name": node().kubernetes.node,
      "k8s.namespace.name": namespace,
      "k8s.pod.uid": truth.metadata.uid,
      "k8s.pod.ip": truth.status.podIP,
      "k8s.deployment.name": "cart",
      "k8s.replicaset.name": expect.stringMatching(/^cart-/),
      "k8s.deployment.uid": expect.stringMatching(/^[0-9a-f-]{36}$/),
    });
    expect(frame.labels).toMatchObject({ app: "cart", tier: "gold" });
    expect(frame.annotations).toMatchObject({ team: "data" });
    expect(frame.status).toMatchObject({
      phase: "Running",
      qosClass: "Burstable",
      static: false,
      ips: [truth.status.podIP],
    });
    expect(frame.status?.resourceVersion).toMatch(/^\d+$/);
    expect(frame.containers[0]?.resources).toMatchObject({
      cpu: { requestDesired: 0.01, limitDesired: null },
      memory: { requestDesired: 16 * 2 ** 20, limitDesired: 64 * 2 ** 20 },
    });
    const { groups } = frame.metadata;
    expect(groups.identity?.source).toBe("cri");
    expect([groups.labels, groups.annotations, groups.status, groups.owner].map((group) => group?.source)).toEqual(
      Array(4).fill("api"),
    );
  });

  test("API server stopped in the middle: frames go on incomplete with the reason, whole again after, no restart", async () => {
    await apply(pod(namespace, "steady", { labels: { app: "steady" } }));
    await podReady(namespace, "steady");
    await using agent = await Agent.start({ every: `${EVERY}s` });
    const name = `${namespace}/steady`;
    const whole = await agent.frames.next(name, "whole", ({ metadata }) => metadata.complete);

    await using apiServer = await stopApiServer();
    const partial = await agent.frames.upcoming(name, "incomplete", ({ metadata }) => !metadata.complete);
    expect(partial.metadata.reason).toMatch(/API/i);
    const before = agent.frames.of(name).length;
    await waitFor("three more slots", () => {
      const slots = agent.frames
        .of(name)
        .slice(before)
        .filter(({ reason }) => reason === "interval");
      return slots.length >= outage;
    });
    const during = agent.frames.of(name).slice(before);
    for (const frame of during) {
      expect(frame.metadata).toMatchObject({ complete: false });
      // What was known stays known: nothing flaps to empty.
      expect(frame.labels).toEqual({ app: "steady" });
      expect(["podsApi", "cache", "downward"]).toContain(frame.metadata.groups.labels?.source);
      expect(frame.resource["k8s.pod.uid"]).toBe(whole.resource["k8s.pod.uid"]);
    }

    await apiServer.end();
    const healed = await agent.frames.upcoming(name, "whole again", ({ metadata }) => metadata.complete, 60_000);
    expect(healed.metadata.groups.labels?.source).toBe("api");
    expect(healed.agent.instance).toBe(whole.agent.instance);
    const sequence = agent.frames.of(name).map((frame) => frame.sequence);
    expect(sequence).toEqual(sequence.map((_, index) => index + 1));
  });

  test("API server away at start: frames at once, named from the Pods API; whole after recovery", async () => {
    await apply(pod(namespace, "early", { labels: { app: "early" } }));
    await podReady(namespace, "early");
    await using apiServer = await stopApiServer();
    await using agent = await Agent.start({ every: `${EVERY}s`, unready: true });
    const name = `${namespace}/early`;
    const frame = await agent.frames.next(
      name,
      "from the Pods API",
      ({ metadata }) => metadata.groups.labels?.source === "podsApi",
    );
    expect(frame.metadata.complete).toBe(false);
    expect(frame.labels).toEqual({ app: "early" });
    await apiServer.end();
    const healed = await agent.frames.next(name, "whole", ({ metadata }) => metadata.complete, 60_000);
    expect(healed.metadata.groups.labels?.source).toBe("api");
    expect(healed.labels).toEqual({ app: "early" });
    // The first frames may be whole before discovery says that it has seen all there was.
    await waitFor("a ready agent", async () => (await fetch(`http://127.0.0.1:${agent.port}/readyz`)).ok);
  });

  test("with neither API server nor Pods API, downward API files and environment fill in and are named", async () => {
    await apply(downwardPod());
    const truth = await podReady(namespace, "downward");
    await using _apiServer = await stopApiServer();
    await using agent = await Agent.start({
      every: `${EVERY}s`,
      unready: true,
      environment: { kubelet: { root: node().kubernetes.kubeletRoot, podsApi: "/run/trawler-no-such.sock" } },
    });
    const frame = await agent.frames.next(
      `${namespace}/downward`,
      "from the downward API",
      ({ metadata }) => metadata.groups.labels?.source === "downward",
    );
    expect(frame.labels).toEqual({ app: "downward", tier: "gold" });
    expect(frame.annotations).toMatchObject({ team: "data", note: 'a "quoted" line' });
    expect(frame.metadata.groups.annotations?.source).toBe("downward");
    expect(frame.metadata.complete).toBe(false);
    expect(frame.resource).toMatchObject({
      "k8s.pod.uid": truth.metadata.uid,
      "k8s.pod.ip": truth.status.podIP,
      "k8s.node.name": node().kubernetes.node,
    });
    expect(JSON.stringify(agent.frames.all)).not.toContain("must-never-leave");
  });
});
