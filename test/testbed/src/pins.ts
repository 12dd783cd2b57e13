/** Everything the testbed is made of, pinned. A changed pin changes the cache key of what is built from it. */

/** Debian packages that are installed where missing. None of them may start a service. */
export const debianPackages = [
  "runc",
  "containernetworking-plugins",
  "iptables",
  "iproute2",
  "procps",
  "conntrack",
  "ethtool",
  "socat",
  "etcd-server",
  "etcd-client",
  "debootstrap",
  "busybox-static",
  "kcat",
  "gcc",
  "libc6-dev",
  "openssl",
];

/** Only for `up --docker`: Docker Engine and, as its dependency, a containerd of its own version. */
export const dockerPackages = ["docker.io"];

/** Installed only where the command is missing. */
export const packageOfCommand: Readonly<Record<string, string>> = {
  java: "openjdk-17-jre-headless",
  mvn: "maven",
};

export const kubernetes = { version: "v1.37.2", major: "1", minor: "37" };

export const containerdCommands = ["containerd", "containerd-shim-runc-v2", "ctr"];

/** The four names of the one Kubernetes program. */
export const kubernetesCommands = ["kube-apiserver", "kube-controller-manager", "kube-scheduler", "kubelet"];

/** Debian release and packages of the image that runs Redis and nginx. */
export const debianImage = { release: "bookworm", packages: ["redis-server", "nginx-light"] };

/** Debian packages of the image whose servers the application crawlers ask. */
export const applicationPackages = [
  "apache2",
  "mariadb-server",
  "memcached",
  "openjdk-17-jre-headless",
  "postgresql",
  "tomcat10",
  "tomcat10-admin",
];
export const applicationsImage = "registry.example.test/applications:12";

/** The sandbox of every pod; it must never show up as a member of one. */
export const sandboxImage = "registry.example.test/infra/sandbox:7";

/** A user's image whose name looks like a sandbox and is none. */
export const pauseMenuImage = "shop/pause-menu:1";

export const redisImage = "registry.example.test/redis:7.0";
export const nginxImage = "registry.example.test/nginx:1.22";
export const busyboxImage = "registry.example.test/busybox:1.35";

/** The testbed's own bridge. Its address is the API server's too, so that pods reach it without a Service. */
export const network = {
  name: "trawler-testbed",
  bridge: "tb0",
  address: "10.88.0.1",
  subnet: "10.88.0.0/24",
  services: "10.89.0.0/24",
  dockerBridge: "tb1",
  dockerAddress: "10.90.0.1/24",
};

export const nodeName = "node-a";

/** Kafka's test account, valid with PLAIN, SCRAM-SHA-256 and SCRAM-SHA-512 on the SASL listener. */
export const kafkaAccount = { username: "trawler", password: "trawler-secret" };

/** The agent's user in the API server: get, list and watch pods, get ReplicaSets and Jobs. */
export const agentUser = { name: "trawler-agent", token: "agenttoken", group: "trawler" };
