import { TrawlerError } from "@trawler/plugin-api";
import type { JournalFolder } from "../journal/folder.ts";
import type { Journal } from "../journal/journal.ts";
import { isOver, type Report, type Run, type RunState } from "../journal/record.ts";
import type { Accepted } from "./create.ts";
import { notFound, Refusal } from "./refusal.ts";
import { stepOf } from "./step.ts";
import type { TaskAction } from "./store.ts";
import type { Worker } from "./worker.ts";

export interface InstanceSummary
  extends Pick<Run, "instance" | "template" | "namespace" | "state" | "headline" | "createdAt" | "endedAt"> {
  /** Somebody works on it, or will when its turn comes. */
  readonly running: boolean;
  /** How many it has. */
  readonly objects: number;
}

/** The runs of a folder as a service sees them. */
export class Instances {
  readonly #folder: JournalFolder;
  readonly #worker: Worker;

  constructor(folder: JournalFolder, worker: Worker) {
    this.#folder = folder;
    this.#worker = worker;
  }

  /** Newest first, those before `before`. `next` is null where there are no more. */
  list(
    limit: number,
    before: string | null,
  ): { readonly instances: readonly InstanceSummary[]; readonly next: string | null } {
    const all = this.#folder.instances().toReversed();
    const rest = before === null ? all : all.filter((instance) => instance < before);
    const page = rest.slice(0, limit);
    const instances = page.flatMap((instance) => this.#summary(instance) ?? []);
    return { instances, next: rest.length > limit ? (page.at(-1) ?? null) : null };
  }

  /** Null where it cannot be read, or was purged just now: that keeps none of the others from being told. */
  #summary(instance: string): InstanceSummary | null {
    try {
      using journal = this.#folder.open(instance, true);
      const { template, namespace, state, headline, createdAt, endedAt } = journal.run;
      const running = this.#isActive(instance, state);
      return { instance, template, namespace, state, running, objects: journal.size, headline, createdAt, endedAt };
    } catch {
      return null;
    }
  }

  /** By its id or the beginning of it. Throws a Refusal with 404. */
  report(name: string): Report & { readonly running: boolean } {
    using journal = this.open(name, true);
    const { run, items } = journal;
    return { ...run, running: this.#isActive(run.instance, run.state), objects: items };
  }

  open(name: string, readOnly = false): Journal {
    const wanted = name.toLowerCase();
    const [found, second] = this.#folder.instances().filter((instance) => instance.startsWith(wanted));
    if (found === undefined) throw notFound(`there is no instance ${name}`);
    if (second !== undefined) throw new Refusal(409, ambiguous(name));
    return this.#folder.open(found, readOnly);
  }

  isActive(instance: string): boolean {
    return this.#worker.has(instance) || this.#folder.isRunning(instance);
  }

  /** Has it rolled back, retired or gone on with. Says so before it is done; nothing to do is done at once. */
  ask(name: string, action: Exclude<TaskAction, "work">): Accepted {
    using journal = this.open(name);
    const { run, lastEvent: event } = journal;
    const { instance, state } = run;
    if (this.isActive(instance)) {
      throw new TrawlerError("TRAWLER_BUSY", `instance ${instance} is at work; wait for its end, or cancel it`);
    }
    const step = stepOf(action, run, journal.sealed !== null);
    if (step.kind === "refused") throw new Refusal(409, { code: "TRAWLER_REFUSED", message: step.why });
    if (step.kind === "over") return { instance, state, begun: false, event, message: null };
    // Asked of what went on before.
    journal.requestCancel(false);
    this.#worker.accept({ instance, action });
    return { instance, state, begun: true, event, message: null };
  }

  /** Has a run stopped as a failure would. One that is over stays as it is; one that nobody works on is rolled back. */
  cancel(name: string): Accepted {
    using journal = this.open(name);
    const { instance, state } = journal.run;
    const event = journal.lastEvent;
    if (!this.isActive(instance)) {
      if (isOver(state)) return { instance, state, begun: false, event, message: null };
      this.#worker.accept({ instance, action: "rollback" });
      return { instance, state, begun: true, event, message: null };
    }
    journal.requestCancel();
    this.#worker.cancel(instance);
    return { instance, state, begun: true, event, message: null };
  }

  #isActive(instance: string, state: RunState): boolean {
    return this.#worker.has(instance) || (!isOver(state) && this.#folder.isRunning(instance));
  }
}

function ambiguous(name: string): { readonly code: string; readonly message: string } {
  return { code: "TRAWLER_CONFIG_INVALID", message: `several instances begin with ${name}: name more of it` };
}
