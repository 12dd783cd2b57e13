import { defineCrawler } from "@trawler/plugin-api";
import * as z from "zod";
import { MappedBudget } from "./mapped.ts";
import { usages } from "./usage.ts";

const MAX_PROCESSES = 200;
const MAX_MAPPED = 250;

const number = (unit: string, description: string) => z.number().nonnegative().meta({ "x-unit": unit, description });
const figure = (unit: string, description: string) =>
  z.number().nonnegative().nullable().meta({ "x-unit": unit, description });
const text = (description: string) => z.string().nullable().describe(description);

/** One feature per process, the largest by memory first; the key is `pid:startTicks`. */
export default defineCrawler({
  name: "process",
  description: "Reads the processes of a container or the host.",
  config: z.strictObject({
    max: z.int().min(1).max(MAX_PROCESSES).default(MAX_PROCESSES).describe("Most processes, by memory use."),
    mappedFiles: z
      .int()
      .min(0)
      .max(MAX_MAPPED)
      .default(0)
      .describe("Most files of one process that it has mapped: its program, libraries, data. 0: they are not read."),
  }),
  scope: "member",
  needs: ["proc"],
  features: {
    process: z.strictObject({
      pid: number("1", "Process id in the node's namespace."),
      parent_pid: number("1", "Its parent; 0 where there is none."),
      vpid: figure("1", "Process id as the container sees it."),
      command: z.string().describe("Name that the program gave itself, 15 bytes at most."),
      commandLine: z.array(z.string()).readonly().describe("Arguments, secrets redacted."),
      executable: text("Path of the program."),
      workingDirectory: text("Current folder."),
      state: z.string().describe("One letter of proc(5), such as `S`."),
      startedAt: z.string().describe("RFC 3339."),
      "user.id": figure("1", "User id in the node's namespace."),
      "cpu.time": number("s", "CPU time."),
      "cpu.time.user": number("s", "CPU time in user mode."),
      "cpu.time.system": number("s", "CPU time in the kernel."),
      "cpu.usage": figure("{cpu}", "CPUs in use between the last two crawls; null on the first one."),
      "memory.usage": figure("By", "Resident memory."),
      "memory.virtual": figure("By", "Address space."),
      "thread.count": figure("{thread}", "Threads."),
      "unix.file_descriptor.count": figure("{file_descriptor}", "Open file descriptors."),
      "disk.io.read": figure("By", "Bytes read from storage."),
      "disk.io.write": figure("By", "Bytes written to storage."),
      mappedFiles: z
        .array(z.string())
        .readonly()
        .nullable()
        .optional()
        .describe("Files that it has mapped, as its container sees them; one that was deleted ends with ` (deleted)`."),
    }),
  },
  create: ({ max, mappedFiles }) => ({
    async *crawl({ proc }, { signal, clock, state, problem }) {
      const { processes, total } = await proc.processes({ signal, max, mappedFiles });
      const kept = processes.slice(0, max).map((process) => ({
        process,
        key: `${process.pid}:${process.startTicks}`,
        time: process.cpuUser + process.cpuSystem,
      }));
      const usage = usages(kept, clock.monotonic(), state);
      const mapped = new MappedBudget();
      for (const { process, key, time } of kept) {
        yield {
          type: "process",
          key,
          value: {
            pid: process.pid,
            parent_pid: process.parentPid,
            vpid: process.containerPid,
            command: process.command,
            commandLine: process.commandLine,
            executable: process.executable,
            workingDirectory: process.workingDirectory,
            state: process.state,
            startedAt: process.startedAt,
            "user.id": process.userId,
            "cpu.time": time,
            "cpu.time.user": process.cpuUser,
            "cpu.time.system": process.cpuSystem,
            "cpu.usage": usage.get(key) ?? null,
            "memory.usage": process.memoryUsage,
            "memory.virtual": process.memoryVirtual,
            "thread.count": process.threads,
            "unix.file_descriptor.count": process.openFileDescriptors,
            "disk.io.read": process.diskRead,
            "disk.io.write": process.diskWritten,
            ...mapped.fieldOf(process),
          },
        };
      }
      mapped.report(problem);
      if (total > kept.length) problem("truncated", `${kept.length} of ${total} processes, the largest by memory`);
    },
  }),
});
