import type { RecordState } from "../fold/state.ts";

/** A record as the store has it. */
export interface Stored {
  readonly id: number;
  readonly state: RecordState;
}

/** A record that a batch has asked for. */
export interface Held {
  /** Row id; null while it is new. */
  id: number | null;
  state: RecordState;
  /** The latest object, kept packed with the record; undefined = as it was. */
  object?: Uint8Array;
  dirty: boolean;
  /** Whether it has ended as it is stored. */
  readonly ended: boolean;
}

/** What the store says where the batch has not said another thing. */
export interface RecordSource {
  /** The latest record of a UID, or null. Asked once for each. */
  load(kind: string, uid: string): Stored | null;
  /** UIDs of live records under a name. */
  named(kind: string, namespace: string | null, name: string): Iterable<string>;
  /** Whether there is any record of a node, live or gone. */
  hasNode(name: string): boolean;
}

/** The records that one batch touches: read once, and changed in memory in the order of the events. */
export interface Records {
  /** The latest record of a UID, or null. */
  get(kind: string, uid: string): RecordState | null;
  /** Sets it; `fresh` begins another record of the same UID. */
  set(state: RecordState, object?: Uint8Array, fresh?: boolean): void;
  /** Live records under a name. */
  named(kind: string, namespace: string | null, name: string): readonly RecordState[];
  /** Whether a node's record has ended, and no other of that name lives. */
  isNodeGone(name: string): boolean;
}

export interface RecordMemory extends Records {
  /** Those that are to be written, in the order in which they were first asked for. */
  changed(): readonly Held[];
}

export function createMemory(source: RecordSource): RecordMemory {
  const current = new Map<string, Held | null>();
  const all: Held[] = [];
  const names = new Map<string, Set<string>>();

  const held = (kind: string, uid: string): Held | null => {
    const key = `${kind}/${uid}`;
    const known = current.get(key);
    if (known !== undefined) return known;
    const stored = source.load(kind, uid);
    const found: Held | null = stored && { ...stored, dirty: false, ended: stored.state.end !== null };
    current.set(key, found);
    if (found !== null) all.push(found);
    return found;
  };

  const memory: RecordMemory = {
    get: (kind, uid) => held(kind, uid)?.state ?? null,
    set: (state, object, fresh = false) => {
      let place = held(state.kind, state.uid);
      if (place === null || fresh) {
        place = { id: null, state, dirty: true, ended: false };
        current.set(`${state.kind}/${state.uid}`, place);
        all.push(place);
      }
      place.state = state;
      place.dirty = true;
      if (object !== undefined) place.object = object;
      const name = nameKey(state.kind, state.namespace, state.name);
      names.set(name, (names.get(name) ?? new Set()).add(state.uid));
    },
    named: (kind, namespace, name) => {
      const uids = new Set(names.get(nameKey(kind, namespace, name)));
      for (const uid of source.named(kind, namespace, name)) uids.add(uid);
      return [...uids].flatMap((uid) => {
        const state = held(kind, uid)?.state;
        const lives = state !== undefined && state.end === null;
        return lives && state.name === name && state.namespace === namespace ? [state] : [];
      });
    },
    isNodeGone: (name) => {
      if (memory.named("Node", null, name).length > 0) return false;
      return (names.get(nameKey("Node", null, name))?.size ?? 0) > 0 || source.hasNode(name);
    },
    changed: () => all.filter(({ dirty }) => dirty),
  };
  return memory;
}

export function nameKey(kind: string, namespace: string | null, name: string): string {
  return `${kind}/${namespace ?? ""}/${name}`;
}
