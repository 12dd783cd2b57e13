import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { BUILT_IN } from "../src/built-in.ts";
import { VERSION } from "../src/version.ts";

test.each(BUILT_IN.map((builtIn) => [`${builtIn.kind} ${builtIn.name}`, builtIn] as const))(
  "the static list says of %s what its definition says",
  async (_, { kind, name, description, load }) => {
    const { default: plugin } = await load();
    expect({ kind: plugin.kind, name: plugin.name, description: plugin.description }).toEqual({
      kind,
      name,
      description,
    });
  },
);

test("the version on the command line is that of the package", () => {
  const manifest: { version: string } = JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8"));
  expect(VERSION).toBe(manifest.version);
});
