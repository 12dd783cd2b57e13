import { homedir } from "node:os";
import { join } from "node:path";

/** Where the testbed keeps things. The root is short: a unix socket's path has at most 107 bytes. */
export interface Layout {
  /** Everything that `down` removes. */
  readonly root: string;
  /** What is built from the pins; survives `down`. */
  readonly cache: string;
  readonly stateFile: string;
  readonly lockFile: string;
  readonly pids: string;
  readonly logs: string;
  readonly bin: string;
  readonly pki: string;
  readonly kubernetes: string;
  readonly staticPods: string;
  readonly kubeletRoot: string;
  readonly podLogs: string;
  readonly auditLog: string;
  readonly containerd: string;
  readonly containerdSocket: string;
  readonly cni: string;
  readonly etcd: string;
  readonly kafka: string;
  readonly docker: string;
  readonly dockerSocket: string;
}

/** `TRAWLER_TESTBED` moves the root, `TRAWLER_CACHE` the cache. */
export const layoutFrom = (env: Readonly<Record<string, string | undefined>>): Layout => {
  const root = env["TRAWLER_TESTBED"] ?? "/var/lib/trawler-testbed";
  const at = (...parts: string[]): string => join(root, ...parts);
  return {
    root,
    cache: env["TRAWLER_CACHE"] ?? join(env["XDG_CACHE_HOME"] ?? join(homedir(), ".cache"), "trawler"),
    stateFile: at("state.json"),
    lockFile: `${root}.lock`,
    pids: at("pids"),
    logs: at("logs"),
    bin: at("bin"),
    pki: at("pki"),
    kubernetes: at("kubernetes"),
    staticPods: at("kubernetes", "static-pods"),
    kubeletRoot: at("kubelet"),
    podLogs: at("pod-logs"),
    auditLog: at("audit", "audit.log"),
    containerd: at("containerd"),
    containerdSocket: at("containerd", "containerd.sock"),
    cni: at("cni"),
    etcd: at("etcd"),
    kafka: at("kafka"),
    docker: at("docker"),
    dockerSocket: at("docker", "docker.sock"),
  };
};
