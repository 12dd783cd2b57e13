import type { MappedFiles, ProcessStatus } from "@trawler/plugin-api";
import { crawlAlone, fakeProc } from "@trawler/testkit";
import { expect, test } from "vitest";
import processes from "../src/index.ts";

function sleep(pid: number, mappedFiles?: MappedFiles | null): ProcessStatus {
  return {
    pid,
    parentPid: 1,
    startTicks: pid,
    startedAt: "2026-01-01T00:00:00.000Z",
    command: "sleep",
    commandLine: ["sleep", "60"],
    executable: "/bin/busybox",
    workingDirectory: "/",
    state: "S",
    userId: 0,
    threads: 1,
    cpuUser: 0,
    cpuSystem: 0,
    memoryUsage: 4096,
    memoryVirtual: 1_646_592,
    openFileDescriptors: 3,
    diskRead: 0,
    diskWritten: 0,
    containerPid: 1,
    ...(mappedFiles === undefined ? {} : { mappedFiles }),
  };
}

async function crawl(list: readonly ProcessStatus[], settings: unknown) {
  const proc = fakeProc({ processes: { processes: list, total: list.length } });
  const { features, problems } = await crawlAlone(processes, { access: { proc }, config: settings });
  return { mapped: features.map(({ value }) => Object(value).mappedFiles), problems };
}

test("parity P29: an alpine `sleep 60` has mapped /bin/busybox", async () => {
  const paths = ["/bin/busybox", "/lib/ld-musl-x86_64.so.1"];
  const { mapped, problems } = await crawl([sleep(7, { paths, truncated: false })], { mappedFiles: 10 });
  expect(mapped).toEqual([paths]);
  expect(problems).toEqual([]);
});

test("parity 091: where nobody asks for them there is no field", async () => {
  expect((await crawl([sleep(7)], {})).mapped).toEqual([undefined]);
});

test("parity 091: all of them together are bounded, and what is left out is said", async () => {
  const long = Array.from({ length: 50 }, (_, index) => `/lib/${"x".repeat(300)}${index}`);
  const many = Array.from({ length: 100 }, (_, index) => sleep(index, { paths: long, truncated: false }));
  const { mapped, problems } = await crawl(many, { mappedFiles: 250 });
  const lengths = mapped.map((paths: readonly string[]) => paths.join("").length);
  expect(lengths.reduce((sum, length) => sum + length, 0)).toBeLessThanOrEqual(262_144);
  expect(Math.max(...lengths)).toBeLessThanOrEqual(16_000);
  expect(lengths.at(-1)).toBe(0);
  expect(problems).toEqual([expect.stringMatching(/^truncated mapped files of \d+ processes are not listed whole$/)]);
});
