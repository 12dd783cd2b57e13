import { record, text } from "./value.ts";

/** A network that has a Linux bridge. */
export interface Bridge {
  readonly name: string;
  /** Containers join it where nobody says otherwise; `docker0`, unless the engine was given another. */
  readonly default: boolean;
}

const MAX_NETWORKS = 256;

/** Ids of the networks in the answer of `GET /containers/{id}/json`. */
export function readNetworkIds(inspect: unknown): readonly string[] {
  const networks = record(record(record(inspect)["NetworkSettings"])["Networks"]);
  return Object.values(networks)
    .flatMap((one) => text(record(one)["NetworkID"]) ?? [])
    .slice(0, MAX_NETWORKS);
}

/** The bridge in the answer of `GET /networks/{id}`; null for a network of another driver. */
export function readBridge(answer: unknown): Bridge | null {
  const { Id, Driver, Options } = record(answer);
  const options = record(Options);
  const id = text(Id);
  if (Driver !== "bridge") return null;
  const name = text(options["com.docker.network.bridge.name"]) ?? `br-${id?.slice(0, 12) ?? ""}`;
  return { name, default: options["com.docker.network.bridge.default_bridge"] === "true" || name === "docker0" };
}
