import {
  controllerOf,
  createPodIndex,
  type DownwardItem,
  type JoinInput,
  joinPod,
  type OwnerFacts,
  type PodIndex,
  type PodRecord,
  podKey,
  type RuntimePod,
  type SeenRecord,
  sameWorkload,
} from "@trawler/kube";
import type { Workload } from "@trawler/plugin-api";
import type { EventQueue } from "./queue.ts";
import type { Select } from "./select.ts";

/** What is known of one pod. Keyed as the runtime does: by UID, a static pod by its manifest's hash. */
interface Entry {
  readonly namespace: string;
  readonly name: string;
  runtime: RuntimePod | null;
  downward: JoinInput["downward"];
  /** As joined last, before anything was left out. */
  joined: Workload | null;
}

export interface TableOptions {
  readonly cluster: string;
  readonly node: string;
  readonly select: Select;
  readonly queue: EventQueue;
  /** Null where no API server is asked. */
  readonly owner: ((record: PodRecord) => OwnerFacts) | null;
  readonly away: JoinInput["apiAway"];
}

/**
 * All pods of the node with what each source says of them. A source tells it, it joins anew and queues what changed. The
 * runtime decides which pods there are; a pod that only the API has is waiting, or never ran here.
 */
export class PodTable {
  readonly #options: TableOptions;
  readonly #entries = new Map<string, Entry>();
  readonly #api: PodIndex = createPodIndex();
  #kubelet: PodIndex = createPodIndex();
  #away: JoinInput["apiAway"];
  #runtimeSynced = false;
  #runtimeAway = false;
  #apiSynced = false;

  constructor(options: TableOptions) {
    this.#options = options;
    this.#away = options.away;
  }

  get size(): number {
    return this.#entries.size;
  }

  /** Pods that the API server has shown. */
  get declared(): number {
    return this.#api.size;
  }

  /** The API server's state is not current; null = it is again. */
  setAway(away: JoinInput["apiAway"]): void {
    this.#away = away;
    if (away === null) this.#apiSynced = true;
    this.refresh();
  }

