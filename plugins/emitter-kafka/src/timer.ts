/// <reference path="./kafkajs-internals.d.ts" />
import Queue from "kafkajs/src/network/requestQueue/index.js";

/** What of kafkajs' request queue the mend touches. */
interface RequestQueue {
  readonly pending: readonly unknown[];
  readonly throttledUntil: number;
  throttleCheckTimeoutId: NodeJS.Timeout | null;
  checkPendingRequests(): void;
}

/** kafkajs checks its pending requests this often while it is not throttled (its own figure), milliseconds. */
const CHECK_INTERVAL = 10;

/**
 * Mends a fault of kafkajs 2.2.4: with nothing pending, its queue sets a timer at `throttledUntil − now`, which is
 * negative whenever the broker does not throttle; Node warns each time and fires at once. The replacement sets no timer
 * for an empty queue and never a negative one. Safe to call more than once.
 */
export function mendNegativeTimer(): void {
  Object.assign(Queue.prototype, { scheduleCheckPendingRequests });
}

/** Exported for its test. */
export function scheduleCheckPendingRequests(this: RequestQueue): void {
  if (this.pending.length === 0 || this.throttleCheckTimeoutId) return;
  const delay = Math.max(this.throttledUntil - Date.now(), CHECK_INTERVAL);
  this.throttleCheckTimeoutId = setTimeout(() => {
    this.throttleCheckTimeoutId = null;
    this.checkPendingRequests();
  }, delay);
}
