import { describe, expect, test } from "vitest";
import { container, exited, IDS, join, runtime, sandbox, seen, T1 } from "./join-fixtures.ts";

const down = sandbox({ state: "notready", pid: null });
const policy = (restartPolicy: string, status: object = {}, metadata: object = {}) =>
  seen({ spec: { restartPolicy }, status, metadata });

describe("lifecycle", () => {
  test("nothing was made yet: waiting", () => {
    expect(join({ runtime: runtime({ containers: [] }), api: null, owner: null }).lifecycle).toBe("waiting");
    const created = container({ state: "created", startedAt: null, pid: null });
    const api = seen({ status: { phase: "Pending", containerStatuses: [] } });
    expect(join({ runtime: runtime({ containers: [created] }), api }).lifecycle).toBe("waiting");
  });

  test("declared only: waiting", () => {
    const api = seen({ status: { phase: "Pending", containerStatuses: [] } });
    expect(join({ runtime: null, api }).lifecycle).toBe("waiting");
  });

  test("an init container that runs is running", () => {
    const api = seen({ spec: { initContainers: [{ name: "setup" }] }, status: { phase: "Pending" } });
    const view = runtime({ containers: [container({ name: "setup" })] });
    expect(join({ runtime: view, api }).lifecycle).toBe("running");
  });

  test("between init container and app: still running", () => {
    const api = seen({
      spec: { initContainers: [{ name: "setup" }] },
      status: { phase: "Pending", containerStatuses: [] },
    });
    expect(join({ runtime: runtime({ containers: [exited({ name: "setup" })] }), api }).lifecycle).toBe("running");
  });

  test("between two restarts: still running", () => {
    const view = runtime({ containers: [exited({ exitCode: 1 })] });
    expect(join({ runtime: view }).lifecycle).toBe("running");
    expect(join({ runtime: view, api: null, owner: null }).lifecycle).toBe("running");
  });

  test("C42: while the sandbox is made anew: still running", () => {
    expect(join({ runtime: runtime({ sandbox: down, containers: [exited()] }) }).lifecycle).toBe("running");
  });

  test("C28: phase Succeeded ends it, before any deletion", () => {
    const api = policy("Never", { phase: "Succeeded" });
    expect(join({ runtime: runtime({ containers: [exited()] }), api }).lifecycle).toBe("ended");
  });

  test("a terminal phase while something runs: running", () => {
    expect(join({ api: policy("Never", { phase: "Failed" }) }).lifecycle).toBe("running");
  });

  test("restart policy Never with its sandbox down: ended, whatever the API still says", () => {
    const view = runtime({ sandbox: down, containers: [exited({ exitCode: 9 })] });
    expect(join({ runtime: view, api: policy("Never") }).lifecycle).toBe("ended");
  });

  test("restart policy OnFailure: a failure will run again, a success will not", () => {
    const api = policy("OnFailure");
    const at = (exitCode: number) =>
      join({ runtime: runtime({ sandbox: down, containers: [exited({ exitCode })] }), api });
    expect(at(1).lifecycle).toBe("running");
    expect(at(0).lifecycle).toBe("ended");
  });

  test("a deleted pod ends when its sandbox is down", () => {
    const api = policy("Always", {}, { deletionTimestamp: T1 });
    expect(join({ runtime: runtime({ containers: [exited()] }), api }).lifecycle).toBe("running");
    expect(join({ runtime: runtime({ sandbox: down, containers: [exited()] }), api }).lifecycle).toBe("ended");
    expect(join({ runtime: null, api: { ...seen(), deleted: true } }).lifecycle).toBe("ended");
  });

  test("C27: a pod that the API never showed ends with its sandbox", () => {
    const view = runtime({ sandbox: down, containers: [exited()] });
    expect(join({ runtime: view, api: null, owner: null }).lifecycle).toBe("ended");
    const gone = runtime({ sandbox: null, containers: [exited({ id: IDS.b })] });
    expect(join({ runtime: gone, api: null, owner: null }).lifecycle).toBe("ended");
  });

  test("an empty sandbox that is down is what is left of a pod, unless it is young or declared", () => {
    const at = (observedAt: string) => runtime({ sandbox: down, containers: [], observedAt });
    expect(join({ runtime: at("2026-11-30T21:05:00.000Z"), api: null, owner: null }).lifecycle).toBe("ended");
    expect(join({ runtime: at("2026-11-30T21:00:02.000Z"), api: null, owner: null }).lifecycle).toBe("waiting");
    const api = seen({ status: { phase: "Pending", containerStatuses: [] } });
    expect(join({ runtime: at("2026-11-30T21:05:00.000Z"), api }).lifecycle).toBe("waiting");
  });

  test("a paused container counts as running", () => {
    expect(join({ runtime: runtime({ containers: [container({ state: "paused" })] }) }).lifecycle).toBe("running");
  });
});
