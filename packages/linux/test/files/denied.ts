// Reads a hostile tree without the right to pass over permissions, and prints each answer's code.
import { errorCode } from "@trawler/plugin-api";
import { openHostFileSystem } from "../../src/index.ts";

const [root = "", resolver] = process.argv.slice(2);
await using files = await openHostFileSystem(root, { resolver: resolver === "walk" ? "walk" : "openat2" });

async function attempt(work: () => Promise<unknown>): Promise<string> {
  try {
    await work();
    return "done";
  } catch (error) {
    return errorCode(error) ?? "uncoded";
  }
}

const seen: string[] = [];
const answers = {
  unreadable: await attempt(() => files.read("/closed/unreadable")),
  sealed: await attempt(() => files.list("/closed/sealed")),
  inside: await attempt(() => files.read("/closed/sealed/file")),
  walk: await attempt(async () => {
    for await (const batch of files.walk("/closed")) {
      for (const { path } of batch) seen.push(path);
    }
  }),
  hasSealed: seen.includes("/closed/sealed"),
  hasOther: seen.includes("/closed/other"),
};
process.stdout.write(JSON.stringify(answers));
