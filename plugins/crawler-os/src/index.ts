import { defineCrawler, errorCode, type FileSystemAccess, type ReadOptions } from "@trawler/plugin-api";
import * as z from "zod";
import { parseOsRelease } from "./parse.ts";

const text = (description: string) => z.string().nullable().describe(description);

/** The operating system of an image, from os-release(5); the kernel only for the host, as containers share it. */
export default defineCrawler({
  name: "os",
  description: "Reads which operating system a container's image or the host has.",
  config: z.strictObject({}),
  scope: "member",
  needs: ["fs", "meta"],
  features: {
    os: z.strictObject({
      id: text("Lower-case word, such as `debian`."),
      idLike: text("Words of the systems that it derives from."),
      name: text("Name without version."),
      version: text("Version number, such as `12`."),
      codename: text("Release name, such as `bookworm`."),
      prettyName: text("Name and version for people."),
      kernel: text("Release of the running kernel; host only."),
    }),
  },
  create: () => ({
    async *crawl({ fs, meta }, { signal }) {
      const release = await readOsRelease(fs, { signal });
      if (release === null) return;
      const kernel = meta.workload.kind === "host" ? await readKernel(fs, { signal }) : null;
      yield { type: "os", key: "os", value: { ...parseOsRelease(release), kernel } };
    },
  }),
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

async function readKernel(fs: FileSystemAccess, options: ReadOptions): Promise<string | null> {
  try {
    const release = await fs.readText("/proc/sys/kernel/osrelease", { ...options, maxBytes: 1024 });
    return release.trim() || null;
  } catch {
    // The door may be closed to /proc; the rest of the feature stands without it.
    return null;
  }
}
