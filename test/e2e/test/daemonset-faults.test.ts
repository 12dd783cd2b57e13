import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { kubectl } from "@trawler/testbed";
import { afterEach, beforeAll, expect, test } from "vitest";
import { buildImage, makeSecret, PATIENCE, valuesFor } from "../src/daemonset.ts";
import { CHART, helm } from "../src/helm.ts";
import { kustomize } from "../src/kustomize.ts";
import { onNode } from "../src/suite.ts";
import { waitFor } from "../src/wait.ts";

const TIERS = ["figures", "files", "namespaces"] as const;

interface Rendered {
  readonly kind: string;
  readonly spec: {
    readonly template: { readonly spec: PodSpec };
    readonly updateStrategy: unknown;
  };
}
interface PodSpec {
  readonly hostPID: boolean;
  readonly securityContext: unknown;
  readonly tolerations: unknown;
  readonly terminationGracePeriodSeconds: number;
  readonly volumes: readonly object[];
  readonly containers: readonly Readonly<Record<string, unknown>>[];
}

/** The objects as the API server would keep them: it knows all fields, and defaults stand in them. */
async function dryRun(manifests: string): Promise<readonly Rendered[]> {
  const args = ["apply", "--dry-run=server", "--validate=strict", "-o", "json", "-f", "-"];
  return (JSON.parse((await kubectl(args, manifests)).stdout) as { items: Rendered[] }).items;
}

/** What makes an agent what it is, without names. */
function essence(objects: readonly Rendered[]): object {
  const { updateStrategy, template } = objects.find(({ kind }) => kind === "DaemonSet")?.spec ?? {};
  if (template === undefined) throw new Error("no DaemonSet");
  const { hostPID, securityContext, tolerations, terminationGracePeriodSeconds, volumes, containers } = template.spec;
  const [agent = {}] = containers;
  const { args, ports, livenessProbe, readinessProbe, resources, volumeMounts, terminationMessagePolicy } = agent;
  return {
    updateStrategy,
    ...{ hostPID, securityContext, tolerations, terminationGracePeriodSeconds },
    volumes: volumes.map((volume) => Object.keys(volume)),
    ...{ args, ports, livenessProbe, readinessProbe, resources, volumeMounts, terminationMessagePolicy },
    rights: agent["securityContext"],
  };
}

onNode("Rendering and refusing a DaemonSet", "e2e-daemonset-faults", (namespace) => {
  const render = (values: object) => helm(["template", "agent", CHART, "-n", namespace], values);
  const refusal = async (values: object): Promise<string> => {
    const { code, stderr } = await helm(["template", "agent", CHART], values, { tolerate: true });
    expect(code).not.toBe(0);
    return stderr;
  };

  beforeAll(buildImage, 300_000);

  test("helm lint has nothing to say", async () => {
    const { stdout } = await helm(["lint", "--strict", CHART], valuesFor());
    expect(stdout).toContain("0 chart(s) failed");
  });

  test.each(TIERS)("%s: the API server takes what the chart renders, and Kustomize renders the same", async (tier) => {
    const chart = await dryRun((await render({ ...valuesFor(), tier })).stdout);
    const manifests = await kustomize({
      ...(tier !== "figures" && { tier }),
      fields: { namespace, images: [{ name: "trawler", newName: "registry.example.test/trawler", newTag: "e2e" }] },
    });
    // The test's namespace is there already.
    expect(essence(await dryRun(manifests))).toEqual(essence(chart));
  });

  test("the defaults are those that the schema names", async () => {
    const schema = JSON.parse(await readFile(join(CHART, "values.schema.json"), "utf8")) as Schema;
    const needed = ofBrokers("kafka:9092");
    const { kafka, image, ...rest } = defaultsOf(schema);
    const all = { ...rest, kafka: { ...Object(kafka), ...needed.kafka }, image: { ...Object(image), ...needed.image } };
    expect((await render(all)).stdout).toBe((await render(needed)).stdout);
  });

  test("all options together are taken, too", async () => {
    const { stdout } = await render({
      ...valuesFor(),
      tier: "files",
      crawlers: { cpu: { every: "30s" } },
      excludeNamespaces: ["kube-system"],
      state: { hostPath: "/var/lib/trawler" },
      priorityClassName: "system-node-critical",
      maxUnavailable: 2,
      image: { repository: "registry.example.test/trawler", digest: `sha256:${"0".repeat(64)}`, pullSecrets: ["key"] },
      seLinuxOptions: { type: "spc_t" },
      nodeSelector: { "kubernetes.io/os": "linux" },
      podLabels: { team: "data" },
      env: [{ name: "TZ", value: "UTC" }],
      serviceAccount: { annotations: { "example.test/role": "reader" } },
    });
    expect((await dryRun(stdout)).map(({ kind }) => kind).sort()).toEqual([
      "ClusterRole",
      "ClusterRoleBinding",
      "ConfigMap",
      "DaemonSet",
      "ServiceAccount",
    ]);
  });

  test("a ServiceMonitor is rendered where it is asked for", async () => {
    const { stdout } = await render({ ...valuesFor(), serviceMonitor: { enabled: true, labels: { release: "prom" } } });
    expect(stdout).toMatch(/^kind: ServiceMonitor$/m);
    expect(stdout).toMatch(/^ {4}release: prom$/m);
  });

  test.each([
    ["no image", { kafka: { brokers: ["kafka:9092"] } }, "/image/repository"],
    ["no brokers", { image: { repository: "r/trawler" } }, "/kafka/brokers"],
    ["a bad broker", { ...ofBrokers("kafka") }, "/kafka/brokers/0"],
    ["an interval without unit", { ...ofBrokers("kafka:9092"), every: "10" }, "/every"],
    ["an interval of nothing", { ...ofBrokers("kafka:9092"), every: "0s" }, "/every"],
    ["an unknown tier", { ...ofBrokers("kafka:9092"), tier: "root" }, "/tier"],
    ["an unknown value", { ...ofBrokers("kafka:9092"), brokers: [] }, "brokers"],
    ["SASL without a Secret", ofKafka({ sasl: { mechanism: "plain" } }), "/kafka/secretName"],
    ["certificates without a Secret", ofKafka({ tls: { enabled: true, caKey: "ca.crt" } }), "/kafka/secretName"],
  ])("%s is refused at the installation", async (_, values, place) => {
    expect(await refusal(values)).toContain(place);
  });
});

