/** Runs a task as soon as fewer than the limit are running, in order. */
export type Limit = <T>(task: () => Promise<T>) => Promise<T>;

export function limit(max: number): Limit {
  let running = 0;
  const waiting: (() => void)[] = [];
  return async (task) => {
    if (running >= max) await new Promise<void>((resolve) => waiting.push(resolve));
    else running += 1;
    try {
      return await task();
    } finally {
      // The place is handed on, so that no third task takes it in between.
      const next = waiting.shift();
      if (next === undefined) running -= 1;
      else next();
    }
  };
}
