import { type ApiClient, ApiError, type ApiRequest } from "@trawler/kube";
import { expect, test } from "vitest";
import { BUILT_IN_KINDS, formatRules, kindSpec, missingRights, rightsFor } from "../src/index.ts";

/** Answers access reviews: what is not in `allowed` is refused. */
function client(allowed: (group: string, resource: string, verb: string) => boolean | number): ApiClient {
  const refuse = (): never => {
    throw new Error("not used");
  };
  return {
    target: { server: new URL("http://127.0.0.1"), origin: "test", credentials: refuse },
    get: async ({ body }: ApiRequest) => {
      const { group, resource, verb } = JSON.parse(body ?? "").spec.resourceAttributes;
      const answer = allowed(group, resource, verb);
      if (typeof answer === "number") throw new ApiError(answer, null, "no reviews here", null);
      return { status: { allowed: answer } };
    },
    clockSkew: () => null,
    call: refuse,
    stream: refuse,
    [Symbol.dispose]: () => {},
  };
}

const { signal } = new AbortController();
const kinds = [...BUILT_IN_KINDS, kindSpec({ apiVersion: "example.com/v1", resource: "widgets", kind: "Widget" })];

test("B53: what the role lacks is named by verb and resource, with the rules to add", async () => {
  const api = client((_, resource, verb) => resource !== "widgets" && !(resource === "jobs" && verb === "watch"));
  const missing = await missingRights(api, rightsFor(kinds), signal);
  expect(missing).toEqual([
    { group: "batch", resource: "jobs", verb: "watch" },
    { group: "example.com", resource: "widgets", verb: "list" },
    { group: "example.com", resource: "widgets", verb: "watch" },
  ]);
  expect(formatRules(missing)).toEqual([
    '- { apiGroups: ["batch"], resources: [jobs], verbs: [watch] }',
    '- { apiGroups: ["example.com"], resources: [widgets], verbs: [list, watch] }',
  ]);
});

test("B53: nothing but list and watch is ever needed", () => {
  expect(new Set(rightsFor(kinds).map(({ verb }) => verb))).toEqual(new Set(["list", "watch"]));
});

test("a server without access reviews is no reason to complain", async () => {
  expect(
    await missingRights(
      client(() => 403),
      rightsFor(kinds),
      signal,
    ),
  ).toEqual([]);
  await expect(
    missingRights(
      client(() => 500),
      rightsFor(kinds),
      signal,
    ),
  ).rejects.toMatchObject({ status: 500 });
});
