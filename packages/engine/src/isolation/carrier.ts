import type { Logger } from "@trawler/plugin-api";
import type { FromThread, ThreadData, ToThread } from "./protocol.ts";

/** One life of the other side of an isolated crawler: a thread of its own, or its part of a process. */
export interface Carrier {
  send(message: ToThread): void;
  /** Ends it at once, whatever it does. */
  terminate(): Promise<void>;
}

/** What the host's side hears. */
export interface CarrierEvents {
  message(message: FromThread): void;
  /** It failed, or was ended; null = through no fault of this crawler's, so that the next call may start another at once. */
  ended(why: string | null): void;
}

/** Starts one. */
export type Carry = (data: ThreadData, events: CarrierEvents, log: Logger) => Carrier;
