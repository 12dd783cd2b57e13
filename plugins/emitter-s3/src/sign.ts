import aws4 from "aws4";
import type { Credentials } from "./credentials.ts";

export interface Unsigned {
  readonly method: string;
  readonly host: string;
  /** Encoded as it is sent. */
  readonly path: string;
  readonly region: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
}

/** The headers of a request with its signature (AWS Signature Version 4); `now` in milliseconds since the epoch. */
export function sign(
  { method, host, path, region, headers, body }: Unsigned,
  credentials: Credentials,
  now: number,
): Record<string, string> {
  const date = new Date(now).toISOString().replaceAll(/[-:]|\.\d{3}/g, "");
  const request = {
    service: "s3",
    method,
    host,
    path,
    region,
    headers: { ...headers, host, "x-amz-date": date, "content-length": String(body.length) },
    body: Buffer.from(body.buffer, body.byteOffset, body.byteLength),
  };
  const signed = aws4.sign(request, credentials).headers ?? {};
  return Object.fromEntries(Object.entries(signed).map(([name, value]) => [name.toLowerCase(), String(value)]));
}
