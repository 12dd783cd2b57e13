import { fileURLToPath } from "node:url";
import { run } from "@trawler/testbed";
import { build } from "esbuild";

const bundler = fileURLToPath(new URL("../../../scripts/bundle.ts", import.meta.url));
const guestProgram = fileURLToPath(new URL("guest/main.ts", import.meta.url));

/** The programs that go into the guest: `trawl` as it is shipped, with the FFI's binary beside, and the guest's own. */
export const bundlePrograms = async (folder: string): Promise<void> => {
  await run(process.execPath, [bundler, `${folder}/trawl`], { deadline: 300_000 });
  await build({
    entryPoints: [guestProgram],
    outfile: `${folder}/guest/main.js`,
    bundle: true,
    platform: "node",
    format: "esm",
    target: "node24",
    logLevel: "error",
  });
};
