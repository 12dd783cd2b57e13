import { defineCrawler } from "@trawler/plugin-api";
import * as z from "zod";

/** Devices of one cgroup; far more than a node has, so that a hostile list stays bounded. */
const MAX_DEVICES = 256;

const counter = (unit: string, description: string) =>
  z.number().nonnegative().nullable().meta({ "x-unit": unit, description });

/** Block I/O of one cgroup, one feature per device; the key is the device's `major:minor`. */
export default defineCrawler({
  name: "blockio",
  description: "Reads block device bytes and operations from the cgroup.",
  config: z.strictObject({}),
  scope: "both",
  needs: ["cgroup"],
  features: {
    blockio: z.strictObject({
      "disk.io.read": counter("By", "Bytes read from the device."),
      "disk.io.write": counter("By", "Bytes written to the device."),
      "disk.operations.read": counter("{operation}", "Read operations."),
      "disk.operations.write": counter("{operation}", "Write operations."),
    }),
  },
  create: () => ({
    async *crawl({ cgroup }, { signal, problem }) {
      const devices = await cgroup.block({ signal });
      for (const figures of devices.slice(0, MAX_DEVICES)) {
        yield {
          type: "blockio",
          key: figures.device,
          value: {
            "disk.io.read": figures.readBytes,
            "disk.io.write": figures.writtenBytes,
            "disk.operations.read": figures.readOperations,
            "disk.operations.write": figures.writeOperations,
          },
        };
      }
      if (devices.length > MAX_DEVICES) problem("truncated", `${MAX_DEVICES} of ${devices.length} devices`);
    },
  }),
});
