import type { Answered, RunState, ServiceStatus } from "@trawler/provision";

export interface ServeMetrics {
  readonly contentType: string;
  /** A request was answered. */
  answered(answered: Answered): void;
  /** A run is over. */
  ended(state: RunState): void;
  text(): Promise<string>;
}

/** The service's figures as Prometheus metrics, read when they are asked for. `status` null = not begun yet. */
export async function createServeMetrics(status: () => ServiceStatus | null): Promise<ServeMetrics> {
  const { collectDefaultMetrics, Counter, Gauge, Registry } = await import("prom-client");
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  const registers = [registry];
  const gauge = (name: string, help: string) => new Gauge({ name: `trawler_provision_${name}`, help, registers });
  const ends = new Counter({
    name: "trawler_provision_runs_total",
    help: "Runs that came to an end in this process, by their state then.",
    labelNames: ["state"],
    registers,
  });
  const requests = new Counter({
    name: "trawler_provision_requests_total",
    help: "Requests that were answered, by route and status.",
    labelNames: ["method", "route", "status"],
    registers,
  });
  const running = gauge("running", "Runs at work.");
  const waiting = gauge("waiting", "Runs that wait for their turn.");
  const faults = gauge("faults", "Runs that were cut off by a fault of the program or the disk.");
  const outbox = gauge("notifications_waiting", "Notifications that were not taken yet.");
  const givenUp = gauge("notifications_given_up", "Notifications that were never taken.");
  return {
    contentType: registry.contentType,
    answered: ({ method, route, status: code }) => requests.inc({ method, route, status: code }),
    ended: (state) => ends.inc({ state }),
    text: () => {
      const now = status();
      running.set(now?.running ?? 0);
      waiting.set(now?.waiting ?? 0);
      faults.set(now?.faults ?? 0);
      outbox.set(now?.outbox.waiting ?? 0);
      givenUp.set(now?.outbox.givenUp ?? 0);
      return registry.metrics();
    },
  };
}
