import { join } from "node:path";
import { agentUser, sandboxImage } from "@trawler/testbed";
import { adminToken, guestPaths } from "./guest/paths.ts";
import { nodeObjects, staticPod } from "./objects.ts";
import { type CgroupDriver, guestNode } from "./pins.ts";

const data = (name: string): string => join(guestPaths.data, name);

const containerdConfig = (driver: CgroupDriver): string => `version = 3

[grpc]
  address = "${guestPaths.criSocket}"

[plugins.'io.containerd.nri.v1.nri']
  disable = true

[plugins.'io.containerd.cri.v1.images'.pinned_images]
  sandbox = "${sandboxImage}"

[plugins.'io.containerd.cri.v1.runtime'.cni]
  bin_dirs = ["/usr/lib/cni"]
  conf_dir = "${data("cni")}"

[plugins.'io.containerd.cri.v1.runtime'.containerd.runtimes.runc]
  runtime_type = "io.containerd.runc.v2"
  [plugins.'io.containerd.cri.v1.runtime'.containerd.runtimes.runc.options]
    SystemdCgroup = ${driver === "systemd"}
`;

const network = {
  cniVersion: "0.4.0",
  name: "vm",
  plugins: [
    {
      type: "bridge",
      bridge: "vm0",
      isGateway: true,
      ipMasq: false,
      hairpinMode: true,
      ipam: { type: "host-local", ranges: [[{ subnet: "10.88.0.0/24" }]] },
    },
  ],
};

const kubeletConfig = (driver: CgroupDriver): object => ({
  apiVersion: "kubelet.config.k8s.io/v1beta1",
  kind: "KubeletConfiguration",
  cgroupDriver: driver,
  failSwapOn: false,
  containerRuntimeEndpoint: `unix://${guestPaths.criSocket}`,
  authentication: { anonymous: { enabled: true }, webhook: { enabled: false } },
  authorization: { mode: "AlwaysAllow" },
  address: "127.0.0.1",
  evictionHard: { "memory.available": "50Mi", "nodefs.available": "1%", "imagefs.available": "1%" },
  imageGCHighThresholdPercent: 100,
  staticPodPath: data("manifests"),
  makeIPTablesUtilChains: false,
  resolvConf: "",
});

const kubeconfig = (user: string, token: string): object => ({
  apiVersion: "v1",
  kind: "Config",
  clusters: [
    {
      name: "vm",
      cluster: { server: guestPaths.api, "certificate-authority": join(guestPaths.pki, "apiserver.crt") },
    },
  ],
  users: [{ name: user, user: { token } }],
  contexts: [{ name: "vm", context: { cluster: "vm", user } }],
  "current-context": "vm",
});

const crawlerNames = ["os", "cpu", "memory", "blockio", "network", "process", "connection"];

/** Ten times each default: an emulated machine is slow. */
const trawlerConfig = {
  cluster: { name: "vm" },
  node: { name: guestNode },
  state: { folder: data("state") },
  pipelines: {
    default: {
      timeout: "50s",
      crawlers: {
        ...Object.fromEntries(crawlerNames.map((name) => [name, {}])),
        redis: { timeout: "20s" },
        nginx: { timeout: "20s" },
      },
      environment: {
        kubernetes: { sockets: [guestPaths.criSocket], kubeconfig: data("agent.kubeconfig") },
      },
    },
  },
};

/** Files of the data disk for one driver, by name. JSON is YAML. */
export const renderGuestFiles = (driver: CgroupDriver): ReadonlyMap<string, string> => {
  const json = (value: object): string => JSON.stringify(value, undefined, 2);
  return new Map([
    ["driver", driver],
    ["containerd.toml", containerdConfig(driver)],
    ["cni/10-vm.conflist", json(network)],
    ["kubelet.yaml", json(kubeletConfig(driver))],
    ["admin.kubeconfig", json(kubeconfig("admin", adminToken))],
    ["agent.kubeconfig", json(kubeconfig(agentUser.name, agentUser.token))],
    ["tokens.csv", `${adminToken},admin,1,system:masters\n${agentUser.token},${agentUser.name},2,${agentUser.group}\n`],
    ["manifests/static.json", json(staticPod)],
    ["objects.json", json(nodeObjects())],
    ["trawler.json", json(trawlerConfig)],
  ]);
};
