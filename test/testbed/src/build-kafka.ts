import { join } from "node:path";
import { assetPath, readAsset } from "./assets.ts";
import { cached } from "./cache.ts";
import { fingerprint } from "./files.ts";
import type { Progress } from "./progress.ts";
import { run } from "./run.ts";

/** The folder that holds Apache Kafka and what it needs, as jars. */
export const fetchKafka = async (cache: string, progress: Progress): Promise<string> => {
  const key = fingerprint(readAsset("kafka/pom.xml"));
  const folder = await cached(cache, { name: "kafka", key, progress }, async (partial) => {
    const goal = [
      "dependency:copy-dependencies",
      "-DincludeScope=runtime",
      `-DoutputDirectory=${join(partial, "libs")}`,
    ];
    // Maven writes a "target" folder beside the pom: keep it out of the repository.
    await run("cp", [assetPath("kafka/pom.xml"), join(partial, "pom.xml")]);
    await run("mvn", ["-q", "-B", "-f", join(partial, "pom.xml"), ...goal], { deadline: 600_000 });
  });
  return join(folder, "libs");
};
