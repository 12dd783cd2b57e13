import type { GpuFigures, GpuStatus } from "@trawler/plugin-api";
import { crawlAlone, fakeProc } from "@trawler/testkit";
import { expect, test } from "vitest";
import gpu from "../src/index.ts";

const MIB = 1024 * 1024;
const card: GpuStatus = {
  address: "0000:65:00.0",
  driver: "amdgpu",
  model: "1002:740f",
  uuid: null,
  files: ["/dev/dri/card0", "/dev/dri/renderD128"],
  figures: null,
  pids: null,
};
const figures: GpuFigures = {
  utilization: 0,
  memoryUtilization: 0,
  memoryTotal: 12_205 * MIB,
  memoryUsed: 0,
  temperature: 31,
  power: 27,
  powerLimit: 149,
};

const crawl = (...gpus: readonly GpuStatus[]) => crawlAlone(gpu, { access: { proc: fakeProc({ gpus }) } });

test("parity P25: 31 °C, 12205 MiB free, 27 of 149 W, no work and no container", async () => {
  const { features, problems } = await crawl({ ...card, figures });
  expect(problems).toEqual([]);
  expect(features).toEqual([
    {
      type: "gpu",
      key: "0000:65:00.0",
      value: {
        address: "0000:65:00.0",
        driver: "amdgpu",
        model: "1002:740f",
        uuid: null,
        devices: ["/dev/dri/card0", "/dev/dri/renderD128"],
        "gpu.utilization": 0,
        "gpu.memory.utilization": 0,
        "gpu.memory.limit": 12_205 * MIB,
        "gpu.memory.usage": 0,
        "gpu.memory.free": 12_205 * MIB,
        "hw.temperature": 31,
        "hw.power": 27,
        "hw.power.limit": 149,
      },
    },
  ]);
});

test("parity 115: a container says which ones its processes have opened, and no figure of the host's", async () => {
  const { features } = await crawl({ ...card, pids: [12, 14] });
  expect(features).toMatchObject([
    { type: "gpuUse", key: "0000:65:00.0", value: { driver: "amdgpu", "process.count": 2 } },
  ]);
});

test("parity 115: where there is none it says nothing", async () => {
  expect(await crawl()).toEqual({ features: [], problems: [] });
});
