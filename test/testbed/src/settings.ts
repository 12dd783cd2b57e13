import { randomBytes } from "node:crypto";
import { readFileSync } from "node:fs";
import { errorCode, TestbedError } from "./errors.ts";
import { writeAtomic } from "./files.ts";
import type { Layout } from "./layout.ts";
import { freePort } from "./ports.ts";

/** What `up` was asked for, and what it chose and must remember. Everything else is derived from it. */
export interface Settings {
  readonly version: 1;
  /** ServiceAccount admission, and a kubelet that authenticates and authorizes by the API server. */
  readonly secure: boolean;
  readonly kubernetes: boolean;
  /** Number of Kafka brokers; 0 for none. */
  readonly brokers: number;
  readonly docker: boolean;
  readonly kafkaCluster: string;
  readonly tokens: {
    readonly admin: string;
    readonly controllers: string;
    readonly scheduler: string;
    readonly kubelet: string;
  };
  readonly ports: Readonly<Record<string, number>>;
  /** How the machine was before, for `down`. */
  readonly before: {
    readonly sysctls: Readonly<Record<string, string>>;
    readonly paths: readonly string[];
    readonly chains: readonly string[];
  };
}

export interface UpChoice {
  readonly secure?: boolean;
  readonly kubernetes?: boolean;
  readonly brokers?: number;
  readonly docker?: boolean;
}

export const kubernetesPorts = ["etcd", "etcdPeer", "apiserver", "kubelet", "kubeletReadOnly"];

/** Names of the ports that one broker listens on. */
export const brokerPorts = (id: number): string[] =>
  ["plain", "sasl", "tls", "pods", "controller"].map((listener) => `kafka-${id}-${listener}`);

export const portNames = (brokers: number): string[] => [
  ...kubernetesPorts,
  ...Array.from({ length: brokers }, (_, index) => brokerPorts(index + 1)).flat(),
];

/** Adds a free port for each name that has none yet. */
export const withPorts = async (
  ports: Readonly<Record<string, number>>,
  names: readonly string[],
): Promise<Record<string, number>> => {
  const all: Record<string, number> = { ...ports };
  for (const name of names) {
    let port = all[name];
    while (port === undefined) {
      const candidate = await freePort();
      if (!Object.values(all).includes(candidate)) port = candidate;
    }
    all[name] = port;
  }
  return all;
};

export const portOf = (settings: Settings, name: string): number => {
  const port = settings.ports[name];
  if (port === undefined) throw new TestbedError(`No port is known for ${name}`);
  return port;
};

const token = (): string => randomBytes(16).toString("hex");

export const newSettings = async (choice: UpChoice, before: Settings["before"]): Promise<Settings> => {
  const brokers = choice.brokers ?? 1;
  return {
    version: 1,
    secure: choice.secure ?? false,
    kubernetes: choice.kubernetes ?? true,
    brokers,
    docker: choice.docker ?? false,
    // Kafka's own ids never begin with "-": its tool would take that for an option. "AA" is one fixed start that does not.
    kafkaCluster: `AA${randomBytes(15).toString("base64url")}`,
    tokens: { admin: token(), controllers: token(), scheduler: token(), kubelet: token() },
    ports: await withPorts({}, portNames(brokers)),
    before,
  };
};

/** A choice that is not named stays as it is; parts that run are never taken away by leaving them out. */
export const changedSettings = async (settings: Settings, choice: UpChoice): Promise<Settings> => {
  const brokers = choice.brokers ?? settings.brokers;
  return {
    ...settings,
    secure: choice.secure ?? settings.secure,
    kubernetes: choice.kubernetes ?? settings.kubernetes,
    docker: choice.docker ?? settings.docker,
    brokers,
    ports: await withPorts(settings.ports, portNames(brokers)),
  };
};

const isRecord = (value: unknown): value is Record<string, unknown> => typeof value === "object" && value !== null;

const isSettings = (value: unknown): value is Settings =>
  isRecord(value) &&
  value["version"] === 1 &&
  typeof value["secure"] === "boolean" &&
  typeof value["kubernetes"] === "boolean" &&
  typeof value["docker"] === "boolean" &&
  Number.isInteger(value["brokers"]) &&
  typeof value["kafkaCluster"] === "string" &&
  isRecord(value["tokens"]) &&
  isRecord(value["ports"]) &&
  isRecord(value["before"]);

export const parseSettings = (text: string): Settings => {
  const value: unknown = JSON.parse(text);
  if (!isSettings(value))
    throw new TestbedError("The state file is not of this version: run `npm run testbed -- down`");
  return value;
};

/** `undefined` where no testbed is up. */
export const readSettings = (layout: Layout): Settings | undefined => {
  try {
    return parseSettings(readFileSync(layout.stateFile, "utf8"));
  } catch (error) {
    if (errorCode(error) === "ENOENT") return undefined;
    throw error;
  }
};

export const writeSettings = (layout: Layout, settings: Settings): void => {
  writeAtomic(layout.stateFile, `${JSON.stringify(settings, undefined, 2)}\n`, 0o600);
};
