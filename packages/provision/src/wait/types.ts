import type { ResourceType } from "../cluster/types.ts";

/** A running inventory of the same cluster. It reads the one object that it is asked for, never a list of all. */
export interface Inventory {
  /** Whether it follows objects of this kind. */
  follows(type: ResourceType): boolean;
  /**
   * Has it read one object anew and keep it. The uid that it has then; null where it sees none of that name. Throws
   * TRAWLER_UNAVAILABLE where it runs no more.
   */
  refresh(
    target: { readonly kind: string; readonly namespace: string | null; readonly name: string },
    signal: AbortSignal,
  ): Promise<string | null>;
}
