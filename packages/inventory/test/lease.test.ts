import { type ApiClient, ApiError, type ApiRequest } from "@trawler/kube";
import type { Logger } from "@trawler/plugin-api";
import { describe, expect, test } from "vitest";
import { leadByLease } from "../src/index.ts";
import { until } from "./collector-harness.ts";

const quiet: Logger = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };

interface Spec {
  holderIdentity: string;
  leaseDurationSeconds: number;
  leaseTransitions: number;
  renewTime: string;
}

/** One Lease, as the API server guards it: a write with an old version is a conflict. */
class Server {
  lease: { metadata: { resourceVersion: string }; spec: Spec } | null = null;
  away = false;
  #version = 0;

  client(): ApiClient {
    const refuse = (): never => {
      throw new Error("not used");
    };
    return {
      target: { server: new URL("http://127.0.0.1"), origin: "test", credentials: refuse },
      get: async (request) => this.#answer(request),
      clockSkew: () => null,
      call: refuse,
      stream: refuse,
      [Symbol.dispose]: () => {},
    };
  }

  #answer({ method = "GET", body }: ApiRequest): unknown {
    if (this.away) throw new ApiError(503, null, "away", null);
    if (method === "GET") {
      if (this.lease === null) throw new ApiError(404, "NotFound", "no lease", null);
      return structuredClone(this.lease);
    }
    const sent = JSON.parse(body ?? "{}") as { metadata: { resourceVersion?: string }; spec: Spec };
    if (sent.metadata.resourceVersion !== this.lease?.metadata.resourceVersion) {
      throw new ApiError(409, "Conflict", "conflict", null);
    }
    this.#version += 1;
    this.lease = { metadata: { resourceVersion: String(this.#version) }, spec: sent.spec };
    return structuredClone(this.lease);
  }
}

interface Replica {
  readonly tokens: number[];
  leading: boolean;
  /** Sees another one lead. */
  standing: boolean;
  stop(): Promise<void>;
}

/** A replica whose clock runs a hundred times as fast, so that a Lease of seconds ends at once. */
function replica(server: Server, identity: string): Replica {
  const stopping = new AbortController();
  const one: Replica = { tokens: [], leading: false, standing: false, stop: async () => {} };
  const begun = performance.now();
  const clock = { now: () => Date.now(), monotonic: () => (performance.now() - begun) / 10 };
  const ended = leadByLease(
    {
      client: server.client(),
      clock,
      log: quiet,
      namespace: "trawler",
      name: "trawler-inventory",
      identity,
      duration: 5_000,
      standing: (by) => {
        one.standing = by;
      },
      sleep: (milliseconds, signal) =>
        new Promise((resolve) => {
          const timer = setTimeout(resolve, milliseconds / 100);
          signal.addEventListener("abort", () => {
            clearTimeout(timer);
            resolve();
          });
        }),
    },
    async (token, signal) => {
      one.tokens.push(token);
      one.leading = true;
      await new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve()));
      one.leading = false;
    },
    stopping.signal,
  );
  one.stop = async () => {
    stopping.abort();
    await ended;
  };
  return one;
}

describe("B38: one leader by Lease", () => {
  test("the first leads, the second stands by, and takes over with a higher token when it is given back", async () => {
    const server = new Server();
    const a = replica(server, "a");
    await until("a", () => a.leading);
    const b = replica(server, "b");
    await until("b's standing by", () => b.standing);
    expect(a.standing).toBe(false);
    server.away = true;
    await until("b's not knowing", () => !b.standing);
    server.away = false;
    await until("b's standing by again", () => b.standing);
    await a.stop();
    await until("b", () => b.leading);
    expect(b.standing).toBe(false);
    expect(b.tokens[0]).toBeGreaterThan(a.tokens[0] ?? Number.POSITIVE_INFINITY);
    await b.stop();
    expect(server.lease?.spec.holderIdentity).toBe("");
  });

  test("a holder that does not renew has lost after the Lease's duration, whatever its clock says", async () => {
    const server = new Server();
    server.lease = {
      metadata: { resourceVersion: "0" },
      // Its clock is a century ahead.
      spec: {
        holderIdentity: "dead",
        leaseDurationSeconds: 5,
        leaseTransitions: 7,
        renewTime: "2126-01-01T00:00:00.000000Z",
      },
    };
    const b = replica(server, "b");
    await until("b", () => b.leading);
    expect(b.tokens).toEqual([8]);
    await b.stop();
  });

  test("a leader that cannot renew stops by itself, and leads again later", async () => {
    const server = new Server();
    const a = replica(server, "a");
    await until("a", () => a.leading);
    server.away = true;
    await until("a's end", () => !a.leading);
    server.away = false;
    await until("a again", () => a.leading);
    expect(a.tokens).toHaveLength(2);
    await a.stop();
  });
});
