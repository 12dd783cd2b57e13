import { defineCrawler, errorMessage, findPaths, partProblem, statFingerprint } from "@trawler/plugin-api";
import * as z from "zod";
import { parseSpecification } from "./parse.ts";

const MAX_PACKAGES = 5000;

/** Where Ruby itself, distributions, Bundler, version managers and applications keep specifications. */
const USUAL = [
  "/usr/lib/ruby/gems/*",
  "/usr/local/lib/ruby/gems/*",
  "/var/lib/gems/*",
  "/usr/share/gems",
  "/usr/local/share/gems",
  "/usr/share/rubygems-integration/*",
  "/usr/lib/*-linux-*/rubygems-integration/*",
  "/usr/local/bundle",
  "/usr/local/bundle/ruby/*",
  "/usr/local/rvm/gems/*",
  "/opt/*/lib/ruby/gems/*",
  "/opt/*/embedded/lib/ruby/gems/*",
  "/root/.gem/ruby/*",
  "/root/.local/share/gem/ruby/*",
  "/root/.rbenv/versions/*/lib/ruby/gems/*",
  "/home/*/.gem/ruby/*",
  "/home/*/.local/share/gem/ruby/*",
  "/home/*/.rbenv/versions/*/lib/ruby/gems/*",
  "/app/vendor/bundle/ruby/*",
  "/usr/src/app/vendor/bundle/ruby/*",
  "/srv/*/vendor/bundle/ruby/*",
  "/home/*/*/vendor/bundle/ruby/*",
  "/var/www/*/vendor/bundle/ruby/*",
];

const NOTHING = { entries: [], truncated: false };

const paths = z.array(z.string().startsWith("/").max(4096)).max(64);
const text = (description: string) => z.string().describe(description);

/** Gems by the names of their specifications; no Ruby is run. */
export default defineCrawler({
  name: "ruby-package",
  description: "Lists Ruby gems.",
  config: z.strictObject({
    paths: paths
      .default([])
      .describe("Further folders that hold `specifications`; `*` and `?` stand for parts of a name."),
    usualPaths: z.boolean().default(true).describe("Also look where they usually are."),
    max: z.int().min(1).max(MAX_PACKAGES).default(MAX_PACKAGES).describe("Most gems of one container."),
  }),
  scope: "member",
  needs: ["fs"],
  onChange: true,
  features: {
    rubyPackage: z.strictObject({
      name: text("Name."),
      version: text("Version."),
      platform: text("Platform that it was built for, such as `x86_64-linux`; null where any will do.").nullable(),
      default: z.boolean().describe("It comes with Ruby itself."),
      path: text("Its specification."),
    }),
  },
  create: ({ paths, usualPaths, max }) => {
    const folders = [...(usualPaths ? USUAL : []), ...paths].flatMap((path) => [
      `${path}/specifications`,
      `${path}/specifications/default`,
    ]);
    return {
      async *crawl({ fs }, { signal, unchanged, problem }) {
        const { files: found, truncated: cut } = await findPaths(fs, folders, { signal });
        // A gem that comes, goes or is replaced changes its folder.
        if (unchanged(statFingerprint(found))) return;
        if (cut) problem("truncated", "one of the patterns stands for more folders than are read");
        let count = 0;
        for (const { path: folder } of found) {
          const { entries, truncated } = await fs.list(folder, { signal }).catch((error: unknown) => {
            problem(partProblem(error), errorMessage(error));
            return NOTHING;
          });
          if (truncated) problem("truncated", `${folder}: more files than are read`);
          for (const { path } of entries) {
            const gem = parseSpecification(path.slice(path.lastIndexOf("/") + 1));
            if (gem === null) continue;
            if (++count > max) {
              problem("truncated", `more than ${max} gems`);
              return;
            }
            yield { type: "rubyPackage", key: path, value: { ...gem, default: folder.endsWith("/default"), path } };
          }
        }
      },
    };
  },
});
