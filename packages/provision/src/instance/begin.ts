import type { Clock } from "@trawler/plugin-api";
import { marked } from "../cluster/marks.ts";
import type { JournalFolder } from "../journal/folder.ts";
import { newInstance } from "../journal/instance.ts";
import { Journal } from "../journal/journal.ts";
import type { Item, Run, RunSettings } from "../journal/record.ts";
import type { Preflight } from "../preflight/types.ts";
import { redactor } from "../template/redact.ts";
import { secretTexts } from "../template/secret-texts.ts";
import type { ProcessedTemplate } from "../template/types.ts";
import { awaitedIn } from "../wait/awaited.ts";

export interface BeginOptions {
  readonly folder: JournalFolder;
  readonly template: ProcessedTemplate;
  readonly preflight: Preflight;
  readonly namespace: string | null;
  readonly server: string;
  readonly settings: RunSettings;
  readonly clock: Clock;
  /** Its id, where it was chosen before. Default: a new one. */
  readonly instance?: string;
}

export interface Begun extends Disposable {
  readonly journal: Journal;
  readonly instance: string;
}

/** Writes down what a run is about to do. Nothing was created when this returns; from now on it can be resumed. */
export function begin(options: BeginOptions): Begun {
  const { folder, template, preflight, namespace, server, settings, clock } = options;
  const now = clock.now();
  const instance = options.instance ?? newInstance(now);
  const secrets = secretTexts(template);
  const redact = redactor(secrets);
  const warnings = preflight.findings.map(({ message }) => redact(message));
  const run: Run = {
    instance,
    template: template.template.name,
    digest: template.template.digest,
    namespace,
    server,
    createdAt: new Date(now).toISOString(),
    endedAt: null,
    state: "PENDING",
    settings,
    headline: null,
    rollback: "notNeeded",
    ready: null,
    leftovers: [],
    evidence: [],
    warnings: preflight.objects.length === 0 ? [...warnings, "the template has no objects"] : warnings,
  };
  const awaited = awaitedIn(
    template.mode,
    preflight.objects.map(({ body }) => body),
  );
  const items = preflight.objects.map(
    ({ index, path, type, deferred, namespace: place, name, generateName, wave, existing, uid, body }): Item => ({
      index,
      path,
      type,
      deferred,
      namespace: place,
      name,
      generateName,
      wave,
      status: existing ? "existing" : "planned",
      uid,
      resourceVersion: null,
      awaited: awaited(body),
      ready: null,
      error: null,
      attempts: 0,
      uncertain: false,
      startedAt: null,
      endedAt: null,
    }),
  );
  const requests = preflight.objects.map(({ index, namespace: place, body }) =>
    JSON.stringify(marked(body, place, { instance, index, template: run.template, digest: run.digest })),
  );
  const lock = folder.lock(instance);
  const journal = Journal.create(folder.path, run, items, { requests, secrets, message: template.message });
  return {
    journal,
    instance,
    [Symbol.dispose]: () => {
      journal[Symbol.dispose]();
      lock?.[Symbol.dispose]();
    },
  };
}
