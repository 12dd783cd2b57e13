import type { FileSystemStatus } from "@trawler/plugin-api";
import { crawlAlone, hostileAccesses } from "@trawler/testkit";
import { expect, test } from "vitest";
import disk from "../src/index.ts";

const [silent] = hostileAccesses();

async function crawl(fileSystems: readonly Partial<FileSystemStatus>[]) {
  const unknown = { size: null, used: null, free: null, available: null, inodes: null, inodesFree: null };
  const base: FileSystemStatus = { device: "/dev/a", mountPoint: "/a", type: "ext4", options: [], ...unknown };
  const fs = {
    ...(silent?.access.fs ?? never()),
    fileSystems: async () => ({ fileSystems: fileSystems.map((one) => ({ ...base, ...one })), truncated: false }),
  };
  return crawlAlone(disk, { access: { fs } });
}

function never(): never {
  throw new Error("no hostile access");
}

test("parity P10: of a disk of 100 bytes with 10 in use, a tenth is used", async () => {
  const { features } = await crawl([{ size: 100, used: 10, free: 90, available: 90 }]);
  expect(features).toMatchObject([
    {
      key: "/a",
      value: {
        device: "/dev/a",
        "filesystem.limit": 100,
        "filesystem.utilization": 0.1,
        "filesystem.usage.reserved": 0,
      },
    },
  ]);
});

test("a file system without a size or inodes has no share of them, and none is above the whole", async () => {
  const { features } = await crawl([
    { size: 0, used: 0, free: 0, available: 0, inodes: 0, inodesFree: 0 },
    { size: 100, used: 95, free: 5, available: 0 },
  ]);
  expect(features.map(({ value }) => Object(value)["filesystem.utilization"])).toEqual([null, 1]);
  expect(Object(features[0]?.value)["filesystem.inodes.usage.used"]).toBeNull();
});

test("more file systems than a frame takes are cut, and it says so", async () => {
  const many = Array.from({ length: 300 }, (_, index) => ({ mountPoint: `/m${index}` }));
  const { features, problems } = await crawl(many);
  expect(features).toHaveLength(256);
  expect(problems).toEqual([expect.stringContaining("truncated")]);
});
