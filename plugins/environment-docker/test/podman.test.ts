import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { engineName } from "../src/client.ts";
import { factsOfEvent, readEvent } from "../src/event.ts";
import { readFacts } from "../src/facts.ts";
import { container } from "./fake-engine.ts";

const said = (name: string): string => readFileSync(new URL(`../testdata/podman-4.3/${name}`, import.meta.url), "utf8");

// What a real Podman said, in words of its own where it has them.
describe("parity 006: Podman answers as Docker does", () => {
  test("it is known by its version, and Docker by every other answer", () => {
    expect(engineName(JSON.parse(said("version.json")))).toBe("podman");
    expect(engineName({ Components: [{ Name: "Engine" }] })).toBe("docker");
    expect(engineName(null)).toBe("docker");
  });

  test("a container that has stopped has ended, with its exit code", () => {
    const read = readFacts(JSON.parse(said("stopped.json")));
    expect(read).toMatchObject({ name: "web", ended: true, pid: null, networkMode: "none" });
    expect(read?.state).toMatchObject({ status: "terminated", reason: "Error", exitCode: 3 });
    expect(read?.inspection?.commandLine).toEqual(["/bin/sh", "-c", "sleep 1; exit 3"]);
    expect(JSON.stringify(read)).not.toContain("s3cret");
  });

  test.each([
    ["configured", "waiting"],
    ["initialized", "waiting"],
    ["stopping", "running"],
  ])("%s is %s", (word, status) => {
    const state = { Status: word, Pid: 7 };
    expect(readFacts(container("a".repeat(64), "web", { State: state }))?.state.status).toBe(status);
  });

  test("its events have Docker's names", () => {
    const events = said("events.jsonl")
      .trim()
      .split("\n")
      .map((line) => readEvent(JSON.parse(line)));
    expect(events.map((event) => event?.action)).toEqual(["create", "start", "die", "destroy"]);
    const [, , died] = events;
    if (died == null) throw new Error("no event");
    expect(factsOfEvent(died)).toMatchObject({ name: "web", ended: true, state: { exitCode: 3 } });
  });
});
