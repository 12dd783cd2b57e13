import { randomUUID } from "node:crypto";
import type { Frame } from "@trawler/plugin-api";
import { kubectl } from "@trawler/testbed";
import { beforeAll, expect, test } from "vitest";
import { buildImage, makeSecret, nameOf } from "../src/daemonset.ts";
import { container, feature } from "../src/frames.ts";
import { makeTopic, TopicReader } from "../src/kafka.ts";
import { kustomize } from "../src/kustomize.ts";
import { pod } from "../src/manifests.ts";
import { apply, node, podReady } from "../src/node.ts";
import { onNode } from "../src/suite.ts";
import { waitFor } from "../src/wait.ts";

/** The base's configuration with authentication, as docs/install.md tells. */
const configuration = `
cluster: { name: "\${env:CLUSTER_NAME}" }
host: { cgroup: /host/sys/fs/cgroup }
http: { address: "\${env:POD_IP}", port: 9467 }
state: { folder: /var/lib/trawler }
pipelines:
  default:
    environment: { kubernetes: { discovery: api } }
    mode: { pod: {} }
    every: 2s
    crawlers: { cpu: {}, memory: {} }
    emitters:
      kafka:
        brokers: "\${env:KAFKA_BROKERS}"
        topic: "\${env:KAFKA_TOPIC}"
        sasl:
          mechanism: scram-sha-256
          username: "\${file:/etc/trawler-kafka/username}"
          passwordFile: /etc/trawler-kafka/password
`;

onNode("The base of Kustomize", "e2e-daemonset-kustomize", (namespace) => {
  beforeAll(buildImage, 300_000);

  test("an overlay with credentials sends frames", async () => {
    const { kafka, kubernetes } = node();
    const { hostname, port } = new URL(kubernetes.apiServer);
    const topic = `${namespace}.${randomUUID()}`;
    await Promise.all([makeTopic(topic), makeSecret(namespace, "trawler-kafka"), apply(pod(namespace, "steady"))]);
    await podReady(namespace, "steady");
    await using reader = await TopicReader.open(topic);
    const literals = [
      "CLUSTER_NAME=testbed",
      `KAFKA_BROKERS=${kafka.podBrokers?.join(",")}`,
      `KAFKA_TOPIC=${topic}`,
      `KUBERNETES_SERVICE_HOST=${hostname}`,
      `KUBERNETES_SERVICE_PORT=${port}`,
    ];
    const manifests = await kustomize({
      fields: {
        namespace,
        images: [{ name: "trawler", newName: "registry.example.test/trawler", newTag: "e2e" }],
        configMapGenerator: [
          { name: "trawler-env", behavior: "merge", literals },
          { name: "trawler", behavior: "replace", files: ["trawler.yaml"] },
        ],
      },
      files: { "trawler.yaml": configuration },
    });
    await kubectl(["apply", "-f", "-"], manifests);
    try {
      const frame = await waitFor("an interval frame", () =>
        reader.records
          .map(({ value }) => JSON.parse(value) as Frame)
          .find((one) => nameOf(one) === `${namespace}/steady` && one.reason === "interval"),
      );
      expect(frame.metadata.complete).toBe(true);
      expect(frame.resource["k8s.cluster.name"]).toBe("testbed");
      expect(feature(container(frame, "main"), "cpu")).toBeDefined();
    } finally {
      await kubectl(["delete", "daemonset/trawler", "-n", namespace, "--ignore-not-found"]);
      await kubectl(["delete", "clusterrole/trawler", "clusterrolebinding/trawler", "--ignore-not-found"]);
    }
  });
});
