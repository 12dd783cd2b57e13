import { existsSync } from "node:fs";
import { join } from "node:path";
import { parseDuration } from "@trawler/config";
import { type InventoryQuery, openAnyReader, STORE_FILE, type StoreReader, storedSkew } from "@trawler/inventory";
import { isRecord } from "@trawler/kube";
import { TrawlerError } from "@trawler/plugin-api";
import { COLOURS, type Paint, PLAIN } from "../../plan.ts";
import type { World } from "../../world.ts";
import type { CommonOptions } from "../common.ts";
import { ago, clean, formatCsv, formatGaps, formatSkew, formatTable, grid } from "./format.ts";
import { unknownNow, unknownOf } from "./known.ts";
import { type InventorySettings, inventorySettings } from "./settings.ts";
import { askCollector } from "./socket.ts";

export interface QueryOptions extends CommonOptions {
  readonly at?: string;
  readonly between?: readonly string[];
  readonly kind: string;
  readonly node?: string;
  readonly namespace?: string;
  readonly name?: string;
  readonly deleted?: boolean;
  readonly owner?: string;
  readonly limit?: string;
  readonly after?: string;
  readonly output: "table" | "json" | "csv";
}

/** `trawl inventory query`. 0, also where nothing is found. */
export async function inventoryQuery(options: QueryOptions, world: World): Promise<number> {
  const query = queryOf(options, world.clock.now());
  const { reader, settings } = await openInventory(options, world);
  await using store = reader;
  const found = await store.query(query);
  const now = world.clock.now();
  const unknown = unknownOf(query, await unknownNow(store, settings, now), now);
  const answer = { ...found, complete: found.complete && unknown === null, unknown };
  const text =
    options.output === "json"
      ? `${JSON.stringify(answer, null, 2)}\n`
      : options.output === "csv"
        ? formatCsv(answer, now)
        : formatTable(answer, now, paint(world));
  await world.stdout.write(text);
  return 0;
}

/** The question that the options ask. Throws TRAWLER_CONFIG_INVALID for what they cannot mean. */
export function queryOf(options: Omit<QueryOptions, keyof CommonOptions>, now: number): InventoryQuery {
  const { at, between, kind, node, namespace, name, deleted, owner, limit, after } = options;
  if (at !== undefined && between !== undefined) throw usage("--at and --between cannot be combined");
  const times = at === undefined ? between?.map((text) => timeOf(text, now)) : [timeOf(at, now), timeOf(at, now)];
  const [from, to] = times ?? [];
  if (times !== undefined && (from === undefined || to === undefined || to < from)) {
    throw usage("--between takes two times, the earlier one first");
  }
  return {
    kind,
    ...(from === undefined || to === undefined ? {} : { between: [from, to] }),
    ...(node === undefined ? {} : { node }),
    ...(namespace === undefined ? {} : { namespace }),
    ...(name === undefined ? {} : { name }),
    ...(deleted === true ? { deleted: true } : {}),
    ...(owner === undefined ? {} : { owner: ownerOf(owner) }),
    ...(limit === undefined ? {} : { limit: countOf("--limit", limit) }),
    ...(after === undefined ? {} : { after: countOf("--after", after) }),
  };
}

/** `2026-11-30T12:00:00Z`, `now`, or how long ago: `90s`, `10m`, `2h`. */
function timeOf(text: string, now: number): number {
  if (text === "now") return now;
  const span = parseDuration(text);
  if (span !== null) return now - span;
  const time = /^\d{4}-\d{2}-\d{2}/.test(text) ? Date.parse(text) : Number.NaN;
  if (Number.isNaN(time))
    throw usage(`${text} is no time: write 2026-11-30T12:00:00Z, now, or 10m for ten minutes ago`);
  return time;
}

function ownerOf(text: string): { kind: string; name: string } {
  const [kind = "", name = "", ...rest] = text.split("/");
  if (kind === "" || name === "" || rest.length > 0)
    throw usage(`--owner ${text}: write KIND/NAME, such as Job/nightly`);
  return { kind, name };
}

function countOf(option: string, text: string): number {
  const count = Number(text);
  if (!Number.isSafeInteger(count) || count < 1) throw usage(`${option} takes a whole number of at least 1`);
  return count;
}

/** `trawl inventory gaps`. */
export async function inventoryGaps(
  options: CommonOptions & { readonly output: "table" | "json" },
  world: World,
): Promise<number> {
  const { reader, settings } = await openInventory(options, world);
  await using store = reader;
  const gaps = await store.gaps();
  if (options.output === "json") {
    await world.stdout.write(`${JSON.stringify(gaps, null, 2)}\n`);
    return 0;
  }
  const now = world.clock.now();
  const unknown = await unknownNow(store, settings, now);
  await world.stdout.write(formatGaps(gaps, unknown, now, paint(world)));
  return 0;
}

/** `trawl inventory changes`: one JSON line a record, in commit order. 1 for a cursor that has expired. */
export async function inventoryChanges(
  options: CommonOptions & { readonly since?: string; readonly limit?: string },
  world: World,
): Promise<number> {
  const limit = options.limit === undefined ? 1_000 : countOf("--limit", options.limit);
  const { reader } = await openInventory(options, world);
  await using store = reader;
  const { entries } = await store.feed(options.since ?? null, limit);
  await world.stdout.write(entries.map((entry) => `${JSON.stringify(entry)}\n`).join(""));
  return 0;
}

