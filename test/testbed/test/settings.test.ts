import { mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { layoutFrom } from "../src/layout.ts";
import { changedSettings, newSettings, parseSettings, readSettings, writeSettings } from "../src/settings.ts";
import { describeTestbed, shellExports, testbedEnvironment } from "../src/testbed.ts";

const before = { sysctls: {}, paths: [], chains: [] };
let folder = "";
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "testbed-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

test("every listener of every broker has a port of its own", async () => {
  const { ports } = await newSettings({ brokers: 3 }, before);
  const all = Object.values(ports);
  expect(all).toHaveLength(5 + 3 * 5);
  expect(new Set(all).size).toBe(all.length);
});

test("what is not named stays as it was, ports and tokens too", async () => {
  const first = await newSettings({ secure: true }, before);
  const second = await changedSettings(first, { brokers: 3 });
  expect(second).toMatchObject({ secure: true, brokers: 3, tokens: first.tokens, ports: first.ports });
  expect(await changedSettings(second, {})).toEqual(second);
});

test("the state file comes back as it was written, and only root may read its tokens", async () => {
  const layout = layoutFrom({ TRAWLER_TESTBED: folder });
  expect(readSettings(layout)).toBeUndefined();
  const settings = await newSettings({}, before);
  writeSettings(layout, settings);
  expect(readSettings(layout)).toEqual(settings);
  expect(statSync(layout.stateFile).mode & 0o777).toBe(0o600);
});

test("a state file of another version is refused with the way out", () => {
  expect(() => parseSettings('{"version":0}')).toThrow("testbed -- down");
});

test("a testbed without Kafka and Docker names neither", async () => {
  const settings = await newSettings({ brokers: 0 }, before);
  const testbed = describeTestbed(layoutFrom({}), settings);
  expect(testbed.kafka).toBeUndefined();
  expect(testbed.docker).toBeUndefined();
  expect(Object.keys(testbedEnvironment(testbed))).not.toContain("KAFKA_BROKERS");
});

test("the secure profile has no read-only address", async () => {
  const open = describeTestbed(layoutFrom({}), await newSettings({}, before));
  const secure = describeTestbed(layoutFrom({}), await newSettings({ secure: true }, before));
  expect(open.kubernetes?.kubeletReadOnlyUrl).toMatch(/^http:/);
  expect(secure.kubernetes?.kubeletReadOnlyUrl).toBeUndefined();
});

test("socket paths are short enough for the kernel", () => {
  const { containerdSocket, dockerSocket } = layoutFrom({});
  for (const path of [containerdSocket, dockerSocket]) expect(path.length).toBeLessThan(108);
});

test("shell exports survive quotes", () => {
  expect(shellExports({ A: "it's" })).toBe("export A='it'\\''s'\n");
});
