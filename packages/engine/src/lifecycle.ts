import type { FrameReason, Workload } from "@trawler/plugin-api";
import { isRunning, significantOf } from "./significant.ts";

/** Milliseconds that the first frame waits for metadata from the API. */
const HOLD_STARTED = 500;
/** Milliseconds that the last frame waits for the API's final state. */
const HOLD_ENDED = 2000;
/** Milliseconds from a change to its frame, and at least between two of them. */
const DEBOUNCE = 1000;

export type Phase = "waiting" | "starting" | "running" | "ending" | "ended";

/**
 * Decides when one subject's frames other than `interval` are due, from the workload values that an environment
 * reports. Promises: `started` at most once and first, `ended` at most once and last, `changed` in between and at most
 * one a second. It only asks for frames (`write`); who answers makes them in the order of asking.
 */
export class Lifecycle {
  readonly #write: (reason: FrameReason) => void;
  #workload: Workload;
  #phase: Phase = "waiting";
  #removed = false;
  #held: NodeJS.Timeout | undefined;
  #holdOver = false;
  #change: NodeJS.Timeout | undefined;
  #told = "";
  #toldComplete = false;

  constructor(workload: Workload, write: (reason: FrameReason) => void) {
    this.#workload = workload;
    this.#write = write;
  }

  get phase(): Phase {
    return this.#phase;
  }

  /** Whether it gets `interval` frames. */
  get isRunning(): boolean {
    return this.#phase === "running";
  }

  observe(workload: Workload): void {
    this.#workload = workload;
    this.#advance();
  }

  /** The workload's record has gone: nothing more will be known. */
  remove(workload: Workload): void {
    this.#workload = workload;
    this.#removed = true;
    this.#advance();
  }

  /** Ends without frames: what ended before anyone looked is not reported. */
  dismiss(): void {
    this.#enter("ended");
  }

  /** Asks at once for the frames that are held back, and for nothing from then on. */
  close(): void {
    for (const phase of ["starting", "ending"]) {
      this.#holdOver = true;
      if (this.#phase === phase) this.#advance();
    }
    this.#enter("ended");
  }

  #advance(): void {
    for (let before: Phase | null = null; before !== this.#phase; ) {
      before = this.#phase;
      this.#step();
    }
  }

  #step(): void {
    const workload = this.#workload;
    const over = this.#removed || workload.lifecycle === "ended";
    switch (this.#phase) {
      case "waiting":
        if (hasStarted(workload)) this.#hold("starting", HOLD_STARTED);
        else if (workload.lifecycle === "ended") this.#hold("ending", HOLD_ENDED);
        else if (this.#removed) this.#enter("ended");
        return;
      case "starting":
        if (!workload.metadata.complete && !this.#removed && !this.#holdOver) return;
        this.#enter("running");
        this.#tell("started");
        return;
      case "running":
        if (over) this.#hold("ending", HOLD_ENDED);
        else this.#noticeChange();
        return;
      case "ending":
        if (!isFinal(workload) && !this.#removed && !this.#holdOver) return;
        this.#enter("ended");
        this.#write("ended");
        return;
      case "ended":
        return;
    }
  }

  #enter(phase: Phase): void {
    this.#phase = phase;
    this.#holdOver = false;
    clearTimeout(this.#held);
    clearTimeout(this.#change);
    this.#change = undefined;
  }

  #hold(phase: Phase, ms: number): void {
    this.#enter(phase);
    this.#held = setTimeout(() => {
      this.#holdOver = true;
      this.#advance();
    }, ms);
  }

  #noticeChange(): void {
    if (this.#change || !this.#differs()) return;
    this.#change = setTimeout(() => {
      this.#change = undefined;
      if (this.#differs()) this.#tell("changed");
    }, DEBOUNCE);
  }

  /** Different from what the last `started` or `changed` told, or complete again where that was not. */
  #differs(): boolean {
    const { metadata } = this.#workload;
    if (!metadata.complete) this.#toldComplete = false;
    return (metadata.complete && !this.#toldComplete) || significantOf(this.#workload) !== this.#told;
  }

  #tell(reason: "started" | "changed"): void {
    this.#told = significantOf(this.#workload);
    this.#toldComplete = this.#workload.metadata.complete;
    this.#write(reason);
  }
}

/** Something of it has run. A host has no containers: it runs as long as it is there. */
function hasStarted({ containers, lifecycle }: Workload): boolean {
  if (containers.length === 0) return lifecycle === "running";
  return containers.some(({ state: { status } }) => isRunning(status) || status === "terminated");
}

/** Nothing more is to be learnt: kinds that the API has no record of, or a terminal phase from a complete source. */
function isFinal({ kind, status, metadata }: Workload): boolean {
  if (kind !== "pod" || status === null) return true;
  return metadata.complete && (status.phase === "Succeeded" || status.phase === "Failed");
}
