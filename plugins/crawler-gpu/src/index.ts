import { defineCrawler, type GpuStatus } from "@trawler/plugin-api";
import * as z from "zod";

const figure = (unit: string, description: string) =>
  z.number().nonnegative().nullable().meta({ "x-unit": unit, description });
const text = (description: string) => z.string().nullable().describe(description);

const identity = {
  address: z.string().describe("On its bus, such as `0000:65:00.0`."),
  driver: text("Driver, such as `nvidia`, `amdgpu` or `i915`."),
  model: text("Its name, or `vendor:device` where the driver knows none."),
  uuid: text("As its vendor numbers it."),
};

/** Graphics processors: the host's with figures, a container's by who has opened them; the key is the bus address. */
export default defineCrawler({
  name: "gpu",
  description: "Reads the graphics processors of the host, and which container uses which.",
  config: z.strictObject({}),
  scope: "member",
  needs: ["proc"],
  features: {
    gpu: z.strictObject({
      ...identity,
      devices: z.array(z.string()).readonly().describe("Files by which programs use it."),
      "gpu.utilization": figure("1", "Share of time in which it worked."),
      "gpu.memory.utilization": figure("1", "Share of time in which its memory was read or written."),
      "gpu.memory.limit": figure("By", "Its own memory."),
      "gpu.memory.usage": figure("By", "Of which in use."),
      "gpu.memory.free": figure("By", "Of which not in use."),
      "hw.temperature": figure("Cel", "Temperature."),
      "hw.power": figure("W", "Power that it takes."),
      "hw.power.limit": figure("W", "Power that it may take."),
    }),
    gpuUse: z.strictObject({
      ...identity,
      "process.count": z
        .int()
        .positive()
        .meta({ "x-unit": "{process}", description: "Processes of the container that have opened it." }),
    }),
  },
  create: () => ({
    async *crawl({ proc }, { signal }) {
      for (const gpu of await proc.gpus({ signal })) {
        if (gpu.figures !== null) yield { type: "gpu", key: gpu.address, value: gpuValue(gpu, gpu.figures) };
        if (gpu.pids !== null)
          yield { type: "gpuUse", key: gpu.address, value: { ...identityOf(gpu), "process.count": gpu.pids.length } };
      }
    },
  }),
});

function identityOf({ address, driver, model, uuid }: GpuStatus) {
  return { address, driver, model, uuid };
}

function gpuValue(gpu: GpuStatus, figures: NonNullable<GpuStatus["figures"]>) {
  const { utilization, memoryUtilization, memoryTotal, memoryUsed, temperature, power, powerLimit } = figures;
  return {
    ...identityOf(gpu),
    devices: gpu.files,
    "gpu.utilization": utilization,
    "gpu.memory.utilization": memoryUtilization,
    "gpu.memory.limit": memoryTotal,
    "gpu.memory.usage": memoryUsed,
    "gpu.memory.free": memoryTotal === null || memoryUsed === null ? null : Math.max(0, memoryTotal - memoryUsed),
    "hw.temperature": temperature,
    "hw.power": power,
    "hw.power.limit": powerLimit,
  };
}
