import { defineCrawler, errorMessage, type MetaAccess, partProblem } from "@trawler/plugin-api";
import * as z from "zod";
import { type Database, findDatabases, fingerprint, type Manager } from "./find.ts";
import { type InstalledPackage, keyed, type PackageList } from "./package.ts";
import { isDrift, readSteadily } from "./read.ts";

/** With their database's own features within the host's bound of one call. */
const MAX_PACKAGES = 9000;

const text = (description: string) => z.string().nullable().describe(description);
const size = (unit: string, description: string) =>
  z.int().nonnegative().nullable().meta({ "x-unit": unit, description });
const drift = (what: string) =>
  z
    .boolean()
    .nullable()
    .describe(`Whether ${what} was written after the container started; null where that cannot be known.`);

/** Packages of dpkg, apk and rpm from their databases; no program of the container is run. */
export default defineCrawler({
  name: "package",
  description: "Lists the packages of dpkg, apk and rpm.",
  config: z.strictObject({
    max: z
      .int()
      .min(1)
      .max(MAX_PACKAGES)
      .default(5000)
      .describe("Most packages of one database; where there are more, a problem says so."),
  }),
  scope: "member",
  needs: ["fs", "meta"],
  onChange: true,
  features: {
    package: z.strictObject({
      manager: z.enum(["dpkg", "apk", "rpm"]).describe("Whose database says so."),
      name: z.string().describe("Name."),
      version: z.string().describe("Version as the manager compares it, with epoch and release."),
      architecture: text("Architecture, such as `amd64`, `x86_64`, `all` or `noarch`."),
      size: size("By", "Installed size."),
      source: text("Source package that it was built from; rpm's is a file name."),
      state: text("dpkg's word, such as `installed` or `half-configured`; null for the others."),
      installed: text(
        "When it was installed, RFC 3339: rpm's own time, the time of dpkg's list of its files; apk keeps none.",
      ),
      drift: drift("the package"),
    }),
    packageDatabase: z.strictObject({
      manager: z.enum(["dpkg", "apk", "rpm"]).describe("Package manager."),
      format: z
        .enum(["dpkg-status", "dpkg-status.d", "apk-installed", "rpm-sqlite", "rpm-ndb", "rpm-berkeley"])
        .describe("How it is kept."),
      path: z.string().describe("Where it is."),
      packages: size("{package}", "Packages found; null where it cannot be read."),
      modified: z.string().describe("When it was last written, RFC 3339."),
      drift: drift("the database"),
    }),
  },
  create: ({ max }) => ({
    async *crawl({ fs, meta }, { signal, unchanged, problem }) {
      const startedAt = startOf(meta);
      const tell = (error: unknown): void => problem(partProblem(error), errorMessage(error));
      const failures: unknown[] = [];
      const find = () => findDatabases(fs, { signal }, (error) => failures.push(error));
      const databases = await find();
      const [failure] = failures;
      if (databases.length === 0 && failure !== undefined) throw failure;
      if (unchanged(`${startedAt}\n${fingerprint(databases)}`)) return;
      for (const error of failures) tell(error);
      const packages: (InstalledPackage & { readonly manager: Manager })[] = [];
      const again = async ({ format }: Database) => (await find()).find((one) => one.format === format);
      for (const database of databases) {
        const { manager, format, path, files } = database;
        let list: PackageList | null = null;
        try {
          list = await readSteadily(database, { fs, startedAt, max, signal }, () => again(database));
          if (list.shortfall) problem(list.shortfall.code, `${path}: ${list.shortfall.message}`);
        } catch (error) {
          tell(error);
        }
        const changes = files.map(({ changed }) => isDrift(changed, startedAt));
        yield {
          type: "packageDatabase",
          key: format,
          value: {
            manager,
            format,
            path,
            packages: list === null || format === "rpm-ndb" ? null : list.packages.length,
            modified:
              files
                .map(({ modified }) => modified)
                .toSorted()
                .at(-1) ?? "",
            drift: startedAt === null ? null : changes.includes(true),
          },
        };
        for (const one of list?.packages ?? []) packages.push({ manager, ...one });
      }
      for (const [key, value] of keyed(packages)) yield { type: "package", key, value };
    },
  }),
});

/** When the container that is asked about started, milliseconds; null for the host and for what has not started. */
function startOf({ workload, container }: MetaAccess): number | null {
  const [only, ...others] = workload.containers;
  const one = container ?? (others.length === 0 ? only : undefined);
  const time = Date.parse(one?.state.startedAt ?? "");
  return Number.isNaN(time) ? null : time;
}
