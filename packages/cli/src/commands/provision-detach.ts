import { TrawlerError } from "@trawler/plugin-api";
import { type Accepted, type CreateRequest, newInstance, type RunSettings } from "@trawler/provision";
import type { World } from "../world.ts";
import type { ApplyOptions } from "./provision-apply.ts";
import { errorBody, failureOf, MANY_TRIES } from "./provision-client.ts";
import { REFUSED } from "./provision-cluster.ts";
import { openService, type ServiceOptions } from "./provision-service.ts";
import { processFiles, templateFiles, writeFaults } from "./provision-template.ts";
import { readValues } from "./provision-values.ts";

/**
 * `apply --detach`: hands a template and its values to a service, and prints the id of the instance as soon as it has
 * taken them. 0, or 3 where it was refused and nothing was created.
 */
export async function detach(options: ApplyOptions & ServiceOptions, world: World): Promise<number> {
  const service = await openService(options, world);
  const files = await templateFiles(options.file);
  const [file, second] = files;
  if (file === undefined || second !== undefined) {
    const message = `an instance is of one template, and ${files.length} files are named; name one`;
    throw new TrawlerError("TRAWLER_CONFIG_INVALID", message);
  }
  // Faults are found here first, where their lines are those of the user's file.
  const [result] = await processFiles(files, options);
  await writeFaults(result?.faults ?? [], world);
  if (!result?.template) return REFUSED;
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
    return REFUSED;
  }
  if (answer.status >= 300) throw failureOf(answer);
  const accepted = answer.body as Accepted;
  const { instance } = accepted;
  await world.stdout.write(options.output === "json" ? `${JSON.stringify(accepted)}\n` : `${instance}\n`);
  if (world.stderr.terminal) {
    const where = options.server === undefined ? "" : ` --server ${options.server}`;
    await world.stderr.write(`It goes on in the service: trawl provision logs --follow ${instance}${where}\n`);
  }
  return 0;
}

function settingsOf(options: ApplyOptions): Partial<RunSettings> {
  const { until, rollback, parallel, keepGoing, keepData, createTimeout, readyTimeout, rollbackTimeout } = options;
  if (rollback === "ask") {
    throw new TrawlerError("TRAWLER_CONFIG_INVALID", "--rollback ask needs somebody to ask: not with --detach");
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
