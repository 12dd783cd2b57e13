import { defineCrawler, errorCode, type FileSystemAccess, type ReadOptions } from "@trawler/plugin-api";
import * as z from "zod";
import { type OperatingSystem, parseOsRelease } from "./parse.ts";

/** Seconds until the file is read again: an image has one system all its life, what is mounted over it may change. */
const KEPT = 300;

const text = (description: string) => z.string().nullable().describe(description);

/** The operating system of an image or of the host, from os-release(5). */
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
          const release = await readOsRelease(fs, { signal });
          last = { system: release === null ? null : parseOsRelease(release), at: now };
          known.set(fs, last);
        }
        if (last.system !== null) yield { type: "os", key: "os", value: { ...last.system } };
      },
    };
  },
});

/** Null where the image has neither file (distroless, scratch). Any other failure of both is thrown. */
async function readOsRelease(fs: FileSystemAccess, options: ReadOptions): Promise<string | null> {
  let failure: unknown;
  for (const path of ["/etc/os-release", "/usr/lib/os-release"]) {
    try {
      return await fs.readText(path, { ...options, maxBytes: 65_536 });
    } catch (error) {
      if (errorCode(error) !== "TRAWLER_UNSUPPORTED") failure ??= error;
    }
  }
  if (failure !== undefined) throw failure;
  return null;
}
