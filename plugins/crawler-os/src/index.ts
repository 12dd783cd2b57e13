import { defineCrawler, errorCode, type FileSystemAccess, type ReadOptions } from "@trawler/plugin-api";
import * as z from "zod";
import { parseLsbRelease, parseRedHatRelease, parseSuseRelease } from "./legacy.ts";
import { type OperatingSystem, parseOsRelease } from "./parse.ts";

/** Seconds until the file is read again: an image has one system all its life, what is mounted over it may change. */
const KEPT = 300;

const text = (description: string) => z.string().nullable().describe(description);

/** The operating system of an image or of the host, from os-release(5), or from what systems had before it. */
export default defineCrawler({
  name: "os",
  description: "Reads which operating system a container's image or the host has.",
  config: z.strictObject({}),
  scope: "member",
  needs: ["fs"],
  features: {
    os: z.strictObject({
      id: text("Lower-case word, such as `debian`."),
      idLike: text("Words of the systems that it derives from."),
      name: text("Name without version."),
      version: text("Version number, such as `12`."),
      codename: text("Release name, such as `bookworm`."),
      prettyName: text("Name and version for people."),
    }),
  },
  create: () => {
    const known = new WeakMap<FileSystemAccess, { readonly system: OperatingSystem | null; readonly at: number }>();
    return {
      async *crawl({ fs }, { signal, clock }) {
        const now = clock.monotonic();
        let last = known.get(fs);
        if (last === undefined || now - last.at >= KEPT) {
          last = { system: await readSystem(fs, { signal }), at: now };
          known.set(fs, last);
        }
        if (last.system !== null) yield { type: "os", key: "os", value: { ...last.system } };
      },
    };
  },
});

/** The first that is there counts: os-release(5) in its two places, then what systems had before it. */
const FILES: readonly (readonly [path: string, parse: (text: string) => OperatingSystem])[] = [
  ["/etc/os-release", parseOsRelease],
  ["/usr/lib/os-release", parseOsRelease],
  ["/etc/lsb-release", parseLsbRelease],
  ["/etc/centos-release", parseRedHatRelease],
  ["/etc/redhat-release", parseRedHatRelease],
  ["/etc/system-release", parseRedHatRelease],
  ["/etc/SuSE-release", parseSuseRelease],
];

/** Null where the image has none of the files (distroless, scratch). Any other failure of all is thrown. */
async function readSystem(fs: FileSystemAccess, options: ReadOptions): Promise<OperatingSystem | null> {
  let failure: unknown;
  for (const [path, parse] of FILES) {
    try {
      return parse(await fs.readText(path, { ...options, maxBytes: 65_536 }));
    } catch (error) {
      if (errorCode(error) !== "TRAWLER_UNSUPPORTED") failure ??= error;
    }
  }
  if (failure !== undefined) throw failure;
  return null;
}
