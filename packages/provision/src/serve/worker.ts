import { sleep } from "@trawler/kube";
import { type Clock, errorCode, errorMessage, type Logger, TrawlerError } from "@trawler/plugin-api";
import type { Cluster } from "../cluster/cluster.ts";
import { Context } from "../instance/context.ts";
import { undo, work } from "../instance/work.ts";
import type { JournalFolder } from "../journal/folder.ts";
import type { Journal } from "../journal/journal.ts";
import { isOver, type Report } from "../journal/record.ts";
import { retire } from "../retire/retire.ts";
import type { Inventory } from "../wait/types.ts";
import { type Step, stepOf } from "./step.ts";
import type { ServiceStore, Task, TaskAction } from "./store.ts";

export interface WorkerOptions {
  readonly folder: JournalFolder;
  readonly store: ServiceStore;
  readonly clock: Clock;
  readonly log: Logger;
  /** A new one for each run: what is known of the server's kinds is not kept for ever. */
  readonly cluster: () => Cluster;
  /** Looks for a running inventory to hand over to what was made. Default: there is none. */
  readonly inventory?: (cluster: Cluster) => Promise<Inventory | null>;
  /** Runs at a time. */
  readonly concurrent: number;
  /** Runs that may wait for their turn. */
  readonly waiting: number;
  /** A run is over: its task ends and its notifications begin. */
  readonly ended: (report: Report) => void;
}

export interface WorkerStatus {
  readonly running: number;
  readonly waiting: number;
  /** Runs whose work has thrown: none unless there is a fault in the program or the disk. */
  readonly faults: number;
}

/** Milliseconds. */
const CANCEL_POLL = 250;
const TAKEN_POLL = 1_000;
const FAULT_PAUSE = 30_000;

/**
 * Carries out tasks, a bounded number at a time, in the order in which they came. What it was asked to do is in the
 * store before it says so, and what a run did is in its journal: a process that ends at any point loses nothing, and
 * the next one goes on.
 */
export class Worker {
  readonly #options: WorkerOptions;
  readonly #halt = new AbortController();
  readonly #queue = new Map<string, TaskAction>();
  readonly #running = new Map<string, AbortController>();
  readonly #ends = new Set<Promise<void>>();
  #faults = 0;

  constructor(options: WorkerOptions) {
    this.#options = options;
  }

  /** Takes up what an earlier process left: its tasks, and runs that nobody works on and that are not over. */
  recover(): void {
    const { folder, store, log } = this.#options;
    const { server } = this.#options.cluster();
    const tasks = new Map(store.tasks.map(({ instance, action }) => [instance, action]));
    for (const instance of folder.instances()) {
      if (tasks.has(instance)) continue;
      try {
        using journal = folder.open(instance, true);
        if (isOver(journal.run.state) || folder.isRunning(instance)) continue;
        if (journal.run.server === server) tasks.set(instance, "resume");
        else
          log.warn({ instance, server: journal.run.server }, "a run of another cluster is not over; it is left alone");
      } catch (error) {
        log.warn({ instance, code: errorCode(error) ?? "UNKNOWN" }, errorMessage(error));
      }
    }
    for (const [instance, action] of tasks) {
      log.info({ instance, action }, "going on with what an earlier process left");
      store.addTask({ instance, action });
      this.#queue.set(instance, action);
    }
    this.#next();
  }