interface Schema {
  readonly default?: unknown;
  readonly properties?: Readonly<Record<string, Schema>>;
}

function defaultsOf({ properties = {} }: Schema): Record<string, unknown> {
  const fields = Object.entries(properties).map(([name, schema]) => [
    name,
    schema.properties === undefined ? schema.default : defaultsOf(schema),
  ]);
  return Object.fromEntries(fields.filter(([, value]) => value !== undefined)) as Record<string, unknown>;
}

function ofBrokers(...brokers: readonly string[]) {
  return { image: { repository: "r/trawler" }, kafka: { brokers } };
}

function ofKafka(kafka: object) {
  return { image: { repository: "r/trawler" }, kafka: { brokers: ["kafka:9092"], ...kafka } };
}

onNode("An agent that cannot start", "e2e-daemonset-start", (namespace) => {
  beforeAll(buildImage, 300_000);
  afterEach(async () => {
    await helm(["uninstall", "agent", "-n", namespace, "--ignore-not-found"]);
    await waitFor("the agent's pods to be gone", async () => {
      return (await kubectl(["get", "pods", "-n", namespace, "-o", "name"])).stdout === "";
    });
  });

  /** What the pod says of its end. */
  const termination = (): Promise<string> =>
    waitFor(
      "a termination message",
      async () => {
        const path = "{.items[0].status.containerStatuses[0]['state','lastState'].terminated.message}";
        return (await kubectl(["get", "pods", "-n", namespace, "-o", `jsonpath=${path}`])).stdout.trim() || false;
      },
      PATIENCE,
    );
  const install = (values: object) => helm(["install", "agent", CHART, "-n", namespace], { ...valuesFor(), ...values });

  test("a bad interval in the file is told with its place", async () => {
    await makeSecret(namespace, "kafka");
    await install({ config: { pipelines: { default: { every: "10" } } } });
    expect(await termination()).toMatch(
      /^trawl: \/etc\/trawler\/trawler\.yaml:\d+:\d+: pipelines\.default\.every: [^\n]+$/,
    );
  });

  test("a Secret without the password is told with the file", async () => {
    await makeSecret(namespace, "kafka", { username: "trawler" });
    await install({});
    expect(await termination()).toMatch(
      /^trawl: emitter kafka cannot start: cannot read \/etc\/trawler-kafka\/password: ENOENT[^\n]*$/,
    );
  });

  test("a Secret without the user's name is told with the file", async () => {
    await makeSecret(namespace, "kafka", { password: "x" });
    await install({});
    expect(await termination()).toMatch(
      /^trawl: [^\n]*the file \/etc\/trawler-kafka\/username cannot be read; [^\n]*$/,
    );
  });

  test("no brokers in Kustomize's variables are told with the setting", async () => {
    const image = { name: "trawler", newName: "registry.example.test/trawler", newTag: "e2e" };
    const manifests = await kustomize({ fields: { namespace, images: [image] } });
    await kubectl(["apply", "-f", "-"], manifests);
    try {
      expect(await termination()).toMatch(/^trawl: \/etc\/trawler\/trawler\.yaml:\d+:\d+: [^\n]*brokers[^\n]*$/);
    } finally {
      await kubectl(["delete", "daemonset/trawler", "-n", namespace, "--ignore-not-found"]);
      await kubectl(["delete", "clusterrole/trawler", "clusterrolebinding/trawler", "--ignore-not-found"]);
    }
  });
});
