import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { copyRepository, plant, tool } from "../src/plant.ts";

// Tools go blind silently (an upgrade, a renamed rule): each rule of the architecture is broken once in a copy, and
// the tool that guards it must object to exactly that file.

let root = "";
let remove: () => Promise<void>;

beforeAll(async () => {
  const copy = await copyRepository();
  root = copy.root;
  remove = copy.remove;
});
afterAll(() => remove());

interface Violation {
  readonly rule: string;
  readonly path: string;
  readonly text: string;
  readonly expected: RegExp;
}

const lint: readonly Violation[] = [
  {
    rule: "a plugin does not import the engine",
    path: "plugins/environment-host/src/planted.ts",
    text: 'import { Pipeline } from "@trawler/engine";\nexport const planted = Pipeline;\n',
    expected: /noRestrictedImports|noUndeclaredDependencies/,
  },
  {
    rule: "a crawler does not import a library",
    path: "plugins/crawler-os/src/planted.ts",
    text: 'import * as linux from "@trawler/linux";\nexport const planted = linux;\n',
    expected: /noRestrictedImports/,
  },
  {
    rule: "a plugin does not import another plugin",
    path: "plugins/emitter-file/src/planted.ts",
    text: 'import stdout from "@trawler/emitter-stdout";\nexport const planted = stdout;\n',
    expected: /noRestrictedImports/,
  },
  {
    rule: "a plugin does not see the container",
    path: "plugins/mode-host/src/planted.ts",
    text: 'import { container } from "tsyringe";\nexport const planted = container;\n',
    expected: /noRestrictedImports/,
  },
  {
    rule: "the engine does not see the container",
    path: "packages/engine/src/planted.ts",
    text: 'import { container } from "tsyringe";\nexport const planted: unknown = container;\n',
    expected: /noRestrictedImports/,
  },
  {
    rule: "of the command only container.ts imports tsyringe",
    path: "packages/cli/src/planted.ts",
    text: 'import { container } from "tsyringe";\nexport const planted: unknown = container;\n',
    expected: /noRestrictedImports/,
  },
  {
    rule: "a crawler does no input or output of its own",
    path: "plugins/crawler-os/src/planted.ts",
    text: 'import { readFile } from "node:fs/promises";\nexport const planted = readFile;\n',
    expected: /noRestrictedImports/,
  },
  {
    rule: "the contract depends on nothing, not even Node",
    path: "packages/plugin-api/src/planted.ts",
    text: 'import { readFileSync } from "node:fs";\nexport const planted: unknown = readFileSync;\n',
    expected: /noRestrictedImports/,
  },
  {
    rule: "the engine names no plugin",
    path: "packages/engine/src/planted.ts",
    text: 'import pod from "@trawler/mode-pod";\nexport const planted: unknown = pod;\n',
    expected: /noRestrictedImports/,
  },
  {
    rule: "a library does not import the engine",
    path: "packages/linux/src/planted.ts",
    text: 'import * as engine from "@trawler/engine";\nexport const planted: unknown = engine;\n',
    expected: /noRestrictedImports/,
  },
  {
    rule: "a package that is not declared is not imported",
    path: "plugins/emitter-file/src/planted.ts",
    text: 'import dockerode from "dockerode";\nexport const planted = dockerode;\n',
    expected: /noUndeclaredDependencies/,
  },
  {
    rule: "no default exports outside plugins",
    path: "packages/engine/src/planted.ts",
    text: "const planted = 1;\nexport default planted;\n",
    expected: /noDefaultExport/,
  },
  {
    rule: "no any",
    path: "packages/engine/src/planted.ts",
    text: "export const planted = (value: any): unknown => value;\n",
    expected: /noExplicitAny/,
  },
];

describe("biome objects where", () => {
  test("nothing is planted: it does not", async () => {
    const { code, output } = await tool(root, "biome", ["lint"]);
    expect(code, output).toBe(0);
  });

  test.for(lint)("$rule", async ({ path, text, expected }) => {
    const takeOut = await plant(root, path, text);
    try {
      const { code, output } = await tool(root, "biome", ["lint", path]);
      expect(code).not.toBe(0);
      expect(output).toMatch(expected);
    } finally {
      await takeOut();
    }
  });

  test("an import cycle is made", async () => {
    const one = await plant(
      root,
      "packages/engine/src/planted-a.ts",
      'import { b } from "./planted-b.ts";\nexport const a = (): number => b();\n',
    );
    const two = await plant(
      root,
      "packages/engine/src/planted-b.ts",
      'import { a } from "./planted-a.ts";\nexport const b = (): number => a();\n',
    );
    try {
      const { code, output } = await tool(root, "biome", ["lint", "packages/engine/src"]);
      expect(code).not.toBe(0);
      expect(output).toMatch(/noImportCycles/);
    } finally {
      await one();
      await two();
    }
  });
});

test("the compiler objects to a relative path into another package", async () => {
  const takeOut = await plant(
    root,
    "packages/config/src/planted.ts",
    'import { API_VERSION } from "../../plugin-api/src/plugin.ts";\nexport const planted: number = API_VERSION;\n',
  );
  try {
    const { code, output } = await tool(root, "tsc", ["-p", "packages/config", "--noEmit"]);
    expect(code).not.toBe(0);
    expect(output).toMatch(/TS6059|TS6307|TS6305/);
  } finally {
    await takeOut();
  }
});

test("knip objects to a dead file", async () => {
  const takeOut = await plant(root, "packages/config/src/planted.ts", "export const planted = 1;\n");
  try {
    const { code, output } = await tool(root, "knip", ["--include", "files"]);
    expect(code).not.toBe(0);
    expect(output).toContain("packages/config/src/planted.ts");
  } finally {
    await takeOut();
  }
});