  get status(): WorkerStatus {
    return { running: this.#running.size, waiting: this.#queue.size, faults: this.#faults };
  }

  /** Whether one more may wait. */
  get hasRoom(): boolean {
    return this.#queue.size < this.#options.waiting && !this.#halt.signal.aborted;
  }

  /** Whether this process works on it, or will. */
  has(instance: string): boolean {
    return this.#running.has(instance) || this.#queue.has(instance);
  }

  /** Remembers the task, whatever happens to this process, and begins it when its turn comes. */
  accept(task: Task): void {
    if (this.#halt.signal.aborted) throw new TrawlerError("TRAWLER_UNAVAILABLE", "the service is stopping");
    if (this.has(task.instance))
      throw new TrawlerError("TRAWLER_BUSY", `instance ${task.instance} is at work; wait for its end, or cancel it`);
    if (!this.hasRoom) throw new TrawlerError("TRAWLER_LIMIT", "too many runs wait already; try again later");
    this.#options.store.addTask(task);
    this.#queue.set(task.instance, task.action);
    this.#next();
  }

  /** Its journal says that it is to be cancelled: it need not look by itself. */
  cancel(instance: string): void {
    this.#running.get(instance)?.abort();
  }

  /** Leaves all runs as they are and resolves once none is touched any more. `cut` ends the requests under way. */
  async stop(cut: () => void): Promise<void> {
    this.#halt.abort(new TrawlerError("TRAWLER_GONE", "the service is stopping"));
    for (const cancel of this.#running.values()) cancel.abort();
    cut();
    await Promise.allSettled([...this.#ends]);
  }

  #next(): void {
    for (const [instance, action] of this.#queue) {
      if (this.#running.size >= this.#options.concurrent || this.#halt.signal.aborted) return;
      this.#queue.delete(instance);
      const cancel = new AbortController();
      this.#running.set(instance, cancel);
      const end = this.#perform({ instance, action }, cancel).finally(() => {
        this.#ends.delete(end);
        this.#running.delete(instance);
        this.#next();
      });
      this.#ends.add(end);
    }
  }

  /** Never rejects. */
  async #perform(task: Task, cancel: AbortController): Promise<void> {
    const { folder, log } = this.#options;
    const { instance } = task;
    try {
      const lock = folder.lock(instance, 0);
      if (lock === null) return this.#again(task, TAKEN_POLL);
      using _lock = lock;
      using journal = folder.open(instance);
      const report = await this.#run(task, journal, cancel);
      if (report !== null) this.#options.ended(report);
    } catch (error) {
      if (this.#halt.signal.aborted) return;
      this.#faults++;
      log.error({ instance, code: errorCode(error) ?? "UNKNOWN" }, `a run was cut off: ${errorMessage(error)}`);
      this.#again(task, FAULT_PAUSE);
    }
  }

  async #run({ action }: Task, journal: Journal, cancel: AbortController): Promise<Report | null> {
    const { store, clock, log, cluster } = this.#options;
    const { run } = journal;
    const step = stepOf(action, run, journal.sealed !== null);
    if (step.kind === "over") return { ...run, objects: journal.items };
    if (step.kind === "refused") {
      log.error({ instance: run.instance }, step.why);
      store.endTask(run.instance, [], clock.now());
      return null;
    }
    if (step.kind === "work" && journal.cancelRequested) cancel.abort();
    const poll = setInterval(() => {
      if (journal.cancelRequested) cancel.abort();
    }, CANCEL_POLL);
    try {
      const halt = this.#halt.signal;
      const own = cluster();
      const inventory = step.kind === "work" ? await this.#inventory(own) : null;
      const context = new Context({ cluster: own, journal, clock, cancel: cancel.signal, halt, inventory });
      log.info({ instance: run.instance, template: run.template, step: step.kind }, "at work");
      return await carryOut(context, step, halt);
    } finally {
      clearInterval(poll);
    }
  }

  /** One that should be there and is not holds up no run. */
  async #inventory(cluster: Cluster): Promise<Inventory | null> {
    try {
      return (await this.#options.inventory?.(cluster)) ?? null;
    } catch (error) {
      this.#options.log.warn({ code: errorCode(error) ?? "UNKNOWN" }, errorMessage(error));
      return null;
    }
  }

  /** Puts a task back into the queue after a while. */
  #again({ instance, action }: Task, pause: number): void {
    void sleep(pause, this.#halt.signal).then(() => {
      if (this.#halt.signal.aborted || this.has(instance)) return;
      this.#queue.set(instance, action);
      this.#next();
    });
  }
}

function carryOut(
  context: Context,
  step: Exclude<Step, { readonly kind: "over" | "refused" }>,
  halt: AbortSignal,
): Promise<Report> {
  if (step.kind === "undo") return undo(context, halt);
  if (step.kind === "retire") return retire(context, halt);
  return work(context, { resumed: step.resumed });
}
