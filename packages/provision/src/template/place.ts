import type { FaultCode } from "./types.ts";

export type Path = readonly (string | number)[];

/** A place in a text, from 1. */
export interface Place {
  readonly line: number;
  readonly column: number;
}

export interface TextFault {
  readonly code: FaultCode;
  readonly message: string;
  readonly path: Path;
  readonly place: Place | null;
}
