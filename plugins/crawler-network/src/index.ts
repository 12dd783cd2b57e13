import { defineCrawler } from "@trawler/plugin-api";
import * as z from "zod";

/** Interfaces of one namespace; a container may make as many as it likes in its own. */
const MAX_INTERFACES = 128;

const counter = (unit: string, description: string) => z.number().nonnegative().meta({ "x-unit": unit, description });

/**
 * Counters of the interfaces of the subject's network namespace (a pod's containers share it), loopback left out. Where
 * the namespace is the node's (hostNetwork), TRAWLER_UNSUPPORTED passes through: the node's traffic is no pod's.
 */
export default defineCrawler({
  name: "network",
  description: "Reads bytes, packets, errors and drops of each network interface.",
  config: z.strictObject({}),
  scope: "subject",
  needs: ["net"],
  features: {
    network: z.strictObject({
      "network.io.receive": counter("By", "Bytes received."),
      "network.io.transmit": counter("By", "Bytes transmitted."),
      "network.packets.receive": counter("{packet}", "Packets received."),
      "network.packets.transmit": counter("{packet}", "Packets transmitted."),
      "network.errors.receive": counter("{error}", "Receive errors."),
      "network.errors.transmit": counter("{error}", "Transmit errors."),
      "network.dropped.receive": counter("{packet}", "Packets dropped on receive."),
      "network.dropped.transmit": counter("{packet}", "Packets dropped on transmit."),
    }),
  },
  create: () => ({
    async *crawl({ net }, { signal, problem }) {
      const interfaces = await net.interfaces({ signal });
      for (const figures of interfaces.slice(0, MAX_INTERFACES)) {
        yield {
          type: "network",
          key: figures.name,
          value: {
            "network.io.receive": figures.receivedBytes,
            "network.io.transmit": figures.transmittedBytes,
            "network.packets.receive": figures.receivedPackets,
            "network.packets.transmit": figures.transmittedPackets,
            "network.errors.receive": figures.receiveErrors,
            "network.errors.transmit": figures.transmitErrors,
            "network.dropped.receive": figures.receiveDropped,
            "network.dropped.transmit": figures.transmitDropped,
          },
        };
      }
      if (interfaces.length > MAX_INTERFACES)
        problem("truncated", `${MAX_INTERFACES} of ${interfaces.length} interfaces`);
    },
  }),
});
