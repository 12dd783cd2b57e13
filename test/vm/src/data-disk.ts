import { cpSync, mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { run } from "@trawler/testbed";
import { bundlePrograms } from "./bundle.ts";
import type { CgroupDriver } from "./pins.ts";
import { renderGuestFiles } from "./render.ts";

/** Packs what is under test, the node binary that runs this, and the node's settings into one tar. */
export const makeDataDisk = async (driver: CgroupDriver, work: string): Promise<string> => {
  const folder = join(work, "data");
  mkdirSync(join(folder, "bin"), { recursive: true });
  await bundlePrograms(folder);
  writeFileSync(join(folder, "guest/package.json"), '{ "type": "module" }\n');
  for (const [name, content] of renderGuestFiles(driver)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), content);
  }
  cpSync(process.execPath, join(folder, "bin/node"));
  const disk = join(work, "data.tar");
  // A disk is a whole number of sectors; tar ends with blocks of zeros.
  await run("tar", ["-C", folder, "--blocking-factor=2048", "-cf", disk, "."], { deadline: 120_000 });
  return disk;
};
