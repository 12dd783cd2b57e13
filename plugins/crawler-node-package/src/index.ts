import { defineCrawler, findPaths, statFingerprint } from "@trawler/plugin-api";
import * as z from "zod";
import { type FoundPackage, readPackage, type Walk, walkModules } from "./walk.ts";

const MAX_PACKAGES = 5000;

/** Where Node.js itself, distributions, version managers and applications keep packages. */
const USUAL = [
  "/usr/lib/node_modules",
  "/usr/local/lib/node_modules",
  "/usr/share/nodejs",
  "/usr/share/node_modules",
  "/opt/*/lib/node_modules",
  "/usr/local/share/.config/yarn/global/node_modules",
  "/root/.nvm/versions/node/*/lib/node_modules",
  "/home/*/.nvm/versions/node/*/lib/node_modules",
  "/home/*/.npm-global/lib/node_modules",
  "/node_modules",
  "/app/node_modules",
  "/app/*/node_modules",
  "/code/node_modules",
  "/data/node_modules",
  "/workspace/node_modules",
  "/root/node_modules",
  "/home/*/node_modules",
  "/home/*/*/node_modules",
  "/opt/*/node_modules",
  "/srv/node_modules",
  "/srv/*/node_modules",
  "/usr/src/node_modules",
  "/usr/src/*/node_modules",
  "/var/task/node_modules",
  "/var/www/node_modules",
  "/var/www/*/node_modules",
];
/** What npm, pnpm and yarn write at the end of each installation: deeper changes show there. */
const MARKS = ["/.package-lock.json", "/.modules.yaml", "/.yarn-integrity", "/.yarn-state.yml"];

const paths = z.array(z.string().startsWith("/").max(4096)).max(64);
const text = (description: string) => z.string().describe(description);

/** Packages of Node.js by their own package.json; no npm is run. */
export default defineCrawler({
  name: "node-package",
  description: "Lists Node.js packages.",
  config: z.strictObject({
    paths: paths.default([]).describe("Further folders of packages; `*` and `?` stand for parts of a name."),
    usualPaths: z.boolean().default(true).describe("Also look where they usually are."),
    max: z.int().min(1).max(MAX_PACKAGES).default(MAX_PACKAGES).describe("Most packages of one container."),
  }),
  scope: "member",
  needs: ["fs"],
  onChange: true,
  features: {
    nodePackage: z.strictObject({
      name: text("Name, with its scope."),
      version: text("Version."),
      license: text("Licence as the package says it.").nullable(),
      application: z.boolean().describe("It is what the packages were installed for, not one of them."),
      path: text("Its folder."),
    }),
  },
  create: ({ paths, usualPaths, max }) => {
    const patterns = [...(usualPaths ? USUAL : []), ...paths];
    return {
      async *crawl({ fs }, { signal, unchanged, problem }) {
        const { files: folders, truncated } = await findPaths(fs, patterns, { signal });
        const marks = folders.flatMap(({ path }) => MARKS.map((mark) => `${path}${mark}`));
        const { files: written } = await findPaths(fs, marks, { signal });
        if (unchanged(statFingerprint([...folders, ...written]))) return;
        if (truncated) problem("truncated", "one of the patterns stands for more folders than are read");
        let count = 0;
        for (const { path: folder } of folders) {
          for await (const one of packagesOf({ fs, signal, problem }, folder)) {
            if (++count > max) {
              problem("truncated", `more than ${max} packages`);
              return;
            }
            yield { type: "nodePackage", key: one.path, value: one };
          }
        }
      },
    };
  },
});

/** The application beside a folder of packages, where there is one, then the packages. */
async function* packagesOf(
  walk: Walk,
  folder: string,
): AsyncGenerator<FoundPackage & { readonly application: boolean }> {
  const beside = folder.endsWith("/node_modules") ? folder.slice(0, -"/node_modules".length) || "/" : null;
  const application = beside === null ? null : await readPackage(walk, beside);
  if (application !== null) yield { ...application, application: true };
  for await (const one of walkModules(walk, folder)) yield { ...one, application: false };
}
