import { createHash, createHmac } from "node:crypto";

export interface SignedRequest {
  readonly method: string;
  /** As it was sent, without a query. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  readonly body: Uint8Array;
}

const sha256 = (data: Uint8Array | string): string => createHash("sha256").update(data).digest("hex");
const hmac = (key: Uint8Array | string, data: string): Uint8Array => createHmac("sha256", key).update(data).digest();

/**
 * The signature that a request should carry, computed from what arrived by the steps that AWS documents for Signature
 * Version 4, without the library that signs. Null where the request says nothing of its signature.
 */
export function expectedSignature({ method, path, headers, body }: SignedRequest, secret: string): string | null {
  const authorization = String(headers["authorization"]);
  const [, scope, names] = /Credential=[^/]+\/([^,]+),\s*SignedHeaders=([^,]+),/.exec(authorization) ?? [];
  if (scope === undefined || names === undefined) return null;
  const signed = names.split(";").map((name) => `${name}:${String(headers[name]).trim().replaceAll(/\s+/g, " ")}\n`);
  const encoded = path
    .split("/")
    .map((part) =>
      encodeURIComponent(decodeURIComponent(part)).replaceAll(
        /[!'()*]/g,
        (c) => `%${c.charCodeAt(0).toString(16).toUpperCase()}`,
      ),
    )
    .join("/");
  const canonical = [method, encoded, "", signed.join(""), names, sha256(body)].join("\n");
  const [date = "", region = "", service = "", end = ""] = scope.split("/");
  const text = ["AWS4-HMAC-SHA256", String(headers["x-amz-date"]), scope, sha256(canonical)].join("\n");
  const key = hmac(hmac(hmac(hmac(`AWS4${secret}`, date), region), service), end);
  return Buffer.from(hmac(key, text)).toString("hex");
}

export const signatureOf = ({ headers }: Pick<SignedRequest, "headers">): string | null =>
  /Signature=([0-9a-f]{64})$/.exec(String(headers["authorization"]))?.[1] ?? null;
