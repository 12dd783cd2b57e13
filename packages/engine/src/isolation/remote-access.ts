import type { Access, Capability, MetaAccess } from "@trawler/plugin-api";
import type { FromThread, ToThread } from "./protocol.ts";

type Answer = Extract<ToThread, { readonly type: "answer" | "refusal" }>;

/** Requests of all calls of this thread have one row of numbers. */
let lastRequest = 0;

/**
 * The thread's side of a call's access: each method becomes a request that the host answers with plain data. An error
 * keeps its code.
 */
export class RemoteAccess {
  readonly #call: number;
  readonly #send: (message: FromThread) => void;
  readonly #pending: Map<number, PromiseWithResolvers<unknown>> = new Map();

  constructor(call: number, send: (message: FromThread) => void) {
    this.#call = call;
    this.#send = send;
  }

  access(needs: readonly Capability[], meta: MetaAccess | null): Partial<Access> {
    const access: { -readonly [C in Capability]?: unknown } = {};
    for (const need of needs) {
      if (need === "meta") access.meta = meta;
      else if (need !== "net") access[need] = this.#capability(need);
    }
    return Object.freeze(access) as Partial<Access>;
  }

  /** Takes an answer of the host; one of another call is none of ours. */
  settle(answer: Answer): void {
    const pending = this.#pending.get(answer.request);
    if (pending === undefined) return;
    this.#pending.delete(answer.request);
    if (answer.type === "answer") pending.resolve(answer.value);
    else pending.reject(Object.assign(new Error(answer.error.message), { code: answer.error.code }));
  }

  #capability(capability: "fs" | "proc" | "cgroup"): object {
    return new Proxy(Object.freeze(Object.create(null)), {
      get: (_, method) => {
        // A capability is no promise, whoever awaits it.
        if (typeof method !== "string" || method === "then") return undefined;
        if (method === "walk") return (...given: unknown[]) => this.#walk(capability, given);
        return (...given: unknown[]) => this.#method(capability, method, given);
      },
    });
  }

  #method(capability: "fs" | "proc" | "cgroup", method: string, given: readonly unknown[]): Promise<unknown> {
    const { parameters, options } = split(given);
    return this.#request((request) => ({
      type: "request",
      request,
      call: this.#call,
      capability,
      method,
      parameters,
      options,
    }));
  }

  async *#walk(capability: "fs" | "proc" | "cgroup", given: readonly unknown[]): AsyncGenerator<unknown> {
    const of = await this.#method(capability, "walk", given);
    if (typeof of !== "number") return;
    const next = (over: boolean): Promise<unknown> =>
      this.#request((request) => ({ type: "walk", request, call: this.#call, of, over }));
    let whole = false;
    try {
      for (;;) {
        const batch = await next(false);
        whole = batch === null;
        if (whole) return;
        yield batch;
      }
    } finally {
      if (!whole) await next(true);
    }
  }

  #request(message: (request: number) => FromThread): Promise<unknown> {
    lastRequest += 1;
    const pending = Promise.withResolvers<unknown>();
    this.#pending.set(lastRequest, pending);
    this.#send(message(lastRequest));
    return pending.promise;
  }
}

/** Options stand last and hold a signal, which can't cross: the host puts the call's own in its place. */
function split(given: readonly unknown[]): {
  readonly parameters: readonly unknown[];
  readonly options: Readonly<Record<string, unknown>>;
} {
  const last = given.at(-1);
  if (typeof last !== "object" || last === null) {
    return { parameters: given.filter((value) => value !== undefined), options: {} };
  }
  const { signal: _, ...options } = last as Readonly<Record<string, unknown>>;
  return { parameters: given.slice(0, -1), options };
}
