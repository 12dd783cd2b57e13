import { mkdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Component } from "./component.ts";
import { accepts, httpsStatus } from "./http.ts";
import { adminKubeconfig, agentKubeconfig, kubectlWith } from "./kubectl.ts";
import type { Layout } from "./layout.ts";
import { agentUser, network, nodeName } from "./pins.ts";
import { pkiFile } from "./pki.ts";
import { cniConfig, containerdConfig } from "./render-containerd.ts";
import { agentRole, apiServerUrl, auditPolicy, kubeconfig, kubeletConfig, tokensFile } from "./render-kubernetes.ts";
import { portOf, type Settings } from "./settings.ts";

const etcd = (layout: Layout, settings: Settings): Component => {
  const client = `http://127.0.0.1:${portOf(settings, "etcd")}`;
  const peer = `http://127.0.0.1:${portOf(settings, "etcdPeer")}`;
  return {
    name: "etcd",
    command: "etcd",
    args: [
      `--data-dir=${layout.etcd}`,
      `--listen-client-urls=${client}`,
      `--advertise-client-urls=${client}`,
      `--listen-peer-urls=${peer}`,
      `--initial-advertise-peer-urls=${peer}`,
      `--initial-cluster=default=${peer}`,
      "--unsafe-no-fsync",
    ],
    ready: () => accepts({ host: "127.0.0.1", port: portOf(settings, "etcd") }),
    deadline: 60_000,
  };
};

const containerd = (layout: Layout): Component => {
  const config = join(layout.containerd, "config.toml");
  return {
    name: "containerd",
    command: join(layout.bin, "containerd"),
    args: ["--config", config],
    files: new Map([
      [config, containerdConfig(layout)],
      [join(layout.cni, "10-testbed.conflist"), cniConfig(layout)],
    ]),
    ready: () => accepts({ path: layout.containerdSocket }),
    deadline: 60_000,
  };
};

const apiServer = (layout: Layout, settings: Settings): Component => {
  const at = (name: string): string => join(layout.kubernetes, name);
  const pki = (name: string): string => pkiFile(layout, name);
  return {
    name: "apiserver",
    command: join(layout.bin, "kube-apiserver"),
    args: [
      `--etcd-servers=http://127.0.0.1:${portOf(settings, "etcd")}`,
      `--bind-address=${network.address}`,
      `--advertise-address=${network.address}`,
      `--secure-port=${portOf(settings, "apiserver")}`,
      `--tls-cert-file=${pki("server.crt")}`,
      `--tls-private-key-file=${pki("server.key")}`,
      `--client-ca-file=${pki("ca.crt")}`,
      `--kubelet-client-certificate=${pki("kubelet-client.crt")}`,
      `--kubelet-client-key=${pki("kubelet-client.key")}`,
      "--kubelet-preferred-address-types=InternalIP",
      `--kubelet-certificate-authority=${pki("ca.crt")}`,
      "--service-account-issuer=https://kubernetes.default.svc",
      `--service-account-signing-key-file=${pki("sa.key")}`,
      `--service-account-key-file=${pki("sa.pub")}`,
      `--token-auth-file=${at("tokens.csv")}`,
      "--authorization-mode=Node,RBAC",
      `--service-cluster-ip-range=${network.services}`,
      "--allow-privileged=true",
      "--endpoint-reconciler-type=none",
      `--audit-policy-file=${at("audit-policy.yaml")}`,
      `--audit-log-path=${layout.auditLog}`,
      "--audit-log-mode=blocking",
      ...(settings.secure
        ? ["--enable-admission-plugins=NodeRestriction"]
        : ["--disable-admission-plugins=ServiceAccount"]),
    ],
    files: new Map([
      [at("tokens.csv"), tokensFile(settings)],
      [at("audit-policy.yaml"), auditPolicy()],
      [adminKubeconfig(layout), kubeconfig(layout, settings, "admin", settings.tokens.admin)],
      [agentKubeconfig(layout), kubeconfig(layout, settings, agentUser.name, agentUser.token)],
      [at("agent-role.yaml"), agentRole()],
    ]),
    prepare: async () => {
      mkdirSync(dirname(layout.auditLog), { recursive: true });
    },
    ready: async () => {
      const ca = readFileSync(pki("ca.crt"), "utf8");
      return (await httpsStatus(`${apiServerUrl(settings)}/readyz`, { token: settings.tokens.admin, ca })) === 200;
    },
    deadline: 120_000,
  };
};

