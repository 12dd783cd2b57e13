import type { Logger, Mode, ModePlugin, Workload, WorkloadEvent } from "@trawler/plugin-api";
import { optedOut } from "./annotation.ts";
import type { Runs, SubjectTrack } from "./track.ts";

/** A workload that was seen, with its subjects, or the reason why it has none. */
export interface Seen {
  readonly workload: Workload;
  readonly tracks: ReadonlyMap<string, SubjectTrack>;
  readonly skipped: string | null;
}

/** Ids of subjects that have ended, so that a late event begins nothing anew. */
const MAX_ENDED = 10_000;

/** Of a subject that has ended, or that is left out for now. */
interface Ended {
  readonly startedAt: string | null;
  /** Left out: it may begin again at any time. */
  readonly resumes: boolean;
  readonly runs: Runs;
}

/** Turns an environment's events into subjects and keeps both until they have gone. */
export class Registry {
  readonly #mode: Mode;
  readonly #plugin: ModePlugin;
  readonly #log: Logger;
  readonly #create: (workload: Workload, runs?: Runs) => SubjectTrack;
  readonly #seen: Map<string, Seen> = new Map();
  readonly #ended: Map<string, Ended> = new Map();
  /** Subjects that have gone but still write their last frame. */
  readonly #closing: Set<Promise<void>> = new Set();
  #reported: Set<string> | null = null;
  #ready = false;

  constructor(mode: Mode, plugin: ModePlugin, log: Logger, create: (workload: Workload, runs?: Runs) => SubjectTrack) {
    this.#mode = mode;
    this.#plugin = plugin;
    this.#log = log;
    this.#create = create;
  }

  /** The first discovery has reported all that was there. */
  get ready(): boolean {
    return this.#ready;
  }

  tracks(): readonly SubjectTrack[] {
    return Array.from(this.#seen.values(), ({ tracks }) => [...tracks.values()]).flat();
  }

  /** Closes every subject; resolves once all that was held back has been written. */
  async close(): Promise<void> {
    await Promise.all([...this.tracks().map((track) => track.close()), ...this.#closing]);
  }

  /** The newest workload or subject of this name or id. */
  find(name: string): { readonly seen: Seen; readonly track: SubjectTrack | null } | null {
    let found: { readonly seen: Seen; readonly track: SubjectTrack | null } | null = null;
    for (const seen of this.#seen.values()) {
      if (seen.workload.name === name || seen.workload.id === name) {
        found = { seen, track: seen.tracks.values().next().value ?? null };
      }
      for (const track of seen.tracks.values()) {
        if (track.workload.name === name || track.workload.id === name) found = { seen, track };
      }
    }
    return found;
  }

  /** A discovery begins: what it does not report until `synced` has gone. */
  begin(): void {
    this.#reported = new Set();
  }

  handle(event: WorkloadEvent): void {
    switch (event.type) {
      case "synced":
        this.#synced();
        return;
      case "removed":
        if (event.unselected === true) this.#unselect(event.workload.id);
        else this.#remove(event.workload);
        return;
      default:
        this.#reported?.add(event.workload.id);
        this.#observe(event.workload);
    }
  }

  #synced(): void {
    const reported = this.#reported;
    this.#reported = null;
    this.#ready = true;
    if (!reported) return;
    for (const [id, { workload }] of this.#seen) if (!reported.has(id)) this.#remove(workload);
  }

  #observe(workload: Workload): void {
    const before = this.#seen.get(workload.id);
    const skipped = this.#reasonToSkip(workload);
    const tracks = new Map<string, SubjectTrack>();
    const subjects = skipped === null ? this.#subjects(workload) : [];
    for (const subject of subjects) {
      const known = this.#current(before?.tracks.get(subject.id), subject);
      const track = known ?? this.#begin(subject);
      if (track) tracks.set(subject.id, track);
      if (track && track.phase !== "ended") track.observe(subject);
    }
    for (const [id, track] of before?.tracks ?? []) {
      if (tracks.has(id)) continue;
      if (skipped === null) this.#end(track, track.workload);
      else this.#pause(track);
    }
    this.#seen.set(workload.id, { workload, tracks, skipped });
  }

  /** The subject's track, unless it is that of a run that has ended. */
  #current(track: SubjectTrack | undefined, subject: Workload): SubjectTrack | undefined {
    if (track?.phase !== "ended" || !runsAnew(subject, startOf(track.workload))) return track;
    this.#end(track, track.workload);
    return undefined;
  }

  #begin(subject: Workload): SubjectTrack | null {
    const ended = this.#ended.get(subject.id);
    if (ended && !ended.resumes && !runsAnew(subject, ended.startedAt)) return null;
    this.#ended.delete(subject.id);
    const track = this.#create(subject, ended?.runs);
    // What ended before the agent first looked is nobody's news; later, its events were only missed.
    if (subject.lifecycle === "ended" && !this.#ready) track.dismiss();
    return track;
  }

  #remove(workload: Workload): void {
    const seen = this.#seen.get(workload.id);
    if (!seen) return;
    this.#seen.delete(workload.id);
    const last = new Map(this.#subjects(workload).map((subject) => [subject.id, subject]));
    for (const [id, track] of seen.tracks) this.#end(track, last.get(id) ?? track.workload);
  }

  #unselect(id: string): void {
    for (const track of this.#seen.get(id)?.tracks.values() ?? []) this.#pause(track);
    this.#seen.delete(id);
  }

  /** What lives on and is not wanted now writes no end, and goes on with its numbers where it is wanted again. */
  #pause(track: SubjectTrack): void {
    const { phase, workload: last } = track;
    const resumes = last.lifecycle !== "ended" && phase !== "ending" && phase !== "ended";
    this.#forget(track);
    this.#remember(track, last, resumes);
  }

  #end(track: SubjectTrack, workload: Workload): void {
    track.remove(workload);
    this.#forget(track);
    this.#remember(track, workload, false);
  }

  #remember({ runs }: SubjectTrack, workload: Workload, resumes: boolean): void {
    this.#ended.set(workload.id, { startedAt: startOf(workload), resumes, runs });
    const [oldest] = this.#ended.keys();
    if (this.#ended.size > MAX_ENDED && oldest !== undefined) this.#ended.delete(oldest);
  }

  #forget(track: SubjectTrack): void {
    const closing = track.close().finally(() => this.#closing.delete(closing));
    this.#closing.add(closing);
  }

  #reasonToSkip({ kind, annotations }: Workload): string | null {
    if (!this.#plugin.accepts.includes(kind)) return `mode ${this.#plugin.name} takes no workload of kind ${kind}`;
    return optedOut(annotations) ? 'annotation trawler.dev/crawl is "false"' : null;
  }

  #subjects(workload: Workload): readonly Workload[] {
    try {
      return this.#mode.subjects?.(workload) ?? [workload];
    } catch (error) {
      this.#log.error({ workload: workload.name, error: String(error) }, "the mode found no subjects in a workload");
      return [];
    }
  }
}

/** A container that was stopped can be started again under its id; a pod that has ended never runs again. */
function runsAnew(subject: Workload, last: string | null): boolean {
  const startedAt = startOf(subject);
  if (subject.kind !== "container" || subject.lifecycle !== "running" || startedAt === null) return false;
  return last === null || Date.parse(startedAt) > Date.parse(last);
}

function startOf({ containers }: Workload): string | null {
  return containers[0]?.state.startedAt ?? null;
}
