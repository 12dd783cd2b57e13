import { join } from "node:path";
import { adminKubeconfig, agentKubeconfig } from "./kubectl.ts";
import type { Layout } from "./layout.ts";
import { agentUser, kafkaAccount, network, nodeName } from "./pins.ts";
import { pkiFile } from "./pki.ts";
import { brokerAddress, brokerIds, type KafkaListener } from "./render-kafka.ts";
import { apiServerUrl } from "./render-kubernetes.ts";
import { portOf, type Settings } from "./settings.ts";

/** What a user of a running testbed needs to know. All paths are absolute. */
export interface Testbed {
  readonly root: string;
  readonly logs: string;
  readonly secure: boolean;
  readonly kubernetes?: {
    readonly node: string;
    /** Reachable from the node and from pods alike. */
    readonly apiServer: string;
    readonly caFile: string;
    /** Administrator. */
    readonly kubeconfig: string;
    readonly adminToken: string;
    /** The agent's own user; it may read pods and two kinds of owner. */
    readonly agentKubeconfig: string;
    readonly agentUser: string;
    readonly agentToken: string;
    /** `unix://…`, as CRI clients take it. */
    readonly criEndpoint: string;
    readonly criSocket: string;
    readonly kubeletRoot: string;
    readonly podsApiSocket: string;
    /** The kubelet's own API, `https://…`. */
    readonly kubeletUrl: string;
    /** `http://…` with `/stats/summary`; absent in the secure profile. */
    readonly kubeletReadOnlyUrl?: string;
    /** A pod manifest put here becomes a static pod. */
    readonly staticPods: string;
    readonly podLogs: string;
    readonly auditLog: string;
    /** The node's address on the pods' bridge. */
    readonly bridgeAddress: string;
    /** containerd's client. */
    readonly ctr: string;
  };
  readonly kafka?: {
    readonly brokers: readonly string[];
    /** The same brokers by SASL (PLAIN, SCRAM-SHA-256, SCRAM-SHA-512) without TLS. */
    readonly saslBrokers: readonly string[];
    /** The same brokers by TLS; a client certificate may be shown. */
    readonly tlsBrokers: readonly string[];
    /** The same brokers by SASL, as pods reach them; absent where there is no node. */
    readonly podBrokers?: readonly string[];
    readonly username: string;
    readonly password: string;
    readonly caFile: string;
    readonly clientCertificateFile: string;
    readonly clientKeyFile: string;
  };
  readonly docker?: { readonly socket: string };
}

/** Derives the public facts from what `up` chose. */
export const describeTestbed = (layout: Layout, settings: Settings): Testbed => {
  const addresses = (listener: KafkaListener): string[] =>
    brokerIds(settings).map((id) => brokerAddress(settings, id, listener));
  return {
    root: layout.root,
    logs: layout.logs,
    secure: settings.secure,
    ...(settings.kubernetes && {
      kubernetes: {
        node: nodeName,
        apiServer: apiServerUrl(settings),
        caFile: pkiFile(layout, "ca.crt"),
        kubeconfig: adminKubeconfig(layout),
        adminToken: settings.tokens.admin,
        agentKubeconfig: agentKubeconfig(layout),
        agentUser: agentUser.name,
        agentToken: agentUser.token,
        criEndpoint: `unix://${layout.containerdSocket}`,
        criSocket: layout.containerdSocket,
        kubeletRoot: layout.kubeletRoot,
        podsApiSocket: join(layout.kubeletRoot, "pods-api", "pods-api.sock"),
        kubeletUrl: `https://${network.address}:${portOf(settings, "kubelet")}`,
        ...(!settings.secure && {
          kubeletReadOnlyUrl: `http://${network.address}:${portOf(settings, "kubeletReadOnly")}`,
        }),
        staticPods: layout.staticPods,
        podLogs: layout.podLogs,
        auditLog: layout.auditLog,
        bridgeAddress: network.address,
        ctr: join(layout.bin, "ctr"),
      },
    }),
    ...(settings.brokers > 0 && {
      kafka: {
        brokers: addresses("plain"),
        saslBrokers: addresses("sasl"),
        tlsBrokers: addresses("tls"),
        ...(settings.kubernetes && { podBrokers: addresses("pods") }),
        ...kafkaAccount,
        caFile: pkiFile(layout, "ca.crt"),
        clientCertificateFile: pkiFile(layout, "client.crt"),
        clientKeyFile: pkiFile(layout, "client.key"),
      },
    }),
    ...(settings.docker && { docker: { socket: layout.dockerSocket } }),
  };
};

/** Variables that other commands and tests read; `NODE_NAME` is what an agent of a pod would get. */
export const testbedEnvironment = ({ root, kubernetes, kafka, docker }: Testbed): Record<string, string> => ({
  TRAWLER_TESTBED: root,
  ...(kubernetes !== undefined && {
    KUBECONFIG: kubernetes.kubeconfig,
    TRAWLER_AGENT_KUBECONFIG: kubernetes.agentKubeconfig,
    CONTAINER_RUNTIME_ENDPOINT: kubernetes.criEndpoint,
    TRAWLER_KUBELET_ROOT: kubernetes.kubeletRoot,
    TRAWLER_PODS_API_SOCKET: kubernetes.podsApiSocket,
    TRAWLER_AUDIT_LOG: kubernetes.auditLog,
    TRAWLER_STATIC_PODS: kubernetes.staticPods,
    NODE_NAME: kubernetes.node,
  }),
  ...(kafka !== undefined && {
    KAFKA_BROKERS: kafka.brokers.join(","),
    KAFKA_SASL_BROKERS: kafka.saslBrokers.join(","),
    KAFKA_TLS_BROKERS: kafka.tlsBrokers.join(","),
    ...(kafka.podBrokers !== undefined && { KAFKA_POD_BROKERS: kafka.podBrokers.join(",") }),
    KAFKA_CA: kafka.caFile,
  }),
  ...(docker !== undefined && { TRAWLER_DOCKER_SOCKET: docker.socket, DOCKER_HOST: `unix://${docker.socket}` }),
});

/** Lines for `eval` in a POSIX shell. */
export const shellExports = (variables: Readonly<Record<string, string>>): string =>
  Object.entries(variables)
    .map(([name, value]) => `export ${name}='${value.replaceAll("'", "'\\''")}'\n`)
    .join("");
