import { join } from "node:path";
import { stringify } from "yaml";
import type { Layout } from "./layout.ts";
import { agentUser, network, nodeName } from "./pins.ts";
import { pkiFile } from "./pki.ts";
import { portOf, type Settings } from "./settings.ts";

export const apiServerUrl = (settings: Settings): string =>
  `https://${network.address}:${portOf(settings, "apiserver")}`;

/** Users of the API server: each part has its own, so that the audit log tells them apart. */
export const tokensFile = ({ tokens }: Settings): string =>
  [
    `${tokens.admin},admin,1,system:masters`,
    `${agentUser.token},${agentUser.name},2,${agentUser.group}`,
    `${tokens.controllers},system:kube-controller-manager,3`,
    `${tokens.scheduler},system:kube-scheduler,4`,
    `${tokens.kubelet},system:node:${nodeName},5,system:nodes`,
    "",
  ].join("\n");

export const kubeconfig = (layout: Layout, settings: Settings, user: string, token: string): string =>
  stringify({
    apiVersion: "v1",
    kind: "Config",
    clusters: [
      {
        name: "testbed",
        cluster: { server: apiServerUrl(settings), "certificate-authority": pkiFile(layout, "ca.crt") },
      },
    ],
    users: [{ name: user, user: { token } }],
    contexts: [{ name: "testbed", context: { cluster: "testbed", user } }],
    "current-context": "testbed",
  });

/** One line per request when it is answered; a watch has one more when it starts. */
export const auditPolicy = (): string =>
  stringify({
    apiVersion: "audit.k8s.io/v1",
    kind: "Policy",
    omitStages: ["RequestReceived"],
    rules: [{ level: "Metadata" }],
  });

/** What the agent may do, as design section 8 says: nothing but pods and two kinds of owner. */
export const agentRole = (): string =>
  [
    {
      apiVersion: "rbac.authorization.k8s.io/v1",
      kind: "ClusterRole",
      metadata: { name: agentUser.name },
      rules: [
        { apiGroups: [""], resources: ["pods"], verbs: ["get", "list", "watch"] },
        { apiGroups: ["apps"], resources: ["replicasets"], verbs: ["get"] },
        { apiGroups: ["batch"], resources: ["jobs"], verbs: ["get"] },
      ],
    },
    {
      apiVersion: "rbac.authorization.k8s.io/v1",
      kind: "ClusterRoleBinding",
      metadata: { name: agentUser.name },
      roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: agentUser.name },
      subjects: [{ apiGroup: "rbac.authorization.k8s.io", kind: "User", name: agentUser.name }],
    },
  ]
    .map((object) => stringify(object))
    .join("---\n");

export const kubeletConfig = (layout: Layout, settings: Settings): string =>
  stringify({
    apiVersion: "kubelet.config.k8s.io/v1beta1",
    kind: "KubeletConfiguration",
    cgroupDriver: "cgroupfs",
    failSwapOn: false,
    failCgroupV1: false,
    cgroupsPerQOS: true,
    enforceNodeAllocatable: [],
    containerRuntimeEndpoint: `unix://${layout.containerdSocket}`,
    authentication: {
      anonymous: { enabled: !settings.secure },
      webhook: { enabled: settings.secure },
      x509: { clientCAFile: pkiFile(layout, "ca.crt") },
    },
    authorization: { mode: settings.secure ? "Webhook" : "AlwaysAllow" },
    tlsCertFile: pkiFile(layout, "server.crt"),
    tlsPrivateKeyFile: pkiFile(layout, "server.key"),
    address: network.address,
    port: portOf(settings, "kubelet"),
    readOnlyPort: settings.secure ? 0 : portOf(settings, "kubeletReadOnly"),
    healthzPort: 0,
    maxPods: 250,
    evictionHard: { "memory.available": "100Mi", "nodefs.available": "1%", "imagefs.available": "1%" },
    // 100 turns collection off: the images come from a file and cannot be pulled again.
    imageGCHighThresholdPercent: 100,
    staticPodPath: layout.staticPods,
    podLogsDir: layout.podLogs,
    volumePluginDir: join(layout.kubeletRoot, "volume-plugins"),
    makeIPTablesUtilChains: false,
    resolvConf: "",
  });
