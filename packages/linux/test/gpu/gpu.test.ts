import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { parseNvidiaInformation } from "../../src/gpu/nvidia.ts";
import { readGpus } from "../../src/gpu/read.ts";
import { ProcFileReader } from "../../src/proc/files.ts";
import { FakeProc, systemError } from "../fake-proc.ts";

// No machine of ours has such a device: these trees are composed as the kernel's documentation of amdgpu and hwmon, and
// NVIDIA's of its /proc files, describe them.
const INFORMATION = `Model: \t\t NVIDIA A40
IRQ:   \t\t 183
GPU UUID: \t GPU-6f2c7e2c-3a0b-4f4f-9c9e-0d5e3a1b2c4d
Video BIOS: \t 94.02.5c.00.03
Bus Type: \t PCIe
DMA Size: \t 47 bits
DMA Mask: \t 0x7fffffffffff
Bus Location: \t 0000:b3:00.0
Device Minor: \t 0
GPU Excluded:\t No
`;
const CARD = "devices/pci0000:64/0000:64:00.0/0000:65:00.0";
const AMD: Readonly<Record<string, string>> = {
  [`${CARD}/uevent`]: "DRIVER=amdgpu\nPCI_CLASS=38000\nPCI_ID=1002:740F\nPCI_SLOT_NAME=0000:65:00.0\n",
  [`${CARD}/unique_id`]: "9f3c1d2e4b5a6978\n",
  [`${CARD}/gpu_busy_percent`]: "0\n",
  [`${CARD}/mem_busy_percent`]: "0\n",
  [`${CARD}/mem_info_vram_total`]: "12797870080\n",
  [`${CARD}/mem_info_vram_used`]: "0\n",
  [`${CARD}/hwmon/hwmon3/name`]: "amdgpu\n",
  [`${CARD}/hwmon/hwmon3/temp1_input`]: "31000\n",
  [`${CARD}/hwmon/hwmon3/power1_average`]: "27000000\n",
  [`${CARD}/hwmon/hwmon3/power1_cap`]: "149000000\n",
  [`${CARD}/drm/card1/dev`]: "226:1\n",
  [`${CARD}/drm/renderD128/dev`]: "226:128\n",
};
const CONSOLE: Readonly<Record<string, string>> = {
  "devices/pci0000:00/0000:02:00.0/uevent": "DRIVER=ast\nPCI_ID=1A03:2000\nPCI_SLOT_NAME=0000:02:00.0\n",
  "devices/pci0000:00/0000:02:00.0/drm/card0/dev": "226:0\n",
};

function tree(files: Readonly<Record<string, string>>, links: Readonly<Record<string, string>> = {}): ProcFileReader {
  const root = mkdtempSync(join(tmpdir(), "trawler-gpu-"));
  onTestFinished(() => rmSync(root, { recursive: true }));
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  }
  for (const [path, target] of Object.entries(links)) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    symlinkSync(target, join(root, path));
  }
  return new ProcFileReader(root);
}

/** As the kernel links a card: `class/drm/cardN` to its folder, and there `device` to the device's. */
function system(...sets: readonly Readonly<Record<string, string>>[]): ProcFileReader {
  const files: Readonly<Record<string, string>> = Object.assign({}, ...sets);
  const cards = Object.keys(files).flatMap((path) => /^(.*)\/drm\/(card\d+)\/dev$/.exec(path)?.slice(1, 3) ?? []);
  const links: Record<string, string> = {};
  for (let at = 0; at < cards.length; at += 2) {
    links[`class/drm/${cards[at + 1]}`] = `../../${cards[at]}/drm/${cards[at + 1]}`;
    links[`${cards[at]}/drm/${cards[at + 1]}/device`] = "../..";
  }
  return tree(files, links);
}

const host = { pids: () => [], belongs: undefined, signal: undefined };
const nvidia = { "driver/nvidia/gpus/0000:b3:00.0/information": INFORMATION };

test("parity P25: the figures of amdgpu's files, in base units", async () => {
  expect(await readGpus(tree({}), { ...host, system: system(AMD, CONSOLE) })).toEqual([
    {
      address: "0000:65:00.0",
      driver: "amdgpu",
      model: "1002:740f",
      uuid: "9f3c1d2e4b5a6978",
      files: ["/dev/dri/card1", "/dev/dri/renderD128"],
      figures: {
        utilization: 0,
        memoryUtilization: 0,
        memoryTotal: 12_205 * 1024 * 1024,
        memoryUsed: 0,
        temperature: 31,
        power: 27,
        powerLimit: 149,
      },
      pids: null,
    },
  ]);
});

test("parity 115: NVIDIA's driver says which device it is, and no figure", async () => {
  const [device] = await readGpus(tree(nvidia), { ...host, system: tree({}) });
  expect(device).toMatchObject({
    address: "0000:b3:00.0",
    driver: "nvidia",
    model: "NVIDIA A40",
    uuid: "GPU-6f2c7e2c-3a0b-4f4f-9c9e-0d5e3a1b2c4d",
    files: ["/dev/nvidia0"],
  });
  expect(new Set(Object.values(device?.figures ?? { x: 0 }))).toEqual(new Set([null]));
  expect(parseNvidiaInformation("GPU UUID: \t GPU-????????-????\nDevice Minor: x\n")).toEqual({
    model: null,
    uuid: null,
    minor: null,
  });
});

test("parity 115: a device is a container's where one of its processes has opened it", async () => {
  const proc = new FakeProc({
    ...nvidia,
    "12/fd/3": "/dev/nvidia0",
    "12/fd/4": "/dev/nvidiactl",
    "12/cgroup": "0::/ours\n",
    "13/fd/3": "/dev/dri/renderD128",
    "13/cgroup": "0::/theirs\n",
    "14/fd/0": "/dev/null",
    "14/cgroup": "0::/ours\n",
  });
  const ours = (text: string): boolean => text.includes("ours");
  const member = { system: system(AMD), pids: () => [12, 13, 14, 99], belongs: ours, signal: undefined };
  expect(await readGpus(proc, member)).toMatchObject([{ address: "0000:b3:00.0", figures: null, pids: [12] }]);
});

test("parity 115: without a device no process is looked at; where they are hidden that is said", async () => {
  const pids = (): never => {
    throw new Error("nobody needs them");
  };
  const member = { belongs: () => true, signal: undefined };
  expect(await readGpus(tree({}), { ...member, system: system(CONSOLE), pids })).toEqual([]);
  const shut = new FakeProc({ ...nvidia, "12/fd": systemError("EACCES") });
  const asked = readGpus(shut, { ...member, system: tree({}), pids: () => [12] });
  await expect(asked).rejects.toMatchObject({ code: "TRAWLER_DENIED" });
});

test("parity 115: what a driver refuses or writes wrongly is not known", async () => {
  const broken = {
    ...AMD,
    [`${CARD}/gpu_busy_percent`]: "-1\n",
    [`${CARD}/mem_info_vram_total`]: "12 GiB\n",
    [`${CARD}/hwmon/hwmon3/temp1_input`]: "",
  };
  const [device] = await readGpus(tree({}), { ...host, system: system(broken) });
  expect(device?.figures).toMatchObject({ utilization: null, memoryTotal: null, temperature: null, power: 27 });
});
