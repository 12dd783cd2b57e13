import process from "node:process";

/**
 * The flags and settings with which the agent runs small, in the one place that every way to start it passes. A crawl
 * makes little garbage and has time: a small young generation and a heap that grows late cost a few per cent of CPU time
 * and save some ten MiB. The C library keeps one arena and gives large blocks back at once.
 */
const FLAGS = ["--max-semi-space-size=1", "--optimize-for-size", "--expose-gc"];
const ALLOCATOR = { MALLOC_ARENA_MAX: "1", MALLOC_TRIM_THRESHOLD_: "65536", MALLOC_MMAP_THRESHOLD_: "65536" };
/** Tells the process that it is the second one. */
const MARK = "TRAWLER_LAUNCHED";

const [, file = "", ...args] = process.argv;
if (args[0] === "run" && process.env[MARK] !== "1" && process.execve !== undefined) {
  // V8 and the C library read theirs at their own start: the same process begins anew, under the same pid.
  process.execve(process.execPath, [process.execPath, ...FLAGS, ...process.execArgv, file, ...args], {
    ...ALLOCATOR,
    ...process.env,
    [MARK]: "1",
  });
} else {
  await import("./bin.ts");
}