/** `trawl inventory status`: the store, and the collector where one runs here. 1 where it is not ready. */
export async function inventoryStatus(
  options: CommonOptions & { readonly output: "table" | "json" },
  world: World,
): Promise<number> {
  const { reader, settings } = await openInventory(options, world);
  await using store = reader;
  const stored = await store.status();
  const answer = await askCollector(settings.folder, "GET", "/v1/status");
  const running = answer !== null && isRecord(answer.body) ? answer.body : null;
  const unready = running === null ? "no collector runs here" : running["unready"];
  const skew = await storedSkew(settings.folder);
  if (options.output === "json") {
    await world.stdout.write(`${JSON.stringify({ store: stored, collector: running, clockSkew: skew }, null, 2)}\n`);
  } else {
    const { strong, faint } = paint(world);
    const ready = unready === null;
    const kinds = running !== null && Array.isArray(running["kinds"]) ? running["kinds"].filter(isRecord) : [];
    const states = new Map(kinds.map((kind) => [kind["stream"], String(kind["reason"] ?? kind["state"])]));
    const rows = stored.positions.map(({ stream, resourceVersion, epoch, asOf }) => [
      stream,
      states.get(stream) ?? "-",
      resourceVersion,
      String(epoch),
      `${ago(world.clock.now() - asOf)} ago`,
    ]);
    const lines = [
      `${strong(`cluster ${clean(stored.cluster)}`)}: ${ready ? "ready" : `not ready, ${clean(String(unready))}`}`,
      `${stored.live} live, ${stored.deleted} gone, ${stored.gaps} gaps, ${stored.staleIgnored} stale events ignored, ${stored.quarantined} set aside`,
      ...(running === null ? [] : [faint(`${String(running["depth"])} events wait for the store`)]),
      ...(skew === null ? [] : [faint(formatSkew(skew))]),
      "",
    ];
    await world.stdout.write(
      `${lines.join("\n")}${grid(["STREAM", "STATE", "VERSION", "EPOCH", "KNOWN UP TO"], rows, strong)}`,
    );
  }
  return unready === null ? 0 : 1;
}

/** Requests of one refresh that run at once. */
const AT_ONCE = 8;

/** `trawl inventory refresh KIND/NS/NAME...`: the running collector reads the objects anew. 1 where one could not be. */
export async function inventoryRefresh(
  texts: readonly string[],
  options: CommonOptions,
  world: World,
): Promise<number> {
  const queries = texts.map(refreshQuery);
  const settings = await inventorySettings(options, world);
  let code = 0;
  for (let at = 0; at < queries.length; at += AT_ONCE) {
    const some = queries.slice(at, at + AT_ONCE);
    const answers = await Promise.all(
      some.map((query) => askCollector(settings.folder, "POST", `/v1/refresh?${query}`)),
    );
    for (const answer of answers) {
      if (answer === null) {
        throw new TrawlerError(
          "TRAWLER_UNAVAILABLE",
          `no collector runs with folder ${settings.folder}; start one with trawl inventory run, and ask with the same --config`,
        );
      }
      const body = isRecord(answer.body) ? answer.body : {};
      // One that failed does not keep the others from being told.
      if (answer.status !== 200 && texts.length === 1) {
        throw new TrawlerError("TRAWLER_UNAVAILABLE", String(body["message"]));
      }
      if (answer.status !== 200) code = 1;
      const uid = clean(String(body["uid"]));
      await (answer.status === 200
        ? world.stdout.write(`${uid} is up to date: trawl inventory show ${uid}\n`)
        : world.stderr.write(`${clean(String(body["message"]))}\n`));
    }
  }
  return code;
}

function refreshQuery(text: string): URLSearchParams {
  const [kind = "", ...names] = text.split("/");
  const name = names.at(-1) ?? "";
  if (kind === "" || name === "" || names.length > 2) {
    throw usage(`${text}: write KIND/NAMESPACE/NAME such as Pod/shop/cart-0, or KIND/NAME`);
  }
  const query = new URLSearchParams({ kind, name });
  if (names.length === 2) query.set("namespace", names[0] ?? "");
  return query;
}

/** `trawl inventory purge --dry-run`: what the retention would take away now. */
export async function inventoryPurge(
  options: CommonOptions & { readonly dryRun?: boolean },
  world: World,
): Promise<number> {
  if (options.dryRun !== true) {
    throw usage("the collector purges by itself, as retention says; see what it would take away with --dry-run");
  }
  const { reader, settings } = await openInventory(options, world);
  await using store = reader;
  const count = await store.purgeable(settings.retention, world.clock.now());
  const { days, rows } = settings.retention;
  await world.stdout.write(`${count} records of gone objects are older than ${days} days or beyond ${rows} rows.\n`);
  return 0;
}

export async function openInventory(
  options: CommonOptions,
  world: World,
): Promise<{ readonly reader: StoreReader; readonly settings: InventorySettings }> {
  const settings = await inventorySettings(options, world);
  if (settings.postgresql !== null) return { reader: await openAnyReader(settings.postgresql), settings };
  const file = join(settings.folder, STORE_FILE);
  if (!existsSync(file)) {
    throw new TrawlerError(
      "TRAWLER_UNAVAILABLE",
      `there is no inventory in ${settings.folder}: start one with trawl inventory run, or name its folder: --set state.folder=/path`,
    );
  }
  return { reader: await openAnyReader(file), settings };
}

export function paint({ stdout }: World): Paint {
  return stdout.colours ? COLOURS : PLAIN;
}

function usage(message: string): TrawlerError {
  return new TrawlerError("TRAWLER_CONFIG_INVALID", message);
}
