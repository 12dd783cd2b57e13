import { TrawlerError } from "@trawler/plugin-api";
import { type Accepted, type CreateRequest, newInstance, type RunSettings } from "@trawler/provision";
import type { World } from "../../world.ts";
import type { ApplyOptions } from "./apply.ts";
import { errorBody, failureOf, MANY_TRIES, type ServiceClient } from "./client.ts";
import { REFUSED } from "./cluster.ts";
import { followToEnd } from "./remote.ts";
import { openService, type ServiceOptions } from "./service.ts";
import { processFiles, templateFiles, writeFaults } from "./template.ts";
import { readValues } from "./values.ts";

type Options = ApplyOptions & ServiceOptions;

/**
 * `apply --detach`: hands a template and its values to a service, and prints the id of the instance as soon as it has
 * taken them. 0, or 3 where it was refused and nothing was created.
 */
export async function detach(options: Options, world: World): Promise<number> {
  const accepted = await handOver(await openService(options, world), options, world);
  if (accepted === null) return REFUSED;
  const { instance } = accepted;
  await world.stdout.write(options.output === "json" ? `${JSON.stringify(accepted)}\n` : `${instance}\n`);
  if (world.stderr.terminal) {
    const where = options.server === undefined ? "" : ` --server ${options.server}`;
    await world.stderr.write(`It goes on in the service: trawl provision logs --follow ${instance}${where}\n`);
  }
  return 0;
}

/** `apply` by a service, followed to its end: what it prints and how it ends is that of `apply` itself. */
export async function applyThere(options: Options, world: World): Promise<number> {
  const service = await openService(options, world);
  const accepted = await handOver(service, options, world);
  if (accepted === null) return REFUSED;
  const { instance, message } = accepted;
  if (options.output !== "json") await world.stderr.write(`instance ${instance}\n`);
  // One that an earlier try began is followed too.
  const code = await followToEnd(service, { ...accepted, begun: true, event: 0 }, options, world);
  if (code === 0 && options.output !== "json" && message !== null) await world.stdout.write(`\n${message.trim()}\n`);
  return code;
}

/** Null where it was refused, which is told then. */
async function handOver(service: ServiceClient, options: Options, world: World): Promise<Accepted | null> {
  if (options.inventory !== undefined) {
    const message = "--inventory is for runs of this machine, and a service is named: it has a setting for that";
    throw new TrawlerError("TRAWLER_CONFIG_INVALID", message);
  }
  const files = await templateFiles(options.file);
  const [file, second] = files;
  if (file === undefined || second !== undefined) {
    const message = `an instance is of one template, and ${files.length} files are named; name one`;
    throw new TrawlerError("TRAWLER_CONFIG_INVALID", message);
  }
  // Faults are found here first, where their lines are those of the user's file.
  const [result] = await processFiles(files, options);
  await writeFaults(result?.faults ?? [], world);
  if (!result?.template) return null;
  const request: CreateRequest = {
    instance: newInstance(world.clock.now()),
    template: { source: file.text, file: file.file },
    mode: options.mode,
    values: Object.fromEntries(await readValues(options)),
    ...(options.ignoreUnknownParameters === true && { ignoreUnknownParameters: true }),
    ...(options.namespace !== undefined && { namespace: options.namespace }),
    ...(options.createNamespace === true && { createNamespace: true }),
    existing: options.existing,
    order: options.order,
    dryRun: options.dryRun,
    settings: settingsOf(options),
  };
  const answer = await service.request("POST", "/v1/instances", request, MANY_TRIES);
  if (answer.status === 422) {
    await refuse(answer.body, options, world);
    return null;
  }
  if (answer.status >= 300) throw failureOf(answer);
  return answer.body as Accepted;
}

function settingsOf(options: ApplyOptions): Partial<RunSettings> {
  const { until, rollback, parallel, keepGoing, keepData, createTimeout, readyTimeout, rollbackTimeout } = options;
  if (rollback === "ask") {
    throw new TrawlerError("TRAWLER_CONFIG_INVALID", "--rollback ask needs somebody to ask: not by a service");
  }
  return {
    until,
    parallel,
    keepData,
    ...(rollback !== undefined && { rollback }),
    ...(keepGoing !== undefined && { keepGoing }),
    ...(createTimeout !== undefined && { createTimeout }),
    ...(readyTimeout !== undefined && { readyTimeout }),
    ...(rollbackTimeout !== undefined && { rollbackTimeout }),
  };
}

async function refuse(body: unknown, { output }: ApplyOptions, world: World): Promise<void> {
  const { message, faults = [], findings = [] } = errorBody(body);
  if (output === "json") {
    await world.stdout.write(`${JSON.stringify({ state: "REFUSED", findings, faults })}\n`);
    return;
  }
  const lines = [...faults, ...findings].map(
    (one) => `  ${one.severity === "warning" ? "warning: " : ""}${one.message}`,
  );
  await world.stderr.write(`trawl: ${message}\n${lines.map((line) => `${line}\n`).join("")}`);
}
