/** Where things are in the guest. Host and guest programs agree on it here. */
export const guestPaths = {
  /** Unpacked from the data disk; may be written to. */
  data: "/vm",
  /** What becomes the tar on the output disk. */
  output: "/vm/output",
  kubernetes: "/opt/kubernetes",
  containerd: "/opt/containerd",
  pki: "/etc/trawler-vm",
  criSocket: "/run/containerd/containerd.sock",
  api: "https://127.0.0.1:6443",
  dataDisk: "/dev/vdc",
  outputDisk: "/dev/vdb",
};

export const adminToken = "admintoken";
