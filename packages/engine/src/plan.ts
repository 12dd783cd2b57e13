import type { CrawlerPlugin, EnvironmentPlugin, ModePlugin } from "@trawler/plugin-api";

/** Checks, before anything starts, that each declaration is met by the plugin next to it; all that is not, one sentence each. */
export function checkPlan(
  environment: EnvironmentPlugin,
  mode: ModePlugin,
  crawlers: readonly CrawlerPlugin[],
): readonly string[] {
  const { kinds, reports } = environment;
  const environmentFaults = missing(mode.requires, reports).map(
    (field) => `mode ${mode.name} requires ${field}, which environment ${environment.name} does not report`,
  );
  const kindFault = kinds.some((kind) => mode.accepts.includes(kind))
    ? []
    : [
        `mode ${mode.name} accepts ${mode.accepts.join(", ")}, but environment ${environment.name} reports ${kinds.join(", ")}`,
      ];
  return [...kindFault, ...environmentFaults, ...crawlers.flatMap((crawler) => crawlerFaults(crawler, mode))];
}

/** Needs at the level where the crawler runs; at either one for `both`. The host itself gives `meta`. */
function crawlerFaults({ name, scope, needs }: CrawlerPlugin, { name: mode, provides }: ModePlugin): readonly string[] {
  const wanted = needs.filter((need) => need !== "meta");
  const hasMembers = provides.member.length > 0;
  const levels = !hasMembers ? (["subject"] as const) : scope === "both" ? (["subject", "member"] as const) : [scope];
  const faults = levels.map((level) => missing(wanted, provides[level]).map((need) => ({ need, level })));
  const best = faults.reduce((least, now) => (now.length < least.length ? now : least));
  return best.map(
    ({ need, level }) => `crawler ${name} needs ${need}, which mode ${mode} does not provide for a ${level}`,
  );
}

function missing<T>(needs: readonly T[], offers: readonly T[]): readonly T[] {
  return needs.filter((need) => !offers.includes(need));
}
