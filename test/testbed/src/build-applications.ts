import { createHash } from "node:crypto";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { debianRoot, packLayer } from "./build-images.ts";
import { cached } from "./cache.ts";
import { fingerprint } from "./files.ts";
import { archiveFiles } from "./image-archive.ts";
import { applicationPackages, applicationsImage, debianImage } from "./pins.ts";
import type { Progress } from "./progress.ts";
import { run } from "./run.ts";

/** Raise it when the way the image is made changes. */
const recipe = "1";
/** What no server needs to run; it is half of what documentation and languages take. */
const LEFT_OUT = ["usr/share/doc", "usr/share/man", "usr/share/locale", "usr/share/info"];

/**
 * A docker-archive with one image that holds the servers which application crawlers ask: apart from the other images, as
 * it is large and only one test file runs it. Takes minutes the first time.
 */
export const buildApplications = async (cache: string, progress: Progress): Promise<string> => {
  const key = fingerprint(recipe, debianImage.release, ...applicationPackages, applicationsImage);
  const folder = await cached(cache, { name: "applications", key, progress }, async (partial) => {
    const root = join(partial, "debian");
    await debianRoot(root, applicationPackages);
    for (const name of LEFT_OUT) rmSync(join(root, name), { recursive: true, force: true });
    const work = join(partial, "work");
    mkdirSync(work);
    const layer = await packLayer(root, work);
    rmSync(root, { recursive: true });
    const digest = (text: string): string => createHash("sha256").update(text).digest("hex");
    const image = { name: applicationsImage, layer, entrypoint: ["/bin/sh"] };
    const files = archiveFiles([image], process.arch === "x64" ? "amd64" : process.arch, digest);
    for (const [name, content] of files) writeFileSync(join(work, name), content);
    await run(
      "tar",
      ["--numeric-owner", "-C", work, "-cf", join(partial, "image.tar"), ...files.keys(), `${layer}.tar`],
      {
        deadline: 300_000,
      },
    );
    rmSync(work, { recursive: true });
  });
  return join(folder, "image.tar");
};
