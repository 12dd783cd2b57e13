import { defineConfig } from "vitest/config";

// Packages see each other's source, so nothing has to be built before a test.
const conditions = ["@trawler/source"];
const resolve = { conditions };
const ssr = { resolve: { conditions } };
// Every Node that we support knows `using`; its helper is a module that vite 8.3 does not find.
const oxc = { target: "esnext" };
// A condition that a test waits for comes late on a busy machine, and is no fault: a second is what Vitest allows.
const expect = { poll: { timeout: 30_000 } };

export default defineConfig({
  test: {
    // Taking a whole node down.
    teardownTimeout: 120_000,
    projects: [
      {
        resolve,
        ssr,
        oxc,
        test: {
          expect,
          name: "unit",
          include: ["packages/*/test/**/*.test.ts", "plugins/*/test/**/*.test.ts", "test/testbed/test/**/*.test.ts"],
          // For a machine that is busy with something else; each test waits for conditions, not for time.
          testTimeout: 120_000,
          hookTimeout: 120_000,
        },
      },
      {
        resolve,
        ssr,
        oxc,
        test: {
          expect,
          name: "e2e",
          include: ["test/e2e/test/**/*.test.ts"],
          // Of the client that reads topics here: it asks for timers that are over already.
          execArgv: ["--disable-warning=TimeoutNegativeWarning"],
          globalSetup: ["test/e2e/src/setup.ts"],
          // One node, one broker: files share them and run one after another.
          fileParallelism: false,
          testTimeout: 180_000,
          hookTimeout: 600_000,
        },
      },
      {
        resolve,
        ssr,
        oxc,
        test: { name: "architecture", include: ["test/architecture/test/**/*.test.ts"], testTimeout: 300_000 },
      },
    ],
  },
});
