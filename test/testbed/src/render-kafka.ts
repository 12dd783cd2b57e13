import { join } from "node:path";
import type { Layout } from "./layout.ts";
import { kafkaAccount, network } from "./pins.ts";
import { pkiFile } from "./pki.ts";
import { portOf, type Settings } from "./settings.ts";

/** `pods` is SASL again, on the bridge: loopback is another one in a pod. Absent where there is no node. */
export type KafkaListener = "plain" | "sasl" | "tls" | "pods";

export const brokerIds = ({ brokers }: Settings): number[] => Array.from({ length: brokers }, (_, index) => index + 1);

export const brokerAddress = (settings: Settings, id: number, listener: KafkaListener | "controller"): string =>
  `${listener === "pods" ? network.address : "127.0.0.1"}:${portOf(settings, `kafka-${id}-${listener}`)}`;

export const brokerFolder = (layout: Layout, id: number): string => join(layout.kafka, String(id));

/** A broker that is a controller as well. Its TLS listener asks for a client certificate and takes none, too. */
export const brokerProperties = (layout: Layout, settings: Settings, id: number): string => {
  const voters = brokerIds(settings).map((voter) => `${voter}@${brokerAddress(settings, voter, "controller")}`);
  const replicas = Math.min(3, settings.brokers);
  const listeners: KafkaListener[] = ["plain", "sasl", "tls", ...(settings.kubernetes ? (["pods"] as const) : [])];
  const open = listeners
    .map((listener) => `${listener.toUpperCase()}://${brokerAddress(settings, id, listener)}`)
    .join(",");
  const security = "org.apache.kafka.common.security";
  const account = `user_${kafkaAccount.username}="${kafkaAccount.password}"`;
  return [
    "process.roles=broker,controller",
    `node.id=${id}`,
    `controller.quorum.voters=${voters.join(",")}`,
    `listeners=${open},CONTROLLER://${brokerAddress(settings, id, "controller")}`,
    `advertised.listeners=${open}`,
    "controller.listener.names=CONTROLLER",
    "inter.broker.listener.name=PLAIN",
    "listener.security.protocol.map=PLAIN:PLAINTEXT,CONTROLLER:PLAINTEXT,SASL:SASL_PLAINTEXT,TLS:SSL,PODS:SASL_PLAINTEXT",
    ...["sasl", "pods"].flatMap((name) => [
      `listener.name.${name}.sasl.enabled.mechanisms=PLAIN,SCRAM-SHA-256,SCRAM-SHA-512`,
      `listener.name.${name}.plain.sasl.jaas.config=${security}.plain.PlainLoginModule required ${account};`,
      `listener.name.${name}.scram-sha-256.sasl.jaas.config=${security}.scram.ScramLoginModule required;`,
      `listener.name.${name}.scram-sha-512.sasl.jaas.config=${security}.scram.ScramLoginModule required;`,
    ]),
    "listener.name.tls.ssl.keystore.type=PEM",
    `listener.name.tls.ssl.keystore.location=${join(layout.kafka, "keystore.pem")}`,
    "listener.name.tls.ssl.truststore.type=PEM",
    `listener.name.tls.ssl.truststore.location=${pkiFile(layout, "ca.crt")}`,
    "listener.name.tls.ssl.client.auth=requested",
    `log.dirs=${join(brokerFolder(layout, id), "data")}`,
    `offsets.topic.replication.factor=${replicas}`,
    `transaction.state.log.replication.factor=${replicas}`,
    `transaction.state.log.min.isr=${Math.min(2, replicas)}`,
    `default.replication.factor=${replicas}`,
    "group.initial.rebalance.delay.ms=0",
    "auto.create.topics.enable=false",
    "num.partitions=3",
    "",
  ].join("\n");
};
