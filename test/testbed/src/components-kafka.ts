import { existsSync, mkdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { assetPath } from "./assets.ts";
import type { Component } from "./component.ts";
import { writeAtomic } from "./files.ts";
import type { Layout } from "./layout.ts";
import { kafkaAccount } from "./pins.ts";
import { pkiFile } from "./pki.ts";
import { brokerAddress, brokerFolder, brokerIds, brokerProperties } from "./render-kafka.ts";
import { run } from "./run.ts";
import type { Settings } from "./settings.ts";

const classPath = (layout: Layout): string => join(layout.bin, "kafka", "*");

/** Formats the broker's folder once; a quorum of another size starts empty. */
const format = async (layout: Layout, settings: Settings, id: number): Promise<void> => {
  const folder = brokerFolder(layout, id);
  const quorum = join(folder, `quorum-of-${settings.brokers}`);
  if (existsSync(quorum)) return;
  const config = join(folder, "server.properties");
  rmSync(join(folder, "data"), { recursive: true, force: true });
  for (let size = 1; size <= 9; size++) rmSync(join(folder, `quorum-of-${size}`), { force: true });
  mkdirSync(join(folder, "data"), { recursive: true });
  const certificate = ["server.key", "server.crt", "ca.crt"].map((name) => readFileSync(pkiFile(layout, name), "utf8"));
  writeAtomic(join(layout.kafka, "keystore.pem"), certificate.join(""), 0o600);
  const { username, password } = kafkaAccount;
  const accounts = ["SCRAM-SHA-256", "SCRAM-SHA-512"].flatMap((mechanism) => [
    "--add-scram",
    `${mechanism}=[name=${username},password=${password}]`,
  ]);
  const tool = ["-cp", classPath(layout), "kafka.tools.StorageTool", "format"];
  await run("java", [...tool, "-t", settings.kafkaCluster, "-c", config, ...accounts], { deadline: 120_000 });
  writeAtomic(quorum, "");
};

/** Whether the broker sees all brokers of the cluster, as an independent client tells. */
const seesAll = async (settings: Settings, id: number): Promise<boolean> => {
  const args = ["-b", brokerAddress(settings, id, "plain"), "-L", "-J", "-m", "5"];
  const { code, stdout } = await run("kcat", args, { tolerate: true, deadline: 20_000 });
  if (code !== 0) return false;
  const answer: unknown = JSON.parse(stdout);
  return (
    typeof answer === "object" &&
    answer !== null &&
    "brokers" in answer &&
    Array.isArray(answer.brokers) &&
    answer.brokers.length > settings.brokers / 2
  );
};

const broker = (layout: Layout, settings: Settings, id: number): Component => {
  const config = join(brokerFolder(layout, id), "server.properties");
  return {
    name: `kafka-${id}`,
    command: "java",
    args: [
      "-Xmx512m",
      "-XX:+UseSerialGC",
      "-XX:TieredStopAtLevel=1",
      `-Dlog4j2.configurationFile=${assetPath("kafka/log4j2.properties")}`,
      "-cp",
      classPath(layout),
      "kafka.Kafka",
      config,
    ],
    files: new Map([[config, brokerProperties(layout, settings, id)]]),
    prepare: () => format(layout, settings, id),
    ready: () => seesAll(settings, id),
    deadline: 120_000,
  };
};

export const kafkaComponents = (layout: Layout, settings: Settings): Component[] =>
  brokerIds(settings).map((id) => broker(layout, settings, id));
