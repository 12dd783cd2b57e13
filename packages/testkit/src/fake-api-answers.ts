import type { IncomingMessage, ServerResponse } from "node:http";
import type { FakeAnswer, FakeObject, FakeRequest, FakeStream } from "./fake-api-types.ts";

/** A Status object as the API server sends them. */
export function fakeStatus(code: number, reason: string, message: string): FakeObject & { readonly code: number } {
  const metadata = { uid: "", name: "" };
  return { kind: "Status", apiVersion: "v1", metadata, status: "Failure", message, reason, code };
}

/** An object of nothing but a version, as a bookmark carries it. */
export function bookmarkOf(version: bigint, annotations?: Readonly<Record<string, string>>): object {
  const metadata = { resourceVersion: String(version), creationTimestamp: null, ...(annotations && { annotations }) };
  return { kind: "Pod", apiVersion: "v1", metadata, spec: { containers: null }, status: {} };
}

export function parseRequest(incoming: IncomingMessage, collections: ReadonlyMap<string, unknown>): FakeRequest {
  const url = new URL(incoming.url ?? "/", "http://fake");
  const collection = collections.has(url.pathname) || url.pathname.endsWith("/pods");
  const verb = url.searchParams.get("watch") === "true" ? "watch" : collection ? "list" : "get";
  return { verb, path: url.pathname, query: url.searchParams, headers: incoming.headers };
}

export function misbehave(fault: FakeAnswer, incoming: IncomingMessage, response: ServerResponse): void {
  if ("reset" in fault) incoming.socket.resetAndDestroy();
  else if ("stream" in fault) {
    fault.stream(streamOf(response));
  } else if ("status" in fault) {
    for (const [name, value] of Object.entries(fault.headers ?? {})) response.setHeader(name, value);
    json(response, fault.status, fault.body ?? fakeStatus(fault.status, "", ""));
  }
}

export function streamOf(response: ServerResponse): FakeStream {
  response.setHeader("content-type", "application/json");
  response.flushHeaders();
  const write = (bytes: Uint8Array | string): void => {
    // Its end was asked for, and the connection is not closed yet.
    if (!response.writableEnded) response.write(bytes);
  };
  return {
    event: (type, object) => write(`${JSON.stringify({ type, object })}\n`),
    bytes: write,
    end: () => void response.end(),
    reset: () => void response.socket?.resetAndDestroy(),
  };
}

export function json(response: ServerResponse, code: number, body: unknown): void {
  response.writeHead(code, { "content-type": "application/json" });
  response.end(typeof body === "string" ? body : JSON.stringify(body));
}

export function withVersion(object: FakeObject, version: bigint): FakeObject {
  return { ...object, metadata: { ...object.metadata, resourceVersion: String(version) } };
}

/** Equality selectors only. */
export function selected(object: FakeObject, query: URLSearchParams): boolean {
  const fields = (query.get("fieldSelector") ?? "").split(",").filter((term) => term !== "");
  const labels = (query.get("labelSelector") ?? "").split(",").filter((term) => term !== "");
  const holds = (root: unknown, path: readonly string[], wanted: string): boolean => {
    let value: unknown = root;
    for (const part of path) value = typeof value === "object" && value !== null ? Reflect.get(value, part) : undefined;
    return value === wanted;
  };
  const term = (text: string): readonly [string, string] => {
    const [name = "", value = ""] = text.split("=");
    return [name, value];
  };
  return (
    fields.every((text) => holds(object, term(text)[0].split("."), term(text)[1])) &&
    labels.every((text) => holds(object.metadata["labels"], [term(text)[0]], term(text)[1]))
  );
}
