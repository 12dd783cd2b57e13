import type { ReflectorHandler } from "./types.ts";

/** A handler whose faults are told apart from those of the network: they end the reflector instead of a watch. */
export function guardHandler<T>(
  handler: ReflectorHandler<T>,
  onFault: (error: unknown) => void,
): Required<ReflectorHandler<T>> {
  const guard =
    <A extends readonly unknown[]>(call: (...args: A) => void) =>
    (...args: A): void => {
      try {
        call(...args);
      } catch (error) {
        onFault(error);
      }
    };
  return {
    added: guard((value, observedAt, origin) => handler.added(value, observedAt, origin)),
    updated: guard((value, observedAt, previous, origin) => handler.updated(value, observedAt, previous, origin)),
    removed: guard((final, evidence) => handler.removed(final, evidence)),
    removedUnseen: guard((final, evidence) => handler.removedUnseen?.(final, evidence)),
    position: guard((resourceVersion, asOf) => handler.position?.(resourceVersion, asOf)),
    epoch: guard((epoch) => handler.epoch?.(epoch)),
    listed: guard((list) => handler.listed?.(list)),
    synced: guard(() => handler.synced?.()),
    away: guard((away) => handler.away?.(away)),
    back: guard(() => handler.back?.()),
  };
}
