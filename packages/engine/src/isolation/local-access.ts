import { type Access, errorCode, errorMessage, TrawlerError } from "@trawler/plugin-api";
import type { FromThread, ToThread } from "./protocol.ts";

type Request = Extract<FromThread, { readonly type: "request" }>;
type Walk = Extract<FromThread, { readonly type: "walk" }>;
type Answer = Extract<ToThread, { readonly type: "answer" | "refusal" }>;

/** Walks that one call may have open at the same time. */
const MAX_WALKS = 16;

/** The host's side of a call's access: does what the thread asks for with what the crawler was given, and nothing else. */
export class LocalAccess {
  readonly #access: Partial<Access>;
  readonly #signal: AbortSignal;
  readonly #walks: Map<number, AsyncIterator<unknown>> = new Map();

  constructor(access: Partial<Access>, signal: AbortSignal) {
    this.#access = access;
    this.#signal = signal;
  }

  async answer(message: Request | Walk): Promise<Answer> {
    const { request } = message;
    try {
      const value = message.type === "walk" ? await this.#next(message) : await this.#read(message);
      return { type: "answer", request, value };
    } catch (error) {
      const code = errorCode(error) ?? "TRAWLER_PLUGIN_FAILED";
      return { type: "refusal", request, error: { code, message: errorMessage(error) } };
    }
  }

  /** Ends what the call left open. */
  close(): void {
    for (const walk of this.#walks.values()) walk.return?.().catch(() => undefined);
    this.#walks.clear();
  }

  async #read({ request, capability, method, parameters, options }: Request): Promise<unknown> {
    const given: unknown = this.#access[capability];
    const found = isRecord(given) && /^[a-z][A-Za-z]*$/.test(method) && method !== "constructor" ? given[method] : null;
    if (typeof found !== "function") {
      throw new TrawlerError("TRAWLER_PLUGIN_INVALID", `there is no ${capability}.${method}, or it was not declared`);
    }
    const result: unknown = Reflect.apply(found, given, [...parameters, { ...options, signal: this.#signal }]);
    if (!isAsyncIterable(result)) return await result;
    if (this.#walks.size >= MAX_WALKS) throw new TrawlerError("TRAWLER_LIMIT", `more than ${MAX_WALKS} walks at once`);
    this.#walks.set(request, result[Symbol.asyncIterator]());
    return request;
  }

  async #next({ of, over }: Walk): Promise<unknown> {
    const walk = this.#walks.get(of);
    if (walk === undefined) return null;
    const { done, value } = over ? { done: true, value: await walk.return?.() } : await walk.next();
    if (done !== true) return value;
    this.#walks.delete(of);
    return null;
  }
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null;
}

function isAsyncIterable(value: unknown): value is AsyncIterable<unknown> {
  return isRecord(value) && Symbol.asyncIterator in value;
}
