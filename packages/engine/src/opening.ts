import { errorMessage, type Logger, type Mode, type Problem, type Subject, type Workload } from "@trawler/plugin-api";
import type { Guard } from "./guard.ts";
import { problemOf } from "./problem.ts";
import { isRunning, openingOf } from "./significant.ts";
import { settled } from "./wait.ts";

const OPEN_TIMEOUT = 5000;
const DISPOSE_TIMEOUT = 1000;

/** The mode's open subject of one workload: opened when first needed, updated when what it depends on has changed. */
export class Opening {
  readonly #mode: Mode;
  readonly #guard: Guard;
  readonly #log: Logger;
  readonly #hasMembers: boolean;
  #subject: Subject | null = null;
  #follows = "";
  /** The workload that it has been compared with. */
  #followed: Workload | null = null;

  /** `guard` may be shared by all subjects of a mode. */
  constructor(mode: Mode, guard: Guard, log: Logger, hasMembers: boolean) {
    this.#hasMembers = hasMembers;
    this.#mode = mode;
    this.#guard = guard;
    this.#log = log;
  }

  get current(): Subject | null {
    return this.#subject;
  }

  /** The open subject, or the reason why there is none. Throws only when `signal` aborts. */
  async open(workload: Workload, signal: AbortSignal): Promise<Subject | Problem> {
    await this.update(workload, signal);
    if (this.#subject) return this.#subject;
    const log = this.#log;
    try {
      this.#subject = await this.#guard.call(workload.id, OPEN_TIMEOUT, signal, async (deadline) => {
        const opened = await this.#mode.open(workload, { signal: deadline, log });
        // Nobody waits for it any more: close it here, or its descriptors would stay open.
        if (deadline.aborted) await opened[Symbol.asyncDispose]();
        return opened;
      });
      this.#follows = openingOf(workload);
      this.#followed = workload;
      return this.#subject;
    } catch (error) {
      if (signal.aborted) throw signal.reason;
      return problemOf(null, error);
    }
  }

  /** Follows a change; a subject that cannot follow is closed and opened anew at the next need. */
  async update(workload: Workload, signal: AbortSignal): Promise<void> {
    const subject = this.#subject;
    if (!subject) return;
    const lacksMember = this.#lacksMember(workload, subject);
    if (workload === this.#followed && !lacksMember) return;
    const wanted = openingOf(workload);
    if (wanted === this.#follows && !lacksMember) {
      this.#followed = workload;
      return;
    }
    try {
      await this.#guard.call(workload.id, OPEN_TIMEOUT, signal, (deadline) =>
        subject.update(workload, { signal: deadline, log: this.#log }),
      );
      this.#follows = wanted;
      this.#followed = workload;
    } catch (error) {
      if (signal.aborted) throw signal.reason;
      this.#log.debug({ workload: workload.name }, `the subject could not follow a change: ${errorMessage(error)}`);
      await this.close();
    }
  }

  /** A container that runs but could not be opened, as it had only just begun, is tried again. */
  #lacksMember({ containers }: Workload, { members }: Subject): boolean {
    if (!this.#hasMembers) return false;
    return containers.some(({ id, state: { status } }) => id !== null && isRunning(status) && !members.has(id));
  }

  async close(): Promise<void> {
    const subject = this.#subject;
    this.#subject = null;
    if (!subject) return;
    const closing = (async () => subject[Symbol.asyncDispose]())();
    if (!(await settled(closing, DISPOSE_TIMEOUT))) this.#log.warn({}, "a subject did not close in time");
  }
}
