import { defineCrawler, errorMessage, findPaths, partProblem, statFingerprint } from "@trawler/plugin-api";
import * as z from "zod";
import { parseEntry } from "./parse.ts";
import { readMetadata } from "./read.ts";

const MAX_PACKAGES = 5000;

/** Where Python itself, distributions, virtual environments, conda and version managers keep packages. */
const USUAL = [
  "/usr/lib/python*",
  "/usr/lib64/python*",
  "/usr/local/lib/python*",
  "/usr/local/lib64/python*",
  "/opt/*/lib/python*",
  "/opt/*/envs/*/lib/python*",
  "/opt/*/*venv/lib/python*",
  "/*venv/lib/python*",
  "/app/*venv/lib/python*",
  "/code/*venv/lib/python*",
  "/workspace/*venv/lib/python*",
  "/usr/src/app/*venv/lib/python*",
  "/srv/*venv/lib/python*",
  "/srv/*/*venv/lib/python*",
  "/var/www/*/*venv/lib/python*",
  "/root/.local/lib/python*",
  "/root/.pyenv/versions/*/lib/python*",
  "/root/*venv/lib/python*",
  "/home/*/.local/lib/python*",
  "/home/*/.pyenv/versions/*/lib/python*",
  "/home/*/*venv/lib/python*",
  "/home/*/*/*venv/lib/python*",
];

const NOTHING = { entries: [], truncated: false };

const paths = z.array(z.string().startsWith("/").max(4096)).max(64);
const text = (description: string) => z.string().describe(description);

/** Python packages by their metadata; no Python is run. */
export default defineCrawler({
  name: "python-package",
  description: "Lists Python packages.",
  config: z.strictObject({
    paths: paths
      .default([])
      .describe("Further folders that hold `site-packages` or `dist-packages`; `*` and `?` stand for parts of a name."),
    usualPaths: z.boolean().default(true).describe("Also look where they usually are."),
    max: z.int().min(1).max(MAX_PACKAGES).default(MAX_PACKAGES).describe("Most packages of one container."),
  }),
  scope: "member",
  needs: ["fs"],
  onChange: true,
  features: {
    pythonPackage: z.strictObject({
      name: text("Name as its metadata writes it, else as its folder does."),
      version: text("Version; null where neither says it.").nullable(),
      path: text("Its metadata: a folder `….dist-info` or `….egg`, or a folder or file `….egg-info`."),
    }),
  },
  create: ({ paths, usualPaths, max }) => {
    const folders = [...(usualPaths ? USUAL : []), ...paths].flatMap((path) => [
      `${path}/site-packages`,
      `${path}/dist-packages`,
    ]);
    return {
      async *crawl({ fs }, { signal, unchanged, problem }) {
        const { files: sites, truncated: cut } = await findPaths(fs, folders, { signal });
        // Installing, upgrading and removing all change the folder: metadata has the version in its name.
        if (unchanged(statFingerprint(sites))) return;
        if (cut) problem("truncated", "one of the patterns stands for more folders than are read");
        let count = 0;
        for (const { path: site } of sites) {
          const { entries, truncated } = await fs.list(site, { signal }).catch((error: unknown) => {
            problem(partProblem(error), errorMessage(error));
            return NOTHING;
          });
          if (truncated) problem("truncated", `${site}: more entries than are read`);
          for (const entry of entries) {
            const named = parseEntry(entry.path.slice(entry.path.lastIndexOf("/") + 1));
            if (named === null) continue;
            if (++count > max) {
              problem("truncated", `more than ${max} packages`);
              return;
            }
            const read = await readMetadata(fs, entry, { signal });
            const { name, version } = read ?? named;
            yield {
              type: "pythonPackage",
              key: entry.path,
              value: { name, version: version ?? named.version, path: entry.path },
            };
          }
        }
      },
    };
  },
});
