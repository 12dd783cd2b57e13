import { explainSetting, nearest, type SettingInfo } from "@trawler/config";
import { TrawlerError } from "@trawler/plugin-api";
import { formatExplanation } from "../explanation.ts";
import { COLOURS, type Paint, PLAIN } from "../plan.ts";
import { askAgent, socketPaths } from "../socket.ts";
import { stateFolder } from "../state.ts";
import type { World } from "../world.ts";
import { type CommonOptions, load } from "./common.ts";
import { configSchema } from "./schema.ts";

/** `trawl explain setting KEY`: what a setting means. 2 where there is none of that name. */
export async function explainKey(key: string, options: CommonOptions, world: World): Promise<number> {
  const { catalogue } = await load(options, world);
  const schema = await configSchema(catalogue);
  const found = explainSetting(schema, key);
  if (found.length === 0) {
    const last = key.split(".").at(-1) ?? key;
    const known = explainSetting(schema, "pipelines.default").flatMap(({ keys }) => keys);
    const near = nearest(last, [...new Set([...known, ...explainSetting(schema, "http").flatMap(({ keys }) => keys)])]);
    throw new TrawlerError(
      "TRAWLER_CONFIG_INVALID",
      `there is no setting ${key}${near === null ? "; `trawl schema` lists all" : `; did you mean ${near}?`}`,
    );
  }
  const paint = world.stdout.colours ? COLOURS : PLAIN;
  await world.stdout.write(`${found.map((info) => formatSetting(info, paint)).join("\n\n")}\n`);
  return 0;
}

/** `trawl explain pod NS/NAME`: asks the agent that runs here. 1 where none runs, or where it knows no such pod. */
export async function explainPod(
  name: string,
  options: CommonOptions & { readonly json?: boolean },
  world: World,
): Promise<number> {
  const { configuration } = await load(options, world);
  const folder = stateFolder(configuration.state.folder, world.env, world.userId);
  const { status, body } = await askAgent(
    socketPaths(folder).toReversed(),
    `/v1/explain?pod=${encodeURIComponent(name)}`,
  );
  if (status === 404)
    throw new TrawlerError(
      "TRAWLER_UNSUPPORTED",
      `the agent has seen no ${name}; names are NAMESPACE/NAME, ids do as well`,
    );
  if (status !== 200) throw new TrawlerError("TRAWLER_UNAVAILABLE", `the agent answers ${status}`);
  const { stdout } = world;
  await stdout.write(
    options.json === true ? `${body}\n` : formatExplanation(JSON.parse(body), stdout.colours ? COLOURS : PLAIN),
  );
  return 0;
}

function formatSetting(info: SettingInfo, { strong, faint }: Paint): string {
  const row = (label: string, text: string): string => `  ${faint(label.padEnd(10))}${text}`;
  return [
    strong(info.path),
    ...(info.description === "" ? [] : [`  ${info.description}`]),
    row(
      "is",
      `${info.expected}${info.required ? "; required" : ""}${info.secret ? "; secret: take it from ${file:/path} or ${env:NAME}" : ""}`,
    ),
    ...(info.default === null ? [] : [row("default", info.default)]),
    ...(info.keys.length === 0 ? [] : [row("keys", info.keys.join(", "))]),
  ].join("\n");
}