  refresh(): void {
    for (const [key, entry] of this.#entries) this.#join(key, entry);
  }

  setRuntime(pod: RuntimePod): void {
    const entry = this.#entry(pod.uid, pod);
    entry.runtime = pod;
    this.#join(pod.uid, entry);
  }

  /** The runtime has nothing of the pod any more. */
  runtimeGone(pod: RuntimePod): void {
    const entry = this.#entries.get(pod.uid);
    if (entry === undefined) return;
    entry.runtime = null;
    const record = this.#find(this.#api, pod.uid, entry);
    // With the API away nobody will say that its record has gone: the runtime's word is the last.
    if (record === null || record.deleted === true || this.#away !== null) this.#drop(pod.uid, entry);
    else this.#join(pod.uid, entry);
  }

  /** Whether what the runtime said last is all that is known of what runs. */
  setRuntimeAway(away: boolean): void {
    if (this.#runtimeAway === away) return;
    this.#runtimeAway = away;
    this.refresh();
  }

  /** The runtime has told all its pods: from now on pods that it lacks are pods that it lacks. */
  runtimeSynced(): void {
    if (this.#runtimeSynced) return;
    this.#runtimeSynced = true;
    this.refresh();
  }

  /** `silent`: a runtime view that was made of the same record follows, and the two belong together. */
  apiRecord(record: PodRecord, observedAt: number, silent = false): void {
    this.#api.put(record, observedAt);
    if (silent) return;
    const key = podKey(record);
    const known = this.#entries.get(key);
    // Long ended when we began to look, and nothing of it left here: no news.
    const over = record.phase === "Succeeded" || record.phase === "Failed";
    if (known === undefined && over && this.#runtimeSynced && !this.#apiSynced) return;
    this.#join(key, known ?? this.#entry(key, record));
  }

  apiSynced(): void {
    this.#apiSynced = true;
    this.setAway(null);
  }

  apiDeleted(record: PodRecord, observedAt: number): void {
    const key = podKey(record);
    this.#api.deleted(record, observedAt);
    const entry = this.#entries.get(key);
    if (entry === undefined) this.#api.forget(record.uid);
    else if (entry.runtime === null) this.#drop(key, entry);
    else this.#join(key, entry);
  }

  kubeletRecord(record: PodRecord, observedAt: number): void {
    this.#kubelet.put(record, observedAt);
    const entry = this.#entries.get(podKey(record));
    if (entry !== undefined) this.#join(podKey(record), entry);
  }

  kubeletGone(uid: string): void {
    this.#kubelet.forget(uid);
  }

  /** Forgets what only counted while the API server was away. */
  clearSubstitutes(): void {
    this.#kubelet = createPodIndex();
    for (const entry of this.#entries.values()) entry.downward = null;
  }

  setDownward(key: string, downward: NonNullable<JoinInput["downward"]>): void {
    const entry = this.#entries.get(key);
    if (entry === undefined) return;
    entry.downward = downward;
    this.#join(key, entry);
  }

  ownerChanged(ownerUid: string): void {
    for (const [key, entry] of this.#entries) {
      const record = this.record(key);
      if (record !== null && controllerOf(record.owners)?.uid === ownerUid) this.#join(key, entry);
    }
  }

  /** The newest record of a pod, from whichever source. */
  record(key: string): PodRecord | null {
    const entry = this.#entries.get(key);
    if (entry === undefined) return null;
    return (this.#find(this.#api, key, entry) ?? this.#find(this.#kubelet, key, entry))?.record ?? null;
  }

  /** Pods that run, with the downward API items of their last known specification. */
  running(): readonly { readonly key: string; readonly items: readonly DownwardItem[] | null }[] {
    const keys = [...this.#entries].filter(([, { joined }]) => joined?.lifecycle === "running").map(([key]) => key);
    return keys.map((key) => ({ key, items: this.record(key)?.downward ?? null }));
  }

  /** Names of the environment that the pod's specification fills from its own fields. */
  environmentNames(key: string): ReadonlySet<string> {
    const containers = this.record(key)?.containers ?? [];
    return new Set(containers.flatMap(({ environment }) => Object.keys(environment)));
  }

  #entry(key: string, identity: { readonly namespace: string; readonly name: string }): Entry {
    const known = this.#entries.get(key);
    if (known !== undefined) return known;
    const { namespace, name } = identity;
    const entry: Entry = { namespace, name, runtime: null, downward: null, joined: null };
    this.#entries.set(key, entry);
    return entry;
  }

  #find(index: PodIndex, key: string, { namespace, name }: Entry): SeenRecord | null {
    return index.find({ uid: key, namespace, name });
  }

  #joined(key: string, entry: Entry): Workload | null {
    const { cluster, node, owner } = this.#options;
    const api = this.#find(this.#api, key, entry);
    const kubelet = this.#find(this.#kubelet, key, entry);
    const record = api?.record ?? kubelet?.record ?? null;
    return joinPod({
      cluster,
      node,
      runtime: entry.runtime,
      runtimeAway: this.#runtimeAway,
      api,
      apiAway: this.#away,
      kubelet,
      downward: entry.downward,
      owner: record === null || owner === null ? null : owner(record),
      previous: entry.joined,
    });
  }

  #join(key: string, entry: Entry): void {
    // Before the runtime has told its pods, one that only the API has may well run.
    if (entry.runtime === null && !this.#runtimeSynced) return;
    const workload = this.#joined(key, entry);
    if (workload === null) return;
    if (entry.joined !== null && sameWorkload(entry.joined, workload)) {
      entry.joined = workload;
      return;
    }
    entry.joined = workload;
    this.#queue(workload);
  }

  /** Tells the pod's end, then its removal. */
  #drop(key: string, entry: Entry): void {
    const last = this.#joined(key, entry) ?? entry.joined;
    if (last !== null) {
      if (last.lifecycle !== "ended" || entry.joined?.lifecycle !== "ended")
        this.#queue({ ...last, lifecycle: "ended" });
      this.#options.queue.remove(last.id);
    }
    const record = this.#find(this.#api, key, entry);
    if (record?.deleted === true) this.#api.forget(record.record.uid);
    this.#entries.delete(key);
  }

  #queue(workload: Workload): void {
    const { queue, select } = this.#options;
    const selected = select(workload);
    if (selected === null) queue.unselect(workload.id);
    else queue.put(selected);
  }
}
