/** Aborts at SIGTERM, SIGINT or SIGHUP; a second signal, or `grace` milliseconds without an end, ends the process at once. */
export function stopSignal(grace: number, onStop: (signal: NodeJS.Signals) => void): AbortSignal {
  const controller = new AbortController();
  const numbers = new Map<NodeJS.Signals, number>([
    ["SIGHUP", 1],
    ["SIGINT", 2],
    ["SIGTERM", 15],
  ]);
  for (const [signal, number] of numbers) {
    process.on(signal, () => {
      if (controller.signal.aborted) process.exit(128 + number);
      onStop(signal);
      // The flush has its own deadline; this holds where a plugin keeps the process alive beyond it.
      setTimeout(() => process.exit(0), grace).unref();
      controller.abort();
    });
  }
  return controller.signal;
}