const withKubeconfig = (layout: Layout, settings: Settings, user: string, token: string) => {
  const path = join(layout.kubernetes, `${user}.kubeconfig`);
  return { path, files: new Map([[path, kubeconfig(layout, settings, user, token)]]) };
};

const controllerManager = (layout: Layout, settings: Settings): Component => {
  const { path, files } = withKubeconfig(layout, settings, "controller-manager", settings.tokens.controllers);
  return {
    name: "controller-manager",
    command: join(layout.bin, "kube-controller-manager"),
    args: [
      `--kubeconfig=${path}`,
      "--use-service-account-credentials=true",
      `--service-account-private-key-file=${pkiFile(layout, "sa.key")}`,
      `--root-ca-file=${pkiFile(layout, "ca.crt")}`,
      "--leader-elect=false",
      "--secure-port=0",
      "--kube-api-qps=200",
      "--kube-api-burst=400",
    ],
    files,
    ready: async () => true,
    deadline: 30_000,
  };
};

const scheduler = (layout: Layout, settings: Settings): Component => {
  const { path, files } = withKubeconfig(layout, settings, "scheduler", settings.tokens.scheduler);
  return {
    name: "scheduler",
    command: join(layout.bin, "kube-scheduler"),
    args: [
      `--kubeconfig=${path}`,
      `--authentication-kubeconfig=${path}`,
      `--authorization-kubeconfig=${path}`,
      "--leader-elect=false",
      "--secure-port=0",
    ],
    files,
    ready: async () => true,
    deadline: 30_000,
  };
};

const kubelet = (layout: Layout, settings: Settings): Component => {
  const config = join(layout.kubernetes, "kubelet.yaml");
  const { path, files } = withKubeconfig(layout, settings, "kubelet", settings.tokens.kubelet);
  const template = "{.status.conditions[?(@.type=='Ready')].status}";
  return {
    name: "kubelet",
    command: join(layout.bin, "kubelet"),
    args: [
      `--config=${config}`,
      `--kubeconfig=${path}`,
      `--hostname-override=${nodeName}`,
      `--root-dir=${layout.kubeletRoot}`,
      `--cert-dir=${join(layout.kubeletRoot, "pki")}`,
      // A loopback address would be refused, and the node would have none.
      `--node-ip=${network.address}`,
    ],
    files: new Map([...files, [config, kubeletConfig(layout, settings)]]),
    prepare: async () => {
      mkdirSync(layout.staticPods, { recursive: true });
    },
    ready: async () => {
      const listening = await accepts({ host: network.address, port: portOf(settings, "kubelet") });
      if (!listening) return false;
      const args = ["get", "node", nodeName, "-o", `jsonpath=${template}`];
      const { stdout, stderr } = await kubectlWith(adminKubeconfig(layout), args, { tolerate: true });
      // Where the API server has been stopped, a kubelet that listens is all that can be asked for.
      return stdout === "True" || /connection refused|was refused/.test(stderr);
    },
    deadline: 120_000,
  };
};

/** The node's parts in the order in which they start. */
export const kubernetesComponents = (layout: Layout, settings: Settings): Component[] =>
  settings.kubernetes
    ? [
        etcd(layout, settings),
        containerd(layout),
        apiServer(layout, settings),
        controllerManager(layout, settings),
        scheduler(layout, settings),
        kubelet(layout, settings),
      ]
    : [];
