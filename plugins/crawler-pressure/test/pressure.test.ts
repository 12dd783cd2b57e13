import { crawlAlone, fakeCgroup } from "@trawler/testkit";
import { expect, test } from "vitest";
import pressure from "../src/index.ts";

test("where the kernel keeps none it is unsupported, not a row of nulls", async () => {
  const cgroup = fakeCgroup({ pressure: { cpu: null, memory: { some: null, full: null }, io: null } });
  await expect(crawlAlone(pressure, { access: { cgroup } })).rejects.toMatchObject({ code: "TRAWLER_UNSUPPORTED" });
});
