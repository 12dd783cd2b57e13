import { join } from "node:path";
import type { Layout } from "./layout.ts";
import { network, sandboxImage } from "./pins.ts";

/** containerd's configuration, version 3. Everything it leaves on the machine lies below the testbed's root. */
export const containerdConfig = (layout: Layout): string => `version = 3
root = "${join(layout.containerd, "root")}"
state = "${join(layout.containerd, "state")}"

[grpc]
  address = "${layout.containerdSocket}"

[plugins.'io.containerd.nri.v1.nri']
  disable = true

[plugins.'io.containerd.internal.v1.opt']
  path = "${join(layout.containerd, "opt")}"

[plugins.'io.containerd.cri.v1.images'.pinned_images]
  sandbox = "${sandboxImage}"

[plugins.'io.containerd.cri.v1.runtime']
  # Without it every sandbox fails where lowering oom_score_adj is not allowed.
  restrict_oom_score_adj = true
  netns_mounts_under_state_dir = true
  [plugins.'io.containerd.cri.v1.runtime'.cni]
    bin_dirs = ["/usr/lib/cni"]
    conf_dir = "${layout.cni}"
  [plugins.'io.containerd.cri.v1.runtime'.containerd.runtimes.runc]
    runtime_type = "io.containerd.runc.v2"
    [plugins.'io.containerd.cri.v1.runtime'.containerd.runtimes.runc.options]
      SystemdCgroup = false
`;

/** The pods' network: a bridge and fixed addresses, no way out of the machine. */
export const cniConfig = (layout: Layout): string =>
  `${JSON.stringify(
    {
      cniVersion: "0.4.0",
      name: network.name,
      plugins: [
        {
          type: "bridge",
          bridge: network.bridge,
          isGateway: true,
          ipMasq: false,
          hairpinMode: true,
          ipam: { type: "host-local", ranges: [[{ subnet: network.subnet }]], dataDir: join(layout.cni, "addresses") },
        },
        { type: "portmap", capabilities: { portMappings: true } },
      ],
    },
    undefined,
    2,
  )}\n`;
