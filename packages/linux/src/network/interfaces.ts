import type { InterfaceFigures } from "@trawler/plugin-api";
import { parseCount } from "../proc/number.ts";

/** Parses `/proc/PID/net/dev`: every interface but `lo`, in the kernel's order. A line that is no such line is left out. */
export function parseInterfaces(text: string): readonly InterfaceFigures[] {
  const interfaces: InterfaceFigures[] = [];
  for (const line of text.split("\n")) {
    // The name may hold a colon itself (alias `eth0:1`): the last one ends it.
    const colon = line.lastIndexOf(":");
    const name = line.slice(0, colon).trim();
    if (colon < 0 || name === "" || name === "lo") continue;
    const counts = line
      .slice(colon + 1)
      .trim()
      .split(/\s+/)
      .map(parseCount);
    const [receivedBytes, receivedPackets, receiveErrors, receiveDropped] = counts;
    const [transmittedBytes, transmittedPackets, transmitErrors, transmitDropped] = counts.slice(8);
    if (receivedBytes == null || receivedPackets == null || receiveErrors == null || receiveDropped == null) continue;
    if (transmittedBytes == null || transmittedPackets == null) continue;
    if (transmitErrors == null || transmitDropped == null) continue;
    interfaces.push({
      name,
      receivedBytes,
      receivedPackets,
      receiveErrors,
      receiveDropped,
      transmittedBytes,
      transmittedPackets,
      transmitErrors,
      transmitDropped,
    });
  }
  return interfaces;
}
