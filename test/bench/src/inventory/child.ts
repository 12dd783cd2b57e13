import { type ChildProcess, fork } from "node:child_process";
import { readFileSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";

/** A file of this folder as a process, with what it tells, and its memory. */
export interface Child<From extends { readonly type: string }, To extends object> extends AsyncDisposable {
  send(message: To): void;
  /** The first message of a type from now on, or one that has come and was not asked for; rejects where the process ends. */
  next<T extends From["type"]>(type: T): Promise<Extract<From, { type: T }>>;
  /** Largest proportional set, bytes, so far; and the largest resident set that the kernel has counted. */
  memory(): { readonly pss: number; readonly rss: number };
}

const SAMPLE = 100;

export function startChild<From extends { readonly type: string }, To extends object = never>(
  name: string,
  args: readonly string[],
  options: { readonly signal: AbortSignal; readonly node?: readonly string[] },
): Child<From, To> {
  const child = fork(fileURLToPath(new URL(`${name}.ts`, import.meta.url)), args, {
    execArgv: [
      "--conditions=@trawler/source",
      "--disable-warning=ExperimentalWarning",
      // As in the image.
      "--max-semi-space-size=1",
      "--expose-gc",
      ...(options.node ?? []),
    ],
    serialization: "advanced",
  });
  const kept: From[] = [];
  const waiters: { readonly type: string; give(message: From): void; reject(error: Error): void }[] = [];
  let over: Error | null = null;
  const end = (error: Error): void => {
    over ??= error;
    for (const { reject } of waiters.splice(0)) reject(over);
  };
  child.on("message", (message: From) => {
    const index = waiters.findIndex(({ type }) => type === message.type);
    if (index === -1) kept.push(message);
    else waiters.splice(index, 1)[0]?.give(message);
  });
  child.on("exit", (code, signal) => end(new Error(`${name} ended with ${code ?? signal}`)));
  child.on("error", end);
  const abort = (): void => void child.kill("SIGKILL");
  options.signal.addEventListener("abort", abort, { once: true });
  const peak = { pss: 0 };
  const sampler = setInterval(() => {
    peak.pss = Math.max(peak.pss, kilobytes(child, "smaps_rollup", "Pss") * 1024);
  }, SAMPLE);
  return {
    send: (message) => void child.send(message),
    next: (type) =>
      new Promise((resolve, reject) => {
        const is = (message: From): message is Extract<From, { type: typeof type }> => message.type === type;
        const index = kept.findIndex(is);
        const [found] = index === -1 ? [] : kept.splice(index, 1);
        if (found !== undefined && is(found)) resolve(found);
        else if (over !== null) reject(over);
        else
          waiters.push({
            type,
            reject,
            give: (message) => {
              if (is(message)) resolve(message);
            },
          });
      }),
    memory: () => ({ pss: peak.pss, rss: kilobytes(child, "status", "VmHWM") * 1024 }),
    [Symbol.asyncDispose]: async () => {
      clearInterval(sampler);
      options.signal.removeEventListener("abort", abort);
      if (over === null) child.kill("SIGKILL");
      while (over === null) await delay(10);
    },
  };
}

function kilobytes({ pid }: ChildProcess, file: string, field: string): number {
  try {
    const text = readFileSync(`/proc/${pid}/${file}`, "utf8");
    return Number(new RegExp(`^${field}:\\s+(\\d+) kB`, "m").exec(text)?.[1] ?? 0);
  } catch {
    return 0;
  }
}
