import { expect, test } from "vitest";
import { parse, parseAllDocuments } from "yaml";
import { layoutFrom } from "../src/layout.ts";
import { sandboxImage } from "../src/pins.ts";
import { cniConfig, containerdConfig } from "../src/render-containerd.ts";
import { brokerProperties } from "../src/render-kafka.ts";
import { agentRole, kubeconfig, kubeletConfig, tokensFile } from "../src/render-kubernetes.ts";
import { newSettings } from "../src/settings.ts";

const layout = layoutFrom({ TRAWLER_TESTBED: "/t" });
const before = { sysctls: {}, paths: [], chains: [] };

test("the node knows no other sandbox image than the testbed's", () => {
  expect(containerdConfig(layout)).toContain(`sandbox = "${sandboxImage}"`);
});

test("containerd and the network plugins keep their state below the root", () => {
  const paths = [...containerdConfig(layout).matchAll(/^\s*(?:root|state|address|path|conf_dir) = "(.*)"/gm)];
  expect(paths.length).toBeGreaterThan(4);
  for (const [, path] of paths) expect(path).toMatch(/^\/t\//);
  expect(JSON.parse(cniConfig(layout))).toMatchObject({ plugins: [{ ipam: { dataDir: "/t/cni/addresses" } }, {}] });
});

test("the secure profile closes the kubelet's doors, the open one does not", async () => {
  const open: unknown = parse(kubeletConfig(layout, await newSettings({}, before)));
  const secure: unknown = parse(kubeletConfig(layout, await newSettings({ secure: true }, before)));
  expect(open).toMatchObject({
    authorization: { mode: "AlwaysAllow" },
    authentication: { anonymous: { enabled: true } },
  });
  expect(secure).toMatchObject({
    authorization: { mode: "Webhook" },
    authentication: { anonymous: { enabled: false }, webhook: { enabled: true } },
    readOnlyPort: 0,
  });
});

test("the agent may read pods and two kinds of owner, and is in no privileged group", async () => {
  const [role] = parseAllDocuments(agentRole()).map((document): unknown => document.toJS());
  expect(role).toMatchObject({
    rules: [
      { resources: ["pods"], verbs: ["get", "list", "watch"] },
      { resources: ["replicasets"], verbs: ["get"] },
      { resources: ["jobs"], verbs: ["get"] },
    ],
  });
  expect(tokensFile(await newSettings({}, before))).toContain("\nagenttoken,trawler-agent,2,trawler\n");
});

test("a kubeconfig checks the server's certificate", async () => {
  const config: unknown = parse(kubeconfig(layout, await newSettings({}, before), "admin", "secret"));
  expect(config).toMatchObject({
    clusters: [{ cluster: { "certificate-authority": "/t/pki/ca.crt" } }],
    users: [{ user: { token: "secret" } }],
  });
});

test("brokers listen on the pods' bridge where there is a node", async () => {
  const withNode = brokerProperties(layout, await newSettings({}, before), 1);
  expect(withNode).toMatch(/^advertised\.listeners=.*,PODS:\/\/10\.88\.0\.1:\d+$/m);
  expect(brokerProperties(layout, await newSettings({ kubernetes: false }, before), 1)).not.toContain(",PODS://");
});

test("three brokers vote for each other and replicate threefold, one broker once", async () => {
  const three = brokerProperties(layout, await newSettings({ brokers: 3 }, before), 2);
  expect(three).toMatch(/controller\.quorum\.voters=1@\S+,2@\S+,3@\S+$/m);
  expect(three).toContain("node.id=2\n");
  expect(three).toContain("default.replication.factor=3\n");
  const one = brokerProperties(layout, await newSettings({}, before), 1);
  expect(one).toContain("transaction.state.log.min.isr=1\n");
});
